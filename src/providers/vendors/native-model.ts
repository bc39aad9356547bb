/**
 * The work that a model's vendor does itself for a request: which of its tools it runs, and which items of a
 * conversation it wants back unchanged. Pure.
 */

import { asJsonObject, isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { AskedTools, Native } from "../../protocol/native.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { NativeRow } from "../wire.ts";
import { isListed, isOthers, nativeRowOf, runKindOf } from "./native-tools.ts";

export interface NativeModel extends Native {
  /** True if the client makes the calls, and not the vendor. */
  isClients(tool: Tool): boolean;
  /** The types that it runs, for messages. */
  readonly types: readonly string[];
}

/** Undefined for a vendor that runs no tools, or none over this API. */
export function createNativeModel(
  vendor: string,
  wire: string,
  model: string,
): NativeModel | undefined {
  const row = nativeRowOf(vendor, wire);
  if (!row) return undefined;
  return {
    runs: (tool, asked) => runs(row, model, tool, asked),
    lost: (tool) => lostOf(row, tool),
    knows: (type) => row.mark === undefined && isListed(type, row.items),
    owns: (item) => owns(row, item),
    isPriced: ({ type }) => !isListed(ownTypeOf(row, type), row.unpriced),
    readsStores: ({ type }) => isListed(type, row.stores ?? []),
    isClients: ({ type }) => isListed(type, row.clients),
    types: [...Object.keys(row.runs), ...row.types].filter((type) => !row.clients.includes(type)),
  };
}

function runs(row: NativeRow, model: string, tool: Tool, asked: AskedTools): boolean {
  if (!couldRun(row, model, tool, asked.include)) return false;
  const kind = runKindOf(tool.type);
  const mixing = kind && row.runs[kind]?.mixing;
  if (!mixing || mixing.test(model)) return true;
  return asked.tools.every((other) => couldRun(row, model, other, asked.include));
}

/** True if the vendor would run the tool without other tools beside it. */
function couldRun(row: NativeRow, model: string, tool: Tool, include: readonly string[]): boolean {
  const kind = runKindOf(tool.type);
  const run = kind && row.runs[kind];
  if (!kind || !run) return isListed(tool.type, row.types);
  if (run.models && !run.models.test(model)) return false;
  const wanted = include.filter((name) => name.startsWith(`${kind}_call.`));
  if (!wanted.every((name) => run.shows.includes(name))) return false;
  const known = [...run.takes, ...(run.hints ?? [])];
  return Object.entries(tool).every(
    ([name, value]) => known.includes(name) || isUsual(name, value),
  );
}

/** True for a value without effect, because it is the default of the vendor's own tool. */
function isUsual(name: string, value: unknown): boolean {
  if (name === "type" || value === null || value === undefined) return true;
  if (name === "external_web_access") return value === true;
  // Every vendor runs programs in a container. Only one whose files are kept here matters.
  return name === "container" && isJsonObject(value) && isAlone(value);
}

function isAlone({ type, ...rest }: JsonObject): boolean {
  return type === "auto" && Object.values(rest).every((value) => value === null);
}

function lostOf(row: NativeRow, tool: Tool): readonly string[] {
  const kind = runKindOf(tool.type);
  const hints = (kind && row.runs[kind]?.hints) ?? [];
  const given = asJsonObject(tool);
  return hints.filter((name) => given[name] !== null && given[name] !== undefined);
}

/**
 * True if the item is the vendor's own. An item that names a file in the vendor's cloud never is: it would
 * be read with the rights of this server's operator.
 */
function owns(row: NativeRow, item: Item): boolean {
  if (isOthers(item, row.mark)) return false;
  const isOwn =
    isListed(item.type, row.items) ||
    (row.mark !== undefined && isJsonObject(markOf(item, row.mark)));
  if (!isOwn || row.mark === undefined) return isOwn;
  return !FILES.test(JSON.stringify(item));
}

const FILES = /"(fileData|file_data|fileUri|file_uri|s3Location)"/;

function markOf(item: Item, mark: string): unknown {
  return asJsonObject(item)[mark];
}

function ownTypeOf({ runs }: NativeRow, type: string): string {
  const kind = runKindOf(type);
  return (kind && runs[kind]?.as) ?? type;
}
