/**
 * What tools of the server did, as blocks of the Messages API and as items: searches, pages, programs and searches
 * for tools. Blocks that the vendor made keep their words in the item, because the vendor wants them back; those that
 * this server made are known by their ids.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { BLOCKS } from "../../protocol/messages-blocks.ts";

/** Stands where the vendor has what only it can read. */
export const OWN_INDEX = "offshoot";

/** The id of a block that this server made is this and the id of its item. */
export const CALL_PREFIX = "srvtoolu_";
const OWN_CALL = /^srvtoolu_((?:ws|ci|tsc)_.+)$/;

interface HostedReader {
  /** The items that are known by now; undefined for a block of another kind. */
  read(block: JsonObject): Item[] | undefined;
}

/** Pairs calls with their results. A call whose result does not come is left out: nobody could read it. */
export function createHostedReader(onReference: (tool: string) => void): HostedReader {
  const waiting = new Map<string, JsonObject>();
  return {
    read(block) {
      const { type, id, tool_use_id } = block;
      if (type === "server_tool_use" && typeof id === "string" && isKnown(block)) {
        waiting.set(id, block);
        return [];
      }
      const call = typeof tool_use_id === "string" ? waiting.get(tool_use_id) : undefined;
      if (!call) return undefined;
      waiting.delete(String(tool_use_id));
      for (const name of findReferences(block)) onReference(name);
      return toItems(call, block);
    },
  };
}

const READERS: Readonly<Record<string, (call: JsonObject, result: JsonObject) => JsonObject[]>> = {
  web_search: (call, result) => [{ type: "web_search_call", ...toSearch(inputOf(call), result) }],
  web_fetch: (call, result) => [{ type: "web_search_call", ...toFetch(inputOf(call), result) }],
  code_execution: (call, result) => [toCode(inputOf(call), result)],
  tool_search_tool_regex: () => [],
  tool_search_tool_bm25: () => [],
};

/** The vendor's programs have forms of their own; those are handed back as they came. */
function isKnown({ id, name }: JsonObject): boolean {
  const isOwn = OWN_CALL.test(textOf(id));
  if (name === "web_search") return true;
  return isOwn && Object.hasOwn(READERS, textOf(name));
}

function toItems(call: JsonObject, result: JsonObject): Item[] {
  const [, own] = OWN_CALL.exec(textOf(call["id"])) ?? [];
  const made = READERS[textOf(call["name"])]?.(call, result) ?? [];
  // What the vendor did it is given back; what was done here it could not read.
  const kept = own === undefined ? { [BLOCKS]: { blocks: [call, result] } } : {};
  const id = own ?? textOf(call["id"]);
  const status = isError(result) ? "failed" : "completed";
  return made.map((item) => ({ id, status, ...item, ...kept }) as unknown as Item);
}

function isError({ content }: JsonObject): boolean {
  return isJsonObject(content) && textOf(content["type"]).endsWith("_error");
}

function toSearch(input: JsonObject, { content }: JsonObject): JsonObject {
  const query = textOf(input["query"]);
  const found = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const results = found.map(({ url = "", title = "", encrypted_content }) => {
    return { url, title, ...readOwn(encrypted_content) };
  });
  const sources = results.map(({ url }) => ({ type: "url", url }));
  return { action: { type: "search", query, queries: [query], sources }, results };
}

function toFetch(input: JsonObject, { content }: JsonObject): JsonObject {
  const url = textOf(input["url"]);
  const document = isJsonObject(content) ? content["content"] : undefined;
  const source = isJsonObject(document) ? document["source"] : undefined;
  const text = isJsonObject(source) ? textOf(source["data"]) : "";
  return { action: { type: "open_page", url }, results: [{ url, text }] };
}

function toCode(input: JsonObject, { content }: JsonObject): JsonObject {
  const { stdout, stderr } = isJsonObject(content) ? content : {};
  const logs = [stdout, stderr].map(textOf).filter(Boolean).join("\n");
  const outputs = logs === "" ? [] : [{ type: "logs", logs }];
  return { type: "code_interpreter_call", code: textOf(input["code"]), container_id: "", outputs };
}

/** Tools that a search of ours has found, by name: the request brings them, and they are offered from here on. */
function findReferences({ content }: JsonObject): string[] {
  const listed = isJsonObject(content) ? content["tool_references"] : undefined;
  const references = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  return references.flatMap(({ tool_name }) => (typeof tool_name === "string" ? [tool_name] : []));
}

/** What a result of ours says beside its address, readable for us alone as the vendor's is for the vendor. */
export function toOwnContent(said: {
  snippet?: string | undefined;
  text?: string | undefined;
}): string {
  return `${OWN_INDEX}.${Buffer.from(JSON.stringify(said)).toString("base64url")}`;
}

function readOwn(content: Json | undefined): JsonObject {
  const [mark, sealed = ""] = textOf(content).split(".", 2);
  if (mark !== OWN_INDEX) return {};
  const said = tryParseJson(Buffer.from(sealed, "base64url").toString("utf8"));
  if (!isJsonObject(said)) return {};
  const entries = ["snippet", "text"].map((name) => [name, said[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => typeof value === "string"));
}

function inputOf({ input }: JsonObject): JsonObject {
  return isJsonObject(input) ? input : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
