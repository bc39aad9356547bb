/**
 * The setting `vendors`: vendors of the user's own, each with an address, the variable of its key and the API it
 * speaks. They are used like ours: `-m gpu1/qwen3-8b`.
 *
 * A vendor of ours keeps its name: a file that could move it to another address could get its key.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { looksSecret } from "../../base/secret-shapes.ts";
import { clip } from "../../base/text.ts";
import { EMBEDDED, GGUF } from "../../providers/models/model-ref.ts";
import type { ModelOverride } from "../../providers/models/models.ts";
import {
  CATALOG,
  type Catalog,
  createCatalog,
  isVendor,
  VENDOR_NAMES,
  type VendorName,
  vendorOf,
} from "../../providers/vendors/catalog.ts";
import type { Auth, Vendor } from "../../providers/vendors/vendor.ts";
import type { WireName } from "../../providers/wire.ts";
import { isWire, WIRES } from "../../providers/wires.ts";
import {
  checkHeaders,
  checkModelRow,
  checkName,
  checkOptions,
  toModelOverrides,
} from "./config-models.ts";

/** How a key may be sent, in the order that messages list. */
const AUTHS: readonly Auth[] = [
  ...(["bearer", "api-key", "x-api-key", "x-goog-api-key"] as const),
  ...(["azure", "aws", "google", "none"] as const),
];

interface Field {
  /** For the docs. */
  readonly summary: string;
  readonly check: (at: string, value: Json | undefined) => void;
}

/** The fields of a user's vendor; `url` is required. */
export const VENDOR_FIELDS: Readonly<Record<string, Field>> = {
  url: {
    summary: "The base URL of its server. Required",
    check: checkUrl,
  },
  like: {
    summary:
      "The built-in vendor that it behaves like: the same APIs, header for the key, differences from the API, and abilities of models. Default: `custom`, or the vendor that made the API of `provider`",
    check: (at, value) => checkWord(at, value, VENDOR_NAMES),
  },
  provider: {
    summary:
      "The API of its server, any of the list above except `embedded`. Default: the first one of `like`",
    check: (at, value) => checkWord(at, value, Object.keys(WIRES)),
  },
  api_key_name: {
    summary:
      "The variable that holds its key. The key is read only from there; without it, no key is sent",
    check: checkVariable,
  },
  auth: {
    summary: `How the key is sent: ${AUTHS.join(", ")}. Default: as \`like\` does. With \`azure\`, \`aws\` or \`google\` and no \`api_key_name\`, requests are signed with the credentials of this machine`,
    check: (at, value) => checkWord(at, value, AUTHS),
  },
  headers: {
    summary: "Headers of each request; `$NAME` stands for the value of that variable",
    check: checkHeaders,
  },
  options: {
    summary: "Fields that are laid over the body of each request",
    check: checkOptions,
  },
  models: {
    summary:
      "Its models by name, each with the fields of `models` in [config.md](config.md#models): sizes, prices, abilities. They are listed, and the first is the default. Without `models`, the list of the server (`GET /models`) is shown, where it has one in the form of OpenAI",
    check: checkOwnModels,
  },
};

/** Returns the map when every vendor of it is valid. */
export function checkVendors(vendors: JsonObject, where: string): JsonObject {
  for (const [name, row] of Object.entries(vendors)) checkVendor(where, name, row);
  return vendors;
}

/** Our vendors, and those of a map that `checkVendors` has accepted. */
export function toCatalog(vendors: JsonObject | undefined): Catalog {
  const rows = Object.entries(vendors ?? {}).filter(hasRow);
  if (rows.length === 0) return CATALOG;
  return createCatalog(Object.fromEntries(rows.map(([name, row]) => [name, toVendor(row)])));
}

/** The models of the vendors in the map. */
export function toVendorModels(vendors: JsonObject | undefined): ModelOverride[] {
  return Object.entries(vendors ?? {})
    .filter(hasRow)
    .flatMap(([vendor, row]) => {
      const models = Object.entries(mapOf(row["models"]));
      return toModelOverrides(
        Object.fromEntries(models.map(([name, facts]) => [`${vendor}/${name}`, mapOf(facts)])),
      );
    });
}

function checkVendor(where: string, name: string, row: Json | undefined): void {
  const at = `${where}: \`${clip(name, 60)}\``;
  if (isVendor(name)) throw invalid(`${at} is the name of a built-in vendor. ${renameHint(name)}`);
  if (name === EMBEDDED || name === GGUF || !/^[a-z0-9][\w.-]*$/i.test(name)) {
    throw invalid(
      `${at} cannot be a vendor's name. Use letters, digits, \`-\`, \`_\` and \`.\`, as in \`gpu1\`.`,
    );
  }
  const known = Object.keys(VENDOR_FIELDS);
  if (!isJsonObject(row)) throw invalid(`${at} must be a map with some of: ${known.join(", ")}.`);
  for (const [field, value] of Object.entries(row)) {
    checkName(at, field, known);
    VENDOR_FIELDS[field]?.check(`${at}: \`${field}\``, value);
  }
  if (row["url"] === undefined) throw invalid(`${at} needs \`url\`, the base URL of its server.`);
  checkSpoken(at, row);
}

