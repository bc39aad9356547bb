/**
 * Reads one setting's value, from text (a flag, a variable) or from YAML, and checks it against its row.
 *
 * `where` begins the error message: `--max-turns`, or a file with line and column.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../base/json.ts";
import { looksSecret } from "../../base/secret-shapes.ts";
import { clip } from "../../base/text.ts";
import { BACKED_KINDS } from "../../protocol/hosted-kinds/backed-kinds.ts";
import { CATALOG, type Catalog } from "../../providers/vendors/catalog.ts";
import { checkOwnTools } from "../../tools/custom/own-tools.ts";
import { checkHooks } from "../../tools/hooks/hook.ts";
import { parseMcpServers } from "../../tools/mcp/server.ts";
import { checkModelNames } from "../served-models/model-names.ts";
import { isStoreAddress } from "./address-text.ts";
import { checkAliases } from "./aliases.ts";
import { type ConfigName, rowOf } from "./config-keys.ts";
import { checkModels, checkOptions } from "./config-models.ts";
import { type ConfigRow, type NumberRange, PATH_PREFIX } from "./config-row.ts";
import { checkVendors } from "./config-vendors.ts";
import { checkWebhooks } from "./config-webhooks.ts";

/**
 * Reads what a person typed in a shell: lists with commas, `[]` for an empty one, maps as JSON. `catalog` has the
 * vendors that the value may name; ours alone when left out.
 */
export function parseConfigText(
  name: ConfigName,
  text: string,
  where: string,
  catalog: Catalog = CATALOG,
): unknown {
  const row = rowOf(name);
  if (row.type === "list") return text.trim() === "[]" ? [] : toRowList(row, text, where);
  if (row.type === "map") return checkConfigValue(name, parseJson(text, where), where, catalog);
  return checkConfigValue(name, fromText(row, text.trim(), text), where);
}

/** Checks a value from a file. */
export function checkConfigValue(
  name: ConfigName,
  value: unknown,
  where: string,
  catalog: Catalog = CATALOG,
): unknown {
  const row = rowOf(name);
  if (row.type === "list" && typeof value === "string") return toRowList(row, value, where);
  if (row.type === "map" && isJsonObject(value)) return checkMap(name, value, where, catalog);
  if (fits(row, value)) return value;
  if (row.type === "string" && typeof value === "string" && value.trim() === "") {
    const use =
      name === "model"
        ? " Use VENDOR/MODEL, for example openai/gpt-5.1."
        : " Give a value, or leave it out.";
    throw new Failure("invalid_request", `${where} is empty.${use}`, { param: name });
  }
  const isSecret = isVariableName(row) || row.type === "record";
  const shown = isSecret ? "" : `, not \`${clip(toShown(value), 60)}\``;
  throw new Failure("invalid_request", `${where} must be ${describeRow(row)}${shown}.`, {
    param: name,
  });
}

function checkMap(name: ConfigName, map: JsonObject, where: string, catalog: Catalog): JsonObject {
  if (name === "models") return checkModels(map, where);
  if (name === "vendors") return checkVendors(map, where);
  if (name === "aliases") return checkAliases(map, where, catalog);
  if (name === "options") {
    checkOptions(where, map);
    return map;
  }
  if (name === "own_tools") return checkOwnTools(map, where);
  if (name === "hooks") return checkHooks(map, where);
  if (name === "server.models") return checkModelNames(map, where, catalog);
  if (name === "server.backing") return checkBacking(map, where);
  if (name === "server.webhooks") return checkWebhooks(map, where);
  parseMcpServers(map, where);
  return map;
}

/** Each value is `server/tool`, or a map that names the tool and its parameters. */
function checkBacking(map: JsonObject, where: string): JsonObject {
  for (const [kind, value] of Object.entries(map)) {
    if (!BACKED_KINDS.includes(kind)) {
      const known = BACKED_KINDS.join(", ");
      const message = `${where}: no MCP tool can replace \`${clip(kind, 60)}\`, only ${known}.`;
      throw new Failure("invalid_request", message, { param: "server.backing" });
    }
    const tool = isJsonObject(value) ? value["tool"] : value;
    if (typeof tool === "string" && /^[^/]+\/.+$/.test(tool)) continue;
    const message = `${where}: \`${clip(kind, 60)}\` must name a tool of an MCP server, as "server/tool".`;
    throw new Failure("invalid_request", message, { param: "server.backing" });
  }
  return map;
}

