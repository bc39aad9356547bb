/**
 * A log as a conversation: given, said, thought and called, turn by turn. Each block is a signal of its own: a piece
 * of a long answer changes one block, and costs only that block.
 */

import { type Signal, signal } from "@preact/signals";
import type { EventView } from "../../core/views.ts";
import { type Block, type CallBlock, NO_CALL, type Rest, toRest } from "./blocks.ts";
import { type Fields, outputOf, type Said, saidOf, textOf } from "./item-text.ts";

export interface Cell {
  readonly key: string;
  readonly block: Signal<Block>;
}

export interface ConversationStore {
  readonly cells: Signal<readonly Cell[]>;
  /** The number of the last event in it; -1 for none. */
  readonly seen: number;
  /** Events that are already in it are ignored. */
  add(events: readonly EventView[]): void;
}

export function createConversationStore(run: string): ConversationStore {
  const cells = signal<readonly Cell[]>([]);
  const known = new Map<string, Cell>();
  let added: Cell[] = [];
  let seen = -1;
  const writer: Writer = {
    run,
    calls: new Map(),
    put(key, block) {
      const cell = known.get(key);
      if (cell) cell.block.value = block;
      else {
        const made = { key, block: signal(block) };
        known.set(key, made);
        added.push(made);
      }
    },
    find: (key) => known.get(key)?.block.peek(),
    rename(from, to) {
      const cell = known.get(from);
      if (!cell) return;
      known.delete(from);
      known.set(to, cell);
    },
  };
  return {
    cells,
    get seen() {
      return seen;
    },
    add(events) {
      for (const view of events) {
        if (view.last_seq <= seen) continue;
        TAKES[view.type]?.(writer, view, view.event as Fields);
        seen = view.last_seq;
      }
      if (added.length === 0) return;
      cells.value = [...cells.peek(), ...added];
      added = [];
    },
  };
}

interface Writer {
  readonly run: string;
  /** The block of each call by its id; if several calls share an id, the last one. */
  readonly calls: Map<string, string>;
  put(key: string, block: Block): void;
  find(key: string): Block | undefined;
  /** A block that was open under one name is finished under another, in its place. */
  rename(from: string, to: string): void;
}

type Take = (writer: Writer, view: EventView, event: Fields) => void;

/** The events that make a conversation, without deltas: the finished items contain all of them. */
export const HISTORY_TYPES = [
  ...["run_start", "run_begin", "run_input", "item_start", "item_end", "turn_start", "turn_end"],
  ...["tool_start", "tool_question", "tool_decision", "tool_end", "child_start", "child_end"],
  ...["child_news", "client_input", "run_resume", "compaction", "notice", "run_end"],
].join(",");

const TAKES: Readonly<Record<string, Take>> = {
  run_start(writer, view, { settings, input }) {
    const instructions = textOf((settings as Fields | undefined)?.["instructions"]);
    if (instructions !== "") {
      const rest = toRest(writer.run, view, "/settings/instructions");
      const text = { text: instructions, pictures: [], rest };
      writer.put("system", { kind: "words", seq: view.seq, who: "system", ...text, isOpen: false });
    }
    putItems(writer, view, { items: input, path: "/input" });
  },
  run_input: (writer, view, { items }) => putItems(writer, view, { items, path: "/items" }),
  client_input: (writer, view, { items }) => putItems(writer, view, { items, path: "/items" }),
  text_delta: (writer, view, event) => grow(writer, view, event, "words"),
  refusal_delta: (writer, view, event) => grow(writer, view, event, "words"),
  reasoning_delta: (writer, view, event) => grow(writer, view, event, "thinking"),
  item_end(writer, view, { index, item }) {
    const key = `item-${view.seq}`;
    const kind = (item as Fields)["type"] === "reasoning" ? "thinking" : "words";
    writer.rename(openKey(kind, index), key);
    putItem(writer, view, { item: item as Fields, key, path: "/item" });
  },
  tool_start: (writer, { seq }, { call_id, name, arguments: given }) =>
    changeCall(writer, seq, textOf(call_id), { name: textOf(name), given: textOf(given), at: seq }),
  tool_question: (writer, { seq }, { call_id }) =>
    changeCall(writer, seq, textOf(call_id), { decision: "waits for approval" }),
  tool_decision(writer, { seq }, { call_id, verdict, by, rule, reason }) {
    const who = textOf(rule) || textOf(by);
    const decision = `${verdict === "deny" ? "denied" : "allowed"} by ${who}: ${textOf(reason)}`;
    changeCall(writer, seq, textOf(call_id), { decision, isDenied: verdict === "deny" });
  },
  tool_end(writer, view, { call_id, item, failed }) {
    const said = outputOf(item as Fields);
    const rest = toRest(writer.run, view, "/item");
    const change = { output: said.text, pictures: said.pictures, rest, failed: failed === true };
    changeCall(writer, view.seq, textOf(call_id), change);
  },
  turn_end(writer, { seq }, { turn, usage, cost_usd, by }) {
    const used = (usage ?? {}) as { input_tokens?: number; output_tokens?: number };
    const tokens = (used.input_tokens ?? 0) + (used.output_tokens ?? 0);
    const model = textOf((by as Fields | undefined)?.["model"]) || undefined;
    const about = { turn: Number(turn), tokens, usd: cost_usd as number | null, model };
    writer.put(`turn-${seq}`, { kind: "turn", seq, ...about });
  },
  child_start: (writer, { seq }, { child_id, label }) => {
    const child = { id: textOf(child_id), label: textOf(label), ending: undefined };
    writer.put(`child-${child.id}`, { kind: "child", seq, ...child });
  },
  child_end: (writer, { seq }, { child_id, label, ending }) => {
    const child = { id: textOf(child_id), label: textOf(label), ending: textOf(ending) };
    writer.put(`child-${child.id}`, { kind: "child", seq, ...child });
  },
  run_resume: (writer, { seq }) =>
    note(writer, seq, "warn", "Resumed after a crash. The unfinished turn above was repeated."),
  compaction: (writer, { seq }, { tokens_before, tokens_after }) =>
    note(writer, seq, "quiet", toCompacted(Number(tokens_before), Number(tokens_after))),
  notice: (writer, { seq }, { message }) => note(writer, seq, "quiet", textOf(message)),
  run_end(writer, { seq }, { ending, message }) {
    if (ending === "completed") return note(writer, seq, "good", "Completed.");
    note(writer, seq, "bad", `Ended: ${textOf(ending)}. ${textOf(message)}`);
  },
};

