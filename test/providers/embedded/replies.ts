/** Short constructors of requests to the embedded model, and its events with their order checked. */

import assert from "node:assert/strict";
import { matchesGlob } from "../../../src/base/glob.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import type { ContentPart } from "../../../src/protocol/content.ts";
import type { FunctionCall, Item } from "../../../src/protocol/items.ts";
import type { ModelEnd, ModelEvent } from "../../../src/protocol/model-events.ts";
import type { FunctionTool, Tool } from "../../../src/protocol/tools.ts";
import { createEmbeddedProvider } from "../../../src/providers/embedded/provider.ts";
import { type ModelRequest, TEXT_FORMAT } from "../../../src/providers/provider.ts";
import { patience } from "../../patience.ts";

export const READ = tool("read", { path: { type: "string" } });
export const FIND = tool("bash_find", { path: { type: "string" } });

export function tool(
  name: string,
  properties: JsonObject,
  required = Object.keys(properties),
): FunctionTool {
  const parameters = { type: "object", properties, required };
  return { type: "function", name, description: `The ${name} tool.`, parameters, strict: false };
}

export function user(text: string): Item {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

export function assistant(text: string): Item {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

export function ask(
  request: string | readonly Item[],
  more: Partial<ModelRequest> = {},
): ModelRequest {
  const tools: readonly Tool[] = [READ, FIND];
  return {
    model: "offline",
    instructions: undefined,
    items: typeof request === "string" ? [user(request)] : request,
    tools,
    tool_choice: "auto",
    parallel_tool_calls: undefined,
    temperature: undefined,
    top_p: undefined,
    max_output_tokens: undefined,
    reasoning: { effort: undefined, summary: undefined },
    format: TEXT_FORMAT,
    previous: undefined,
    ...more,
  };
}

export interface Heard {
  readonly text: string;
  /** Why there is no answer; empty if there is one. */
  readonly refusal: string;
  readonly reasoning: string;
  readonly calls: readonly FunctionCall[];
  readonly items: readonly Item[];
  readonly end: ModelEnd;
  readonly batches: number;
}

/**
 * Runs one turn. Ids repeat from turn to turn, like those of some servers. Fails if the events are not in
 * the order that `model-events.ts` promises.
 */
export async function listen(request: ModelRequest): Promise<Heard> {
  let count = 0;
  const provider = createEmbeddedProvider({ makeId: (prefix) => `${prefix}_${++count}` });
  const signal = patience();
  const batches: (readonly ModelEvent[])[] = [];
  for await (const batch of provider.stream(request, { signal })) batches.push(batch);
  return { ...checkOrder(batches.flat()), batches: batches.length };
}

/** A tool in a test: arguments in, output out. */
export type Play = (input: Readonly<Record<string, Json | undefined>>) => string;

/** Runs a whole conversation: `plays` answer calls until the model answers in words. */
export async function run(
  request: ModelRequest,
  plays: Readonly<Record<string, Play>>,
): Promise<Heard & { readonly turns: readonly (readonly FunctionCall[])[] }> {
  const turns: (readonly FunctionCall[])[] = [];
  let items = request.items;
  for (let turn = 0; turn < 60; turn++) {
    const heard = await listen({ ...request, items });
    if (heard.calls.length === 0) return { ...heard, turns };
    turns.push(heard.calls);
    const outputs = heard.calls.map((call): Item => {
      const play = plays[call.name] ?? assert.fail(`${call.name} is not played`);
      const output = play(JSON.parse(call.arguments));
      return { type: "function_call_output", call_id: call.call_id, output };
    });
    items = [...items, ...heard.items, ...outputs];
  }
  return assert.fail("the model goes on and on");
}

/** Plays `read` and `bash_find` with files in memory. */
export function playFiles(files: Readonly<Record<string, string>>): Record<string, Play> {
  return {
    read: ({ path = "", offset = 0, limit = 0 }) => {
      const text = files[String(path)];
      if (text === undefined) return `Error: File not found: ${path}`;
      if (text === "") return "(empty file)";
      const lines = text.split("\n").map((line, at) => `${String(at + 1).padStart(4)} | ${line}`);
      const start = Number(offset);
      return lines.slice(start, Number(limit) > 0 ? start + Number(limit) : undefined).join("\n");
    },
    bash_find: ({ path = ".", name = "" }) => {
      const isNamed = (file: string): boolean =>
        String(name).includes("*")
          ? matchesGlob(file.slice(file.lastIndexOf("/") + 1), String(name))
          : file.includes(String(name));
      const results = Object.keys(files).filter(
        (file) => (path === "." || file.startsWith(`${path}/`)) && isNamed(file),
      );
      const total = results.length;
      return JSON.stringify({
        results,
        total,
        offset: 0,
        limit: 0,
        has_more: false,
        returned: total,
      });
    },
  };
}

export function argumentsOf(call: FunctionCall | undefined): JsonObject {
  return JSON.parse(call?.arguments ?? "null") as JsonObject;
}

function checkOrder(events: readonly ModelEvent[]): Omit<Heard, "batches"> {
  const [start] = events;
  const end = events.at(-1);
  assert.equal(start?.type, "start");
  assert.ok(end?.type === "end", "the last event is the end");
  const open = new Map<number, string>();
  const items: Item[] = [];
  for (const event of events.slice(1, -1)) {
    assert.ok(event.type !== "start" && event.type !== "end", "one start and one end");
    if (event.type === "item_start") {
      assert.equal(event.index, items.length + open.size, "indices count up");
      assert.deepEqual(bodyOf(event.item), "", "an item opens empty");
      open.set(event.index, "");
    } else if (event.type === "item_end") {
      assert.equal(bodyOf(event.item), open.get(event.index), "the deltas are the item");
      open.delete(event.index);
      items.push(event.item);
    } else if ("delta" in event) {
      const said = open.get(event.index) ?? assert.fail("a delta belongs to an open item");
      assert.notEqual(event.delta, "");
      open.set(event.index, said + event.delta);
    }
  }
  assert.equal(open.size, 0, "every item is closed");
  const calls = items.filter((item) => item.type === "function_call");
  const texts = (type: string): string =>
    items
      .filter((item) => item.type === type)
      .map(bodyOf)
      .join("");
  const isRefusal = end.reason === "refusal";
  const said = texts("message");
  const text = isRefusal ? "" : said;
  return { text, refusal: isRefusal ? said : "", reasoning: texts("reasoning"), calls, items, end };
}

function bodyOf(item: Item): string {
  if (item.type === "function_call") return item.arguments;
  if (item.type === "reasoning") return item.summary.map(({ text }) => text).join("");
  assert.ok(item.type === "message" && typeof item.content !== "string");
  return item.content.map(textOf).join("");
}

function textOf(part: ContentPart): string {
  if (part.type === "refusal") return part.refusal;
  return part.type === "output_text" ? part.text : "";
}
