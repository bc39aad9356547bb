/**
 * Tools that Google ran itself, as items of the Responses API for requests with `web_search` or
 * `code_interpreter`, and their numbers of calls, for the bill.
 *
 * A search is emitted with its sources, after the text. Code and its result are two parts and one item. The
 * item keeps both parts, because the API wants them back.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { Tool } from "../../protocol/tools.ts";
import { runKindOf } from "../vendors/native-tools.ts";
import type { RunKind } from "../wire.ts";
import type { Sources } from "./citations.ts";
import type { GeminiAnswerPart } from "./schema.ts";

/** The field of an item with the parts that it was made from. */
export const PARTS = "google";

/** The parts of an item that was made from parts; empty for others. */
export function partsIn(item: JsonObject): readonly JsonObject[] {
  const own = item[PARTS];
  const parts = isJsonObject(own) ? own["parts"] : undefined;
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

interface OpenCode {
  readonly index: number;
  readonly id: string;
  readonly part: JsonObject;
}

export class HostedCalls {
  readonly #asked: ReadonlySet<RunKind>;
  readonly #queries = new Set<string>();
  readonly #pages = new Set<string>();
  #programs = 0;
  #maps = 0;
  #code: OpenCode | undefined;

  constructor(tools: readonly Tool[]) {
    this.#asked = new Set(tools.flatMap(({ type }) => runKindOf(type) ?? []));
  }

  /** How often each tool was called. A search is billed by the query, or by the prompt that searched. */
  counts(paysQueries: boolean): Record<string, number> {
    const searches = paysQueries ? this.#queries.size : Math.min(1, this.#queries.size);
    return {
      google_search: searches,
      code_execution: this.#programs,
      google_maps: Math.min(1, this.#maps),
    };
  }

  readSources({ groundingMetadata }: Sources): void {
    for (const query of groundingMetadata?.webSearchQueries ?? []) this.#queries.add(query);
    for (const { web, maps } of groundingMetadata?.groundingChunks ?? []) {
      if (web?.uri) this.#pages.add(web.uri);
      if (maps?.uri) this.#maps++;
    }
  }

  /** Reads a part. Returns true if it belongs to code of a requested tool, which becomes an item. */
  readPart(
    kind: string,
    part: GeminiAnswerPart,
    { next, out }: { next: () => { index: number; id: string }; out: ModelEvent[] },
  ): boolean {
    if (kind === "executableCode") this.#programs++;
    if (!this.#asked.has("code_interpreter")) return false;
    if (kind === "codeExecutionResult" && this.#code) {
      this.#endCode(part as JsonObject, out);
      return true;
    }
    if (kind !== "executableCode") return false;
    this.#endCode(undefined, out);
    const { index, id } = next();
    this.#code = { index, id, part: part as JsonObject };
    const item = toCode(id, [], "in_progress");
    out.push({ type: "item_start", index, item, own: true });
    return true;
  }

  end(next: () => { index: number; id: string }, out: ModelEvent[]): void {
    this.#endCode(undefined, out);
    if (!this.#asked.has("web_search") || this.#queries.size === 0) return;
    const { index, id } = next();
    const queries = [...this.#queries];
    const sources = [...this.#pages].map((url) => ({ type: "url", url }));
    const action = { type: "search", query: queries[0] ?? "", queries, sources };
    const call = { type: "web_search_call", id, action, [PARTS]: {} };
    const start = { ...call, status: "in_progress" } as unknown as Item;
    const item = { ...call, status: "completed" } as unknown as Item;
    out.push({ type: "item_start", index, item: start, own: true });
    out.push({ type: "item_end", index, item });
  }

  #endCode(result: JsonObject | undefined, out: ModelEvent[]): void {
    const open = this.#code;
    if (!open) return;
    this.#code = undefined;
    const parts = result ? [open.part, result] : [open.part];
    out.push({ type: "item_end", index: open.index, item: toCode(open.id, parts, "completed") });
  }
}

function toCode(id: string, parts: readonly JsonObject[], status: string): Item {
  const [program, result] = parts;
  const { code } = fieldsOf(program?.["executableCode"]);
  const { output, outcome } = fieldsOf(result?.["codeExecutionResult"]);
  const logs = typeof output === "string" ? output : "";
  const isFailed = typeof outcome === "string" && outcome !== "OUTCOME_OK";
  return {
    type: "code_interpreter_call",
    id,
    container_id: "",
    status: isFailed ? "failed" : status,
    code: typeof code === "string" ? code : "",
    outputs: logs === "" ? [] : [{ type: "logs", logs }],
    ...(parts.length > 0 && { [PARTS]: { parts } }),
  } as unknown as Item;
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
