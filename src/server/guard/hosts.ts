/**
 * The host names that the server answers to. A page may point its own name at this machine (DNS rebinding) and would
 * then talk to the server as if it came from there. Only the `Host` header shows that.
 */

import { isIP } from "node:net";
import { Failure } from "../../base/failure.ts";
import { toGlobPattern } from "../../base/glob.ts";
import { clip } from "../../base/text.ts";

export interface HostSettings {
  /** The address on which the server listens. */
  readonly host: string;
  /** Further names, as globs: `*.example.com`; `*` for any, if a proxy in front checks them. */
  readonly hosts: readonly string[];
}

/** Rejects with `forbidden` a host that is not the server's. */
export type CheckHost = (host: string | undefined) => void;

export function createHostCheck({ host, hosts }: HostSettings): CheckHost {
  const names = toGlobPattern([...ALWAYS, host, ...hosts].map((name) => normalise(name)));
  // If the server listens on all addresses, it does not know them. A literal address needs no DNS, so it cannot be
  // pointed at another machine.
  const takesAddresses = EVERYWHERE.has(host);
  return (given) => {
    const name = nameOf(given ?? "");
    if (name !== undefined) {
      if (names.test(name)) return;
      if (takesAddresses && isIP(name) !== 0) return;
    }
    const shown = clip(given ?? "", 80);
    const message = `The server does not answer to the host \`${shown}\`; \`server.hosts\` adds names.`;
    throw new Failure("forbidden", message);
  };
}

/**
 * With two `Host` headers, a proxy in front may have obeyed the other one. The list has names and values in turn.
 */
export function checkOneHost(rawHeaders: readonly string[]): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length < 2) return;
  throw new Failure("invalid_request", "The request has more than one `Host` header.");
}

const ALWAYS = ["localhost", "127.0.0.1", "::1"];
const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::", ""]);

/** The name in a `Host` header, without the port; undefined if the header has no valid name. */
export function nameOf(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1] === undefined ? undefined : normalise(match[1]);
}

function normalise(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
