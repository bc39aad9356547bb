/** Where a vendor is reached: what the user gave, else the variable of its row, else the row itself. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { WireName } from "../wires.ts";
import { type VendorName, vendorOf } from "./catalog.ts";

export interface BaseUrlSources {
  /** As given with `--url` or in config; taken as it is. */
  readonly url: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Without a slash at its end, so that a wire's path can be appended. */
export function baseUrlOf(name: VendorName, { url, env }: BaseUrlSources): string {
  const vendor = vendorOf(name);
  const variable = vendor.baseUrlVariable;
  if (url !== undefined) return parseBaseUrl(url, "--url").href;
  const override = variable === undefined ? undefined : env[variable];
  if (override && variable !== undefined) return fromVariable(name, override, variable);
  if (vendor.baseUrl !== "") return vendor.baseUrl;
  const how = variable === undefined ? "with --url" : `with --url or in \`${variable}\``;
  throw new Failure("invalid_request", `\`${name}\` needs a base URL: give it ${how}.`, {
    param: "url",
  });
}

/** The base for one of the vendor's wires, whichever of them the given one was written for. */
export function baseForWire(name: VendorName, wire: WireName, baseUrl: string): string {
  const { wirePaths } = vendorOf(name);
  if (!wirePaths) return baseUrl;
  const known = Object.values(wirePaths).find((path) => baseUrl.endsWith(path)) ?? "";
  return baseUrl.slice(0, baseUrl.length - known.length) + (wirePaths[wire] ?? "");
}

function fromVariable(name: VendorName, text: string, variable: string): string {
  const { baseUrl, basePath } = vendorOf(name);
  // Only Ollama's own variable leaves the scheme out: `OLLAMA_HOST=0.0.0.0`, `box:11434`, `:8000`.
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const { url, href } = parseBaseUrl(hasScheme ? text : `http://${toHost(text)}`, variable);
  if (basePath === undefined) return href;
  if (!hasScheme && url.port === "" && baseUrl !== "") url.port = new URL(baseUrl).port;
  // A path of the user's own is meant; a bare host gets the vendor's.
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? basePath : path}`;
}

/** A server's listening address as one to connect to. */
function toHost(text: string): string {
  return text.startsWith(":") ? `127.0.0.1${text}` : text.replace(/^0\.0\.0\.0/, "127.0.0.1");
}

function parseBaseUrl(text: string, source: string): { url: URL; href: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === "http:" || url.protocol === "https:")) {
    return { url, href: url.href.replace(/\/+$/, "") };
  }
  throw new Failure(
    "invalid_request",
    `${source}: \`${clip(text, 80)}\` is no http or https URL. Write it like http://127.0.0.1:8000/v1.`,
    { param: "url" },
  );
}
