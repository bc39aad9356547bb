/**
 * A log as a conversation: what was given, said, thought and called, turn by turn. Grows as events come: finished
 * blocks are never made again, so a long conversation costs what is new in it.
 */

import type { EventView } from "../../core/views.ts";

export type Block = { readonly key: string; readonly seq: number } & (
  | {
      readonly kind: "words";
      readonly who: "user" | "system" | "assistant";
      readonly text: string;
      readonly isOpen: boolean;
    }
  | { readonly kind: "thinking"; readonly text: string; readonly isOpen: boolean }
  | { readonly kind: "call"; readonly call: CallBlock }
  | {
      readonly kind: "turn";
      readonly turn: number;
      readonly tokens: number;
      readonly usd: number | null;
      readonly model: string | undefined;
    }
  | {
      readonly kind: "note";
      readonly tone: "quiet" | "bad" | "warn" | "good";
      readonly text: string;
    }
  | {
      readonly kind: "child";
      readonly id: string;
      readonly label: string;
      readonly ending: string | undefined;
    }
);

export interface CallBlock {
  readonly id: string;
  readonly name: string;
  readonly given: string;
  readonly decision: string;
  readonly isDenied: boolean;
  readonly output: string | undefined;
  readonly failed: boolean;
}

export interface Conversation {
  readonly blocks: readonly Block[];
  /** Blocks by what they are of, to change them while they are open. */
  readonly places: ReadonlyMap<string, number>;
}

export const EMPTY: Conversation = { blocks: [], places: new Map() };

type Fields = Readonly<Record<string, unknown>>;

export function addEvents(conversation: Conversation, events: readonly EventView[]): Conversation {
  const blocks = [...conversation.blocks];
  const places = new Map(conversation.places);
  const writer: Writer = {
    put(block) {
      const at = places.get(block.key);
      if (at === undefined) places.set(block.key, blocks.push(block) - 1);
      else blocks[at] = block;
    },
    find: (key) => blocks[places.get(key) ?? -1],
    drop(key) {
      const at = places.get(key);
      const block = blocks[at ?? -1];
      if (at === undefined || !block) return;
      blocks[at] = {
        key: `gone-${block.seq}-${key}`,
        seq: block.seq,
        kind: "note",
        tone: "quiet",
        text: "",
      };
      places.delete(key);
    },
  };
  for (const view of events) take(writer, view, view.event as Fields);
  return { blocks, places };
}

interface Writer {
  put(block: Block): void;
  find(key: string): Block | undefined;
  drop(key: string): void;
}

type Take = (writer: Writer, view: EventView, event: Fields) => void;

function take(writer: Writer, view: EventView, event: Fields): void {
  TAKES[view.type]?.(writer, view, event);
}

const TAKES: Readonly<Record<string, Take>> = {
  run_start(writer, { seq }, { settings, input }) {
    const instructions = textOf((settings as Fields | undefined)?.["instructions"]);
    if (instructions !== "")
      writer.put({
        key: "system",
        seq,
        kind: "words",
        who: "system",
        text: instructions,
        isOpen: false,
      });
    putItems(writer, seq, input);
  },
  run_input: (writer, { seq }, { items }) => putItems(writer, seq, items),
  text_delta: (writer, view, event) => grow(writer, view, event, "words"),
  refusal_delta: (writer, view, event) => grow(writer, view, event, "words"),
  reasoning_delta: (writer, view, event) => grow(writer, view, event, "thinking"),
  item_end(writer, { seq }, { index, item }) {
    writer.drop(`open-words-${String(index)}`);
    writer.drop(`open-thinking-${String(index)}`);
    putItem(writer, `${seq}`, seq, item as Fields);
  },
  tool_start: (writer, { seq }, { call_id, name }) =>
    changeCall(writer, seq, textOf(call_id), { name: textOf(name) }),
  tool_question: (writer, { seq }, { call_id }) =>
    changeCall(writer, seq, textOf(call_id), { decision: "waits for approval" }),
  tool_decision(writer, { seq }, { call_id, verdict, by, rule, reason }) {
    const decision = `${verdict === "deny" ? "denied" : "allowed"} by ${textOf(rule) || textOf(by)}: ${textOf(reason)}`;
    changeCall(writer, seq, textOf(call_id), { decision, isDenied: verdict === "deny" });
  },
  tool_end(writer, { seq }, { call_id, item, failed }) {
    changeCall(writer, seq, textOf(call_id), {
      output: outputOf(item as Fields),
      failed: failed === true,
    });
  },
  turn_end(writer, { seq }, { turn, usage, cost_usd, by }) {
    const used = (usage ?? {}) as { input_tokens?: number; output_tokens?: number };
    const tokens = (used.input_tokens ?? 0) + (used.output_tokens ?? 0);
    const model = textOf((by as Fields | undefined)?.["model"]) || undefined;
    writer.put({
      key: `turn-${seq}`,
      seq,
      kind: "turn",
      turn: Number(turn),
      tokens,
      usd: cost_usd as number | null,
      model,
    });
  },
  child_start: (writer, { seq }, { child_id, label }) =>
    writer.put({
      key: `child-${textOf(child_id)}`,
      seq,
      kind: "child",
      id: textOf(child_id),
      label: textOf(label),
      ending: undefined,
    }),
  child_end: (writer, { seq }, { child_id, label, ending }) =>
    writer.put({
      key: `child-${textOf(child_id)}`,
      seq,
      kind: "child",
      id: textOf(child_id),
      label: textOf(label),
      ending: textOf(ending),
    }),
  run_resume: (writer, { seq }) =>
    writer.put({
      key: `note-${seq}`,
      seq,
      kind: "note",
      tone: "warn",
      text: "Resumed after a crash; an unfinished turn above was taken again.",
    }),
  compaction: (writer, { seq }) =>
    writer.put({
      key: `note-${seq}`,
      seq,
      kind: "note",
      tone: "quiet",
      text: "The conversation was compacted to fit the model's window.",
    }),
  run_end(writer, { seq }, { ending, message }) {
    const tone = ending === "completed" ? "good" : "bad";
    const text =
      ending === "completed" ? "Completed." : `Ended: ${textOf(ending)}. ${textOf(message)}`;
    writer.put({ key: "end", seq, kind: "note", tone, text });
  },
};

