/** Finds the proxy for a URL in the environment, by the variables that other programs use. */

import type { Environment } from "../../../base/environment.ts";
import { toHostName, toPort } from "./url-guard.ts";

export function findProxy(url: URL, env: Environment): string | undefined {
  const read = (name: string): string | undefined =>
    env[name] || env[name.toUpperCase()] || undefined;
  if (isExcepted(url, read("no_proxy") ?? "")) return undefined;
  return read(url.protocol === "https:" ? "https_proxy" : "http_proxy") ?? read("all_proxy");
}

/** The exceptions are `*`, or names that include the names below them, each with a port or without. */
function isExcepted(url: URL, list: string): boolean {
  const name = toHostName(url);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (port && Number(port) !== toPort(url)) return false;
      const end = host.replace(/^\*?\./, "").replace(/^\[|\]$/g, "");
      return name === end || name.endsWith(`.${end}`);
    });
}
