/**
 * Turns the blocks of hosted tools' calls into items: searches, pages, programs, calls of MCP servers and searches for
 * tools. Blocks of the vendor are kept in the item, because the vendor wants them back; blocks of this server are
 * known by their ids.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { BLOCKS } from "../../protocol/messages-blocks.ts";

/** Stands in place of data that only the vendor can read. */
export const OWN_INDEX = "offshoot";

/** The prefixes of the id of a block that this server made; the id of its item follows. */
export const CALL_PREFIX = "srvtoolu_";
export const MCP_PREFIX = "mcptoolu_";
const OWN_CALL = /^(?:srvtoolu_((?:ws|ci|tsc)_.+)|mcptoolu_(mcp_.+))$/;

interface HostedReader {
  /** The items that are complete by now; undefined for a block of another kind. */
  read(block: JsonObject): Item[] | undefined;
}

interface HostedReaderParts {
  /** True if the model's server uses this API itself: it gets the blocks of its own calls unchanged. */
  readonly isVendor: boolean;
  readonly onReference: (tool: string) => void;
}

/** Pairs calls with their results. A call without a result is left out: no model could use it. */
export function createHostedReader({ isVendor, onReference }: HostedReaderParts): HostedReader {
  const waiting = new Map<string, JsonObject>();
  return {
    read(block) {
      const { id, tool_use_id } = block;
      if (typeof id === "string" && isKnown(block, isVendor)) {
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
  bash_code_execution: (call, result) => [toCode(inputOf(call), result)],
  text_editor_code_execution: (call, result) => [toCode(inputOf(call), result)],
  tool_search_tool_regex: () => [],
  tool_search_tool_bm25: () => [],
};

/** The vendor gets the forms of its own pages and programs back unchanged; other models read them as ours. */
function isKnown({ type, id, name }: JsonObject, isVendor: boolean): boolean {
  const isOwn = OWN_CALL.test(textOf(id));
  if (type === "mcp_tool_use") return isOwn || !isVendor;
  if (type !== "server_tool_use") return false;
  if (name === "web_search") return true;
  return (isOwn || !isVendor) && Object.hasOwn(READERS, textOf(name));
}

function toItems(call: JsonObject, result: JsonObject): Item[] {
  const [, hosted, mcp] = OWN_CALL.exec(textOf(call["id"])) ?? [];
  const own = hosted ?? mcp;
  const isMcp = call["type"] === "mcp_tool_use";
  const made = isMcp
    ? [toMcp(call, result)]
    : (READERS[textOf(call["name"])]?.(call, result) ?? []);
  // The vendor gets back what it did itself; it could not read what this server did.
  const kept = own === undefined ? { [BLOCKS]: { blocks: [call, result] } } : {};
  const id = own ?? textOf(call["id"]);
  const status = isError(result) ? "failed" : "completed";
  return made.map((item) => ({ id, status, ...item, ...kept }) as unknown as Item);
}

function isError({ content, is_error }: JsonObject): boolean {
  if (is_error === true) return true;
  return isJsonObject(content) && textOf(content["type"]).endsWith("_error");
}

function toMcp(call: JsonObject, { content, is_error }: JsonObject): JsonObject {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const text = textOf(content) || blocks.map((block) => textOf(block["text"])).join("\n");
  return {
    type: "mcp_call",
    server_label: textOf(call["server_name"]),
    name: textOf(call["name"]),
    arguments: JSON.stringify(inputOf(call)),
    ...(is_error === true
      ? {
          output: null,
          error: { type: "mcp_tool_execution_error", content: [{ type: "text", text }] },
        }
      : { output: text, error: null }),
  };
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
  // The vendor gives a PDF as bytes, which are not text.
  const isText = isJsonObject(source) && source["type"] === "text";
  const text = isText ? textOf(source["data"]) : "";
  return { action: { type: "open_page", url }, results: [{ url, text }] };
}

function toCode(input: JsonObject, { content }: JsonObject): JsonObject {
  const given = isJsonObject(content) ? content : {};
  const shown = ["stdout", "stderr", "content", "error_code"].map((name) => textOf(given[name]));
  const logs = shown.filter(Boolean).join("\n");
  const outputs = logs === "" ? [] : [{ type: "logs", logs }];
  const command = ["command", "path"].map((name) => textOf(input[name])).filter(Boolean);
  const code = textOf(input["code"]) || command.join(" ");
  return { type: "code_interpreter_call", code, container_id: "", outputs };
}

/**
 * Names of tools that a search of ours has found: the request contains them, and they are offered from here on.
 */
function findReferences({ content }: JsonObject): string[] {
  const listed = isJsonObject(content) ? content["tool_references"] : undefined;
  const references = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  return references.flatMap(({ tool_name }) => (typeof tool_name === "string" ? [tool_name] : []));
}

/**
 * The part of a result of ours besides its address, readable only for us, as the vendor's is for the vendor.
 */
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