/** "a whole number from 1 to 1000", for messages and docs. */
export function describeRow(row: ConfigRow): string {
  switch (row.type) {
    case "string":
      if (row.form === "prefix") return "a path such as `/keep`, of letters, digits and `. _ ~ -`";
      if (!isVariableName(row)) return "text";
      return `the name of an environment variable, not a key${row.empty ? ", or empty for none" : ""}`;
    case "number":
      return `a number${describeRange(row)}`;
    case "integer":
      return `a whole number${describeRange(row)}`;
    case "boolean":
      return "`true` or `false`";
    case "record":
      return "`true`, `false`, a path, or `postgres://…` without its password";
    case "list":
      return "a list of names";
    case "enum":
      return `one of ${row.values.join(", ")}`;
    case "map":
      return "a map";
  }
}

/** An empty rule is a mistake: a variable that was not set, a name that was left out. */
function toRowList(row: ConfigRow, text: string, where: string): string[] {
  const words = toList(text);
  const isRules = row.type === "list" && row.form === "rules";
  // A comma at the end is common and accepted.
  if (isRules && (words.slice(0, -1).includes("") || text.trim() === "")) {
    throw new Failure(
      "invalid_request",
      `${where} has an empty rule. Leave it out, or name a tool.`,
    );
  }
  return words.filter((word) => word !== "");
}

/** Splits at commas, except inside the brackets of a rule. */
function toList(text: string): string[] {
  return text.split(/,(?![^()]*\))/).map((word) => word.trim());
}

const SWITCHES: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
};

/**
 * Converts a text to the type of its row. A text that cannot be converted stays text, so that the check can show it.
 */
function fromText({ type }: ConfigRow, trimmed: string, text: string): unknown {
  if (type === "boolean" || type === "record") {
    const word = trimmed.toLowerCase();
    return Object.hasOwn(SWITCHES, word) ? SWITCHES[word] : text;
  }
  if (type === "number" || type === "integer") {
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
  }
  return type === "enum" || trimmed === "" ? trimmed : text;
}

function fits(row: ConfigRow, value: unknown): boolean {
  switch (row.type) {
    case "string":
      if (typeof value !== "string") return false;
      if (value.trim() === "") return takesEmpty(row);
      if (row.form === "prefix") return PATH_PREFIX.test(value.trim());
      return !isVariableName(row) || (/^[A-Za-z_]\w*$/.test(value) && !looksSecret(value));
    case "number":
      return typeof value === "number" && Number.isFinite(value) && inRange(row, value);
    case "integer":
      return Number.isSafeInteger(value) && inRange(row, value as number);
    case "boolean":
      return typeof value === "boolean";
    case "record":
      return typeof value === "boolean" || (typeof value === "string" && isStoreAddress(value));
    case "list":
      return Array.isArray(value) && value.every((word) => typeof word === "string");
    case "enum":
      return typeof value === "string" && row.values.includes(value);
    case "map":
      return false;
  }
}

/** True if an empty text is a value; for other settings an empty variable is ignored. */
export function takesEmpty(row: ConfigRow): boolean {
  return row.type === "string" && row.empty === true;
}

function isVariableName(row: ConfigRow): boolean {
  return row.type === "string" && row.form === "variable";
}

function inRange({ min = -Infinity, max = Infinity }: NumberRange, value: number): boolean {
  return value >= min && value <= max;
}

function describeRange({ min, max }: NumberRange): string {
  if (min === undefined) return max === undefined ? "" : ` of ${max} or less`;
  return max === undefined ? ` of ${min} or more` : ` from ${min} to ${max}`;
}

function toShown(value: unknown): string {
  if (value === null) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}