function toCompacted(before: number, after: number): string {
  const sizes = after > 0 ? ` from about ${before} to ${after} tokens` : "";
  return `The conversation was compacted${sizes} to fit the model's window.`;
}

type Tone = Extract<Block, { kind: "note" }>["tone"];

function note(writer: Writer, seq: number, tone: Tone, text: string): void {
  writer.put(`note-${seq}`, { kind: "note", seq, tone, text });
}

function openKey(kind: "words" | "thinking", index: unknown): string {
  return `open-${kind}-${String(index)}`;
}

function grow(writer: Writer, view: EventView, event: Fields, kind: "words" | "thinking"): void {
  const key = openKey(kind, event["index"]);
  const before = writer.find(key);
  const said = before?.kind === kind ? before.text : "";
  const text = { text: said + textOf(event["delta"]), pictures: [], rest: undefined };
  const at = { seq: view.seq, isOpen: true, ...text };
  if (kind === "words") writer.put(key, { kind, who: "assistant", ...at });
  else writer.put(key, { kind, ...at });
}

function changeCall(writer: Writer, seq: number, id: string, change: Partial<CallBlock>): void {
  const key = writer.calls.get(id) ?? `call-${id}`;
  const before = writer.find(key);
  const call: CallBlock = before?.kind === "call" ? before.call : { ...NO_CALL, id };
  writer.put(key, { kind: "call", seq: before?.seq ?? seq, call: { ...call, ...change } });
}

/**
 * Begins a call that the model has announced. Servers give one id to several calls: after one has ended, it is
 * another call.
 */
function beginCall(writer: Writer, seq: number, id: string, change: Partial<CallBlock>): void {
  const before = writer.find(writer.calls.get(id) ?? `call-${id}`);
  const isOver = before?.kind === "call" && before.call.output !== undefined;
  if (isOver) writer.calls.set(id, `call-${id}-${seq}`);
  changeCall(writer, seq, id, change);
}

interface PutItems {
  readonly items: unknown;
  readonly path: string;
}

function putItems(writer: Writer, view: EventView, { items, path }: PutItems): void {
  if (!Array.isArray(items)) return;
  for (const [at, item] of items.entries()) {
    const key = `item-${view.seq}-${at}`;
    putItem(writer, view, { item: item as Fields, key, path: `${path}/${at}` });
  }
}

interface PutItem {
  readonly item: Fields;
  readonly key: string;
  readonly path: string;
}

function putItem(writer: Writer, view: EventView, { item, key, path }: PutItem): void {
  const { seq } = view;
  const rest = toRest(writer.run, view, path);
  switch (item["type"]) {
    case "message":
      return putMessage(writer, seq, { item, key, rest });
    case "reasoning": {
      const said = saidOf(item["summary"]);
      const text = said.text || saidOf(item["content"]).text;
      const open = writer.find(key);
      if (text === "" && open?.kind !== "thinking") return;
      const kept = text || (open?.kind === "thinking" ? open.text : "");
      writer.put(key, { kind: "thinking", seq, text: kept, pictures: [], rest, isOpen: false });
      return;
    }
    case "function_call":
    case "custom_tool_call": {
      const given = textOf(item["arguments"]) || textOf(item["input"]);
      return beginCall(writer, seq, textOf(item["call_id"]), { name: textOf(item["name"]), given });
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const said = outputOf(item);
      const change = { output: said.text, pictures: said.pictures, rest };
      return changeCall(writer, seq, textOf(item["call_id"]), change);
    }
    default:
      return changeCall(writer, seq, textOf(item["id"]) || key, toOtherCall(item, rest));
  }
}

interface PutMessage {
  readonly item: Fields;
  readonly key: string;
  readonly rest: Rest | undefined;
}

function putMessage(writer: Writer, seq: number, { item, key, rest }: PutMessage): void {
  const { role } = item;
  const who = role === "assistant" ? "assistant" : role === "user" ? "user" : "system";
  const said: Said = saidOf(item["content"]);
  writer.put(key, { kind: "words", seq, who, ...said, rest, isOpen: false });
}

/** Calls of a server's own tools: the item contains the words of the call. */
function toOtherCall(item: Fields, rest: Rest | undefined): Partial<CallBlock> {
  const { type, name, arguments: given, output, error, status, ...other } = item;
  const shown = textOf(output) || (error ? JSON.stringify(error) : textOf(status));
  return {
    name: textOf(name) || textOf(type),
    given: textOf(given) || JSON.stringify(other, null, 2),
    output: shown,
    failed: status === "failed" || Boolean(error),
    rest,
  };
}
