/** The files of nginx in the docs, for a small proxy that does the same. */

import assert from "node:assert/strict";

/** What a file of nginx says that the small proxy does. */
export interface Nginx {
  /** The paths that are passed on begin with it. */
  readonly location: string;
  /** Where they are passed to. */
  readonly target: URL;
  /** The name that clients ask; undefined if the file is a part that has none. */
  readonly host: string | undefined;
}

export function readNginx(text: string): Nginx {
  const directives = new Map(
    [...text.matchAll(/^ *([a-z_]+) +([^;{\n]+?) *(?:;|\{)/gm)]
      .map(([, name = "", value = ""]) => [name, value] as const)
      .filter(([name]) => name !== "proxy_set_header"),
  );
  const headers = new Map(
    [...text.matchAll(/^ *proxy_set_header (\S+) +(\S+);/gm)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  // The proxy passes these on, and adds nothing to paths.
  assert.equal(headers.get("Host"), "$host");
  assert.equal(headers.get("Upgrade"), "$http_upgrade");
  assert.equal(headers.get("Connection"), "$connection_upgrade");
  assert.equal(directives.get("proxy_buffering"), "off");
  const target = directives.get("proxy_pass") ?? assert.fail("no proxy_pass");
  assert.match(target, /^https?:\/\/127\.0\.0\.1:8484$/, "without a path, nginx changes none");
  return {
    location: directives.get("location") ?? assert.fail("no location"),
    target: new URL(target),
    host: directives.get("server_name"),
  };
}
