/**
 * Where a model is asked and with which key, by the settings. An address in a file or a variable belongs to the vendor
 * it was set with: it gets no other vendor's requests, and so no other vendor's key.
 */

import { Failure } from "../base/failure.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../providers/models/model-ref.ts";
import { CATALOG, type Catalog } from "../providers/vendors/catalog.ts";
import { isCloud } from "../providers/vendors/vendor.ts";
import { isWire, WIRES } from "../providers/wires.ts";
import type { Config } from "./config/config.ts";
import { toCatalog } from "./config/config-vendors.ts";

export interface ModelAddress {
  readonly url: string | undefined;
  readonly apiKeyName: string | undefined;
  /** Why the setting `url` is not used for this model; undefined if it is, or is not set. */
  readonly note: string | undefined;
}

/** `ref` is the model with its vendor. Rejects an address that would get a vendor's key by accident. */
export function addressOfModel(config: Config, ref: string): ModelAddress {
  const catalog = catalogOf(config);
  const { vendor } = parseModelRef(ref, "custom", catalog);
  const url = config.get("url");
  if (url !== undefined && isFlag(config, "url")) checkSaid(config, ref, vendor);
  const isMeant = url !== undefined && isBoundTo(config, "url", vendor);
  const note =
    url === undefined || isMeant
      ? undefined
      : `\`url\` (${config.sourceOf("url")}) is for ${boundVendor(config, "url") ?? "another vendor"}, so ${ref} is asked at its own address`;
  return {
    url: isMeant ? url : undefined,
    apiKeyName: isKeyFor(config, vendor, isMeant) ? config.get("api_key_name") : undefined,
    note,
  };
}

/** Our vendors, and those of the settings. */
export function catalogOf(config: Pick<Config, "get">): Catalog {
  return toCatalog(config.get("vendors"));
}

/**
 * The model with its vendor. A name without one belongs to the server that was given, if that speaks a wire of many
 * vendors; otherwise to the vendor of the provider that was named.
 */
export function nameModel(
  { model, provider, url }: NamedModel,
  catalog: Catalog = CATALOG,
): string | undefined {
  if (model === undefined && provider === undefined) return undefined;
  if (model !== undefined && namesVendor(model, catalog)) return model;
  if (provider === EMBEDDED) return EMBEDDED;
  const isOpen = provider === undefined || provider.startsWith("openai-");
  if (url && isOpen) return model && `custom/${model}`;
  if (provider === undefined || !isWire(provider)) return model;
  const { vendor } = WIRES[provider];
  return model === undefined ? vendor : `${vendor}/${model}`;
}

export interface NamedModel {
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly url: string | undefined;
}

function namesVendor(model: string, catalog: Catalog): boolean {
  const isFile = model.startsWith(`${GGUF}:`);
  return model.includes("/") || isFile || model === EMBEDDED || catalog.has(model);
}

type Bound = "url" | "api_key_name";

function isFlag(config: Config, name: Bound | "model"): boolean {
  return config.sourceOf(name).startsWith("--");
}

/** A flag is for this one run. */
function isBoundTo(config: Config, name: Bound, vendor: string): boolean {
  if (isFlag(config, name)) return true;
  const bound = boundVendor(config, name);
  return bound === undefined || bound === vendor;
}

/** A key that a layer names alone is for vendors' own addresses: another layer's `url` is not one of them. */
function isKeyFor(config: Config, vendor: string, hasUrl: boolean): boolean {
  const isAlone = !isFlag(config, "api_key_name") && !boundVendor(config, "api_key_name");
  return isBoundTo(config, "api_key_name", vendor) && !(isAlone && hasUrl);
}

/** The vendor that the layer of this setting names; undefined for a key that it names alone. */
function boundVendor(config: Config, name: Bound): string | undefined {
  const url = config.beside(name, "url");
  const model = config.beside(name, "model");
  const catalog = catalogOf(config);
  const named = nameModel({ model, provider: config.beside(name, "provider"), url }, catalog);
  if (named === undefined) return url === undefined ? undefined : "custom";
  return parseModelRef(named, url === undefined ? undefined : "custom", catalog).vendor;
}

/** An address for this run needs a model with it, if the vendor's key would be sent there. */
function checkSaid(config: Config, ref: string, vendor: string): void {
  const catalog = catalogOf(config);
  if (isFlag(config, "model") || !catalog.has(vendor)) return;
  const { keyVariable, auth } = catalog.of(vendor);
  const hasKey = keyVariable !== undefined || isCloud(auth);
  if (!hasKey || vendor === "custom" || isFlag(config, "api_key_name")) return;
  const message = `\`--url\` would get the key of \`${vendor}\`. Name the model too: \`-m ${ref}\` if that is meant, else \`-m custom/MODEL\`.`;
  throw new Failure("invalid_request", message, { param: "url" });
}