/** A vendor with `like` can use the APIs of that vendor only. */
function checkSpoken(at: string, row: JsonObject): void {
  const { like, provider } = namesIn(row);
  if (like === undefined || provider === undefined) return;
  const { wire, alternatives = [] } = vendorOf(like);
  const spoken = [wire, ...alternatives];
  if (spoken.includes(provider)) return;
  const known = spoken.join(", ");
  throw invalid(`${at}: \`${like}\` does not speak \`${provider}\`. It speaks: ${known}.`);
}

function renameHint(name: VendorName): string {
  const { baseUrlVariable } = vendorOf(name);
  const other =
    baseUrlVariable === undefined ? "" : `, or to move \`${name}\` set \`${baseUrlVariable}\``;
  return `Choose another name, with \`like: ${name}\` if it is a second one${other}.`;
}

function checkUrl(at: string, value: Json | undefined): void {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return;
  throw invalid(`${at} must be an http or https URL, as in http://127.0.0.1:8000/v1.`);
}

/** The message does not show the value: it may be a key. */
function checkVariable(at: string, value: Json | undefined): void {
  if (typeof value === "string" && /^[A-Za-z_]\w*$/.test(value) && !looksSecret(value)) return;
  throw invalid(`${at} must be the name of an environment variable, not a key.`);
}

function checkWord(at: string, value: Json | undefined, known: readonly string[]): void {
  if (typeof value !== "string") throw invalid(`${at} must be one of: ${known.join(", ")}.`);
  checkName(at, value, known);
}

function checkOwnModels(at: string, value: Json | undefined): void {
  if (!isJsonObject(value)) throw invalid(`${at} must be a map by the names of its models.`);
  for (const [name, row] of Object.entries(value)) {
    const where = `${at}: \`${clip(name, 60)}\``;
    if (!/^\S+$/.test(name)) throw invalid(`${where} cannot be the name of a model.`);
    // A name without a value is a model without facts.
    if (row !== null) checkModelRow(where, row);
  }
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "vendors" });
}

interface Names {
  readonly like: VendorName | undefined;
  readonly provider: WireName | undefined;
}

function namesIn(row: JsonObject): Names {
  const { like, provider } = row;
  return {
    like: typeof like === "string" && isVendor(like) ? like : undefined,
    provider: typeof provider === "string" && isWire(provider) ? provider : undefined,
  };
}

/** The row of our vendor that it is like, with its own address, key and other fields. */
function toVendor(row: JsonObject): Vendor {
  const names = namesIn(row);
  const base = vendorOf(names.like ?? usualBase(names.provider));
  const wire = names.provider ?? base.wire;
  const spoken = [base.wire, ...(base.alternatives ?? [])];
  const models = Object.keys(mapOf(row["models"])).filter((name) => !name.endsWith("*"));
  return {
    wire,
    alternatives: spoken.filter((other) => other !== wire),
    baseUrl: toBase(textOf(row["url"]) ?? ""),
    ...(base.wirePaths ? { wirePaths: base.wirePaths } : {}),
    keyVariable: textOf(row["api_key_name"]),
    auth: AUTHS.find((auth) => auth === row["auth"]) ?? base.auth,
    local: true,
    own: true,
    ...(names.like ? { like: names.like } : {}),
    defaultModel: models[0],
    quirks: base.quirks,
    ...(base.headers ? { headers: base.headers } : {}),
    fields: {
      options: { ...base.fields?.options, ...mapOf(row["options"]) },
      headers: textsOf(row["headers"]),
    },
    models,
    summary: "of the settings",
  };
}

/** The vendor that is meant if only an API is named: the maker of the API. Undefined for APIs that many vendors speak. */
function usualBase(provider: WireName | undefined): VendorName {
  if (provider === undefined || provider.startsWith("openai-")) return "custom";
  const { vendor } = WIRES[provider];
  return isVendor(vendor) ? vendor : "custom";
}

function toBase(url: string): string {
  return new URL(url).href.replace(/\/+$/, "");
}

type Row = [string, JsonObject];

function hasRow(entry: [string, Json | undefined]): entry is Row {
  return isJsonObject(entry[1]);
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function textsOf(value: Json | undefined): Record<string, string> {
  const texts = Object.entries(mapOf(value)).flatMap(([name, text]): [string, string][] =>
    typeof text === "string" ? [[name, text]] : [],
  );
  return Object.fromEntries(texts);
}