function grow(writer: Writer, view: EventView, event: Fields, kind: "words" | "thinking"): void {
  const key = `open-${kind}-${String(event["index"])}`;
  const before = writer.find(key);
  const isSame = before?.kind === kind && before.isOpen;
  const text = (isSame ? before.text : "") + textOf(event["delta"]);
  const at = { key, seq: view.seq, text, isOpen: true };
  if (kind === "words") writer.put({ ...at, kind, who: "assistant" });
  else writer.put({ ...at, kind });
}

function changeCall(writer: Writer, seq: number, id: string, change: Partial<CallBlock>): void {
  const before = writer.find(`call-${id}`);
  const call: CallBlock =
    before?.kind === "call"
      ? before.call
      : {
          id,
          name: "",
          given: "",
          decision: "",
          isDenied: false,
          output: undefined,
          failed: false,
        };
  writer.put({
    key: `call-${id}`,
    seq: before?.seq ?? seq,
    kind: "call",
    call: { ...call, ...change },
  });
}

function putItems(writer: Writer, seq: number, items: unknown): void {
  if (!Array.isArray(items)) return;
  for (const [at, item] of items.entries()) putItem(writer, `${seq}-${at}`, seq, item as Fields);
}

function putItem(writer: Writer, name: string, seq: number, item: Fields): void {
  const key = `item-${name}`;
  switch (item["type"]) {
    case "message": {
      const who =
        item["role"] === "assistant" ? "assistant" : item["role"] === "user" ? "user" : "system";
      writer.put({ key, seq, kind: "words", who, text: contentOf(item["content"]), isOpen: false });
      return;
    }
    case "reasoning": {
      const text = contentOf(item["summary"]) || contentOf(item["content"]);
      if (text !== "") writer.put({ key, seq, kind: "thinking", text, isOpen: false });
      return;
    }
    case "function_call":
    case "custom_tool_call":
      changeCall(writer, seq, textOf(item["call_id"]), {
        name: textOf(item["name"]),
        given: textOf(item["arguments"]) || textOf(item["input"]),
      });
      return;
    case "function_call_output":
    case "custom_tool_call_output":
      changeCall(writer, seq, textOf(item["call_id"]), { output: outputOf(item) });
      return;
    default:
      changeCall(writer, seq, textOf(item["id"]) || name, {
        name: textOf(item["type"]),
        given: JSON.stringify(item, null, 2),
        output: textOf(item["status"]),
      });
  }
}

function outputOf(item: Fields): string {
  const { output } = item;
  return typeof output === "string"
    ? output
    : Array.isArray(output)
      ? contentOf(output)
      : JSON.stringify(item, null, 2);
}

function contentOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map(
      (part: Fields) =>
        textOf(part["text"]) || textOf(part["refusal"]) || `[${textOf(part["type"])}]`,
    )
    .join("\n\n");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
