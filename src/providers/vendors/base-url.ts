/**
 * Finds the address of a vendor: the user's, otherwise the one in the variable of its row, otherwise the
 * row's own.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { WireName } from "../wire.ts";
import { CATALOG, type Catalog } from "./catalog.ts";
import type { Vendor } from "./vendor.ts";

export interface BaseUrlSources {
  /** The address from `--url` or the config, used unchanged. */
  readonly url: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The base URL without a slash at its end, so that a wire's path can be appended. */
export function baseUrlOf(
  name: string,
  { url, env }: BaseUrlSources,
  catalog: Catalog = CATALOG,
): string {
  const vendor = catalog.of(name);
  const variable = vendor.baseUrlVariable;
  if (url !== undefined) return parseBaseUrl(url, "--url").href;
  const override = variable === undefined ? undefined : env[variable];
  if (override && variable !== undefined) return fromVariable(vendor, override, variable);
  if (vendor.baseUrl !== "") return fillBaseUrl(name, vendor.baseUrl, env);
  const how = variable === undefined ? "with --url" : `with --url or in \`${variable}\``;
  throw new Failure("invalid_request", `\`${name}\` needs a base URL: give it ${how}.`, {
    param: "url",
  });
}

export interface MovedTo {
  readonly variable: string;
  readonly url: string;
}

/**
 * The address that a variable of the environment sets for a vendor; undefined if none does, or if it is not
 * a URL.
 */
export function movedTo(
  name: string,
  env: BaseUrlSources["env"],
  catalog: Catalog = CATALOG,
): MovedTo | undefined {
  const vendor = catalog.of(name);
  const variable = vendor.baseUrlVariable;
  const text = (variable !== undefined && env[variable]) || "";
  if (variable === undefined || !URL.canParse(withScheme(vendor, text))) return undefined;
  return { variable, url: fromVariable(vendor, text, variable) };
}

/** An address for display, without its name, password and query. */
export function toShownUrl(text: string): string {
  if (!URL.canParse(text)) return clip(text, 80);
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
}

/** The base URL for one of the vendor's wires, whichever of them the given address was written for. */
export function baseForWire(
  { wirePaths }: { readonly wirePaths?: Vendor["wirePaths"] | undefined },
  wire: WireName,
  baseUrl: string,
): string {
  if (!wirePaths) return baseUrl;
  const known = Object.values(wirePaths).find((path) => baseUrl.endsWith(path)) ?? "";
  return baseUrl.slice(0, baseUrl.length - known.length) + (wirePaths[wire] ?? "");
}

/** Fills in an account or a region, which is part of some addresses. Only valid characters are accepted. */
function fillBaseUrl(name: string, baseUrl: string, env: BaseUrlSources["env"]): string {
  return baseUrl.replace(/\{(\w+)\}/g, (_, variable: string) => {
    const value = env[variable]?.trim() ?? "";
    if (/^[\w.-]+$/.test(value)) return value;
    const what = value === "" ? "is not set" : "is not valid in an address";
    const message = `The address of \`${name}\` needs the variable \`${variable}\`, which ${what}.`;
    throw new Failure("invalid_request", message, { param: "url" });
  });
}

function fromVariable(vendor: Vendor, text: string, variable: string): string {
  const { baseUrl, basePath } = vendor;
  const { url, href } = parseBaseUrl(withScheme(vendor, text), variable);
  if (basePath === undefined) return href;
  if (!hasScheme(text) && url.port === "" && baseUrl !== "") url.port = new URL(baseUrl).port;
  // A path in the user's address is kept; a bare host gets the vendor's path.
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? basePath : path}${url.search}`;
}

/** Adds a missing scheme: `OLLAMA_HOST=0.0.0.0`, `box:11434`, `:8000`. A key is sent over TLS only. */
function withScheme({ local }: Vendor, text: string): string {
  return hasScheme(text) ? text : `${local ? "http" : "https"}://${toHost(text)}`;
}

function hasScheme(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Converts the address on which a server listens to one to connect to. */
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
    `${source}: \`${clip(text, 80)}\` is not an http or https URL. Write it like http://127.0.0.1:8000/v1.`,
    { param: "url" },
  );
}
