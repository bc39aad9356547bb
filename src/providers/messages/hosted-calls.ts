/**
 * Calls of Claude's own tools as items of the Responses API, for requests with `web_search` or
 * `code_interpreter`. A call and its result are one item. The blocks are in a field of the item, because
 * the API wants them back unchanged.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { BLOCKS } from "../../protocol/messages-blocks.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { Tool } from "../../protocol/tools.ts";
import { runKindOf } from "../vendors/native-tools.ts";
import type { RunKind } from "../wire.ts";
import type { OpenBlock } from "./open-blocks.ts";
import type { MessagesBlockDelta, ReadBlock } from "./schema.ts";

const KINDS: Readonly<Record<string, RunKind>> = {
  web_search: "web_search",
  code_execution: "code_interpreter",
  bash_code_execution: "code_interpreter",
  text_editor_code_execution: "code_interpreter",
};

/** The blocks of an item that was made from blocks; empty for others. */
export function blocksIn(item: JsonObject): readonly JsonObject[] {
  const own = item[BLOCKS];
  const blocks = isJsonObject(own) ? own["blocks"] : undefined;
  return Array.isArray(blocks) ? blocks.filter(isJsonObject) : [];
}

/** The index of a block's item in the answer, and an id for a block without one. */
export interface BlockPlace {
  readonly index: number;
  readonly id: string;
}

export class HostedCalls {
  readonly #asked: ReadonlySet<RunKind>;
  readonly #ids = new Set<string>();
  /** Calls without a result yet, by their ids. */
  readonly #waiting = new Map<string, HostedCall>();

  constructor(tools: readonly Tool[]) {
    this.#asked = new Set(tools.flatMap(({ type }) => runKindOf(type) ?? []));
  }

  /** Opens a block that belongs to a call of a requested tool; undefined for any other block. */
  open(block: ReadBlock, next: () => BlockPlace, out: ModelEvent[]): OpenBlock | undefined {
    const call = this.#waiting.get(textOf(block["tool_use_id"]));
    if (call) return { read() {}, close: (_, events) => this.#end(call, block, events) };
    const kind = KINDS[textOf(block["name"])];
    if (block.type !== "server_tool_use" || !kind || !this.#asked.has(kind)) return undefined;
    const opened = new HostedCall(kind, block, this.#withFreeId(block, next()));
    this.#waiting.set(opened.id, opened);
    out.push({ type: "item_start", index: opened.index, item: opened.toItem(), own: true });
    return opened;
  }

  /** Results are matched by id, so a missing or repeated id is replaced. */
  #withFreeId(block: ReadBlock, place: BlockPlace): BlockPlace {
    const own = textOf(block["id"]);
    const id = own !== "" && !this.#ids.has(own) ? own : place.id;
    this.#ids.add(id);
    return { ...place, id };
  }

  /** Ends calls whose results come with a later answer, or never. */
  endAll(out: ModelEvent[]): void {
    for (const call of [...this.#waiting.values()]) this.#end(call, undefined, out);
  }

  #end(call: HostedCall, result: ReadBlock | undefined, out: ModelEvent[]): void {
    this.#waiting.delete(call.id);
    out.push({ type: "item_end", index: call.index, item: call.toItem(result ?? null) });
  }
}

class HostedCall implements OpenBlock {
  readonly index: number;
  readonly id: string;
  #block: JsonObject;
  readonly #kind: RunKind;
  readonly #fragments: string[] = [];

  constructor(kind: RunKind, block: ReadBlock, { index, id }: BlockPlace) {
    this.#kind = kind;
    this.#block = { ...block, id };
    this.index = index;
    this.id = id;
  }

  read({ partial_json }: Pick<MessagesBlockDelta, "partial_json">): void {
    if (partial_json) this.#fragments.push(partial_json);
  }

  /** The item ends with the call's result. */
  close(): void {
    const input = tryParseJson(this.#fragments.join(""));
    if (input !== undefined) this.#block = { ...this.#block, input };
  }

  /** The item. Without an argument, as it starts; with null if no result came. */
  toItem(result?: JsonObject | null): Item {
    const { input: given } = this.#block;
    const input = isJsonObject(given) ? given : {};
    const isOpen = result === undefined;
    const status = isOpen ? "in_progress" : toStatus(result);
    const blocks = result ? [this.#block, result] : [this.#block];
    const own = isOpen ? {} : { [BLOCKS]: { blocks } };
    const { id } = this;
    const fields =
      this.#kind === "web_search" ? toSearch(input, result ?? {}) : toCode(input, result ?? {});
    return { type: `${this.#kind}_call`, id, status, ...fields, ...own } as unknown as Item;
  }
}

function toStatus(result: JsonObject | null): string {
  const content = result?.["content"];
  const isError = isJsonObject(content) && textOf(content["type"]).endsWith("_error");
  return isError ? "failed" : "completed";
}

function toSearch(input: JsonObject, { content }: JsonObject): JsonObject {
  const query = textOf(input["query"]);
  const found = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const sources = found.flatMap(({ url }) =>
    typeof url === "string" ? [{ type: "url", url }] : [],
  );
  return { action: { type: "search", query, queries: [query], sources } };
}

/** The output of a program. The vendor's container is not shown. */
function toCode(input: JsonObject, { content }: JsonObject): JsonObject {
  const { command, path, code } = input;
  const edited = [command, path].map(textOf).filter(Boolean).join(" ");
  const given = isJsonObject(content) ? content : {};
  const logs = ["stdout", "stderr", "content", "error_code"].map((name) => textOf(given[name]));
  const text = logs.filter(Boolean).join("\n");
  return {
    code: textOf(code) || edited,
    container_id: "",
    outputs: text === "" ? [] : [{ type: "logs", logs: text }],
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
