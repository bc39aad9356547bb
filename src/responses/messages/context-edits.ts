/**
 * Applies `context_management` of a Messages request: what of the conversation is left out before the model reads it.
 * Done here and not by the vendor, so that it works on every model. Compaction is our own. Pure.
 */

import { estimateItem, estimateTokens } from "../../agent/context/token-estimate.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { FunctionCall, FunctionCallOutput, Item } from "../../protocol/items.ts";
import type { CreateResponse } from "../../protocol/request.ts";
import type { ContextEdit } from "./messages-request.ts";

/** The form in which the answer reports it. */
export type AppliedEdit =
  | {
      type: "clear_thinking_20251015";
      cleared_thinking_turns: number;
      cleared_input_tokens: number;
    }
  | { type: "clear_tool_uses_20250919"; cleared_tool_uses: number; cleared_input_tokens: number };

export interface EditedContext {
  readonly items: readonly Item[];
  readonly applied: readonly AppliedEdit[];
  readonly fields: Pick<CreateResponse, "context_management">;
  readonly ignored: readonly string[];
}

interface EditParts extends Pick<CreateResponse, "instructions" | "tools"> {
  /** The model's name of a tool of the client. */
  readonly nameOf: (name: string) => string;
}

export function editContext(
  items: readonly Item[],
  edits: readonly ContextEdit[],
  around: EditParts,
): EditedContext {
  let edited = items;
  const applied: AppliedEdit[] = [];
  const ignored: string[] = [];
  let fields: EditedContext["fields"] = {};
  for (const [at, edit] of edits.entries()) {
    const given = edit as unknown as JsonObject;
    if (edit.type.startsWith("clear_thinking_")) {
      edited = note(applied, clearThinking(edited, given));
    } else if (edit.type.startsWith("clear_tool_uses_")) {
      const { instructions, tools, nameOf } = around;
      const rest = { instructions: instructions ?? "", tools: tools ?? [], nameOf };
      edited = note(applied, clearToolUses(edited, given, rest));
    } else if (edit.type.startsWith("compact_")) {
      fields = {
        context_management: [{ type: "compaction", compact_threshold: toThreshold(given) }],
      };
      ignored.push(...leftOutOf(given, at));
    } else ignored.push(`context_management.edits[${at}] (${edit.type})`);
  }
  return { items: edited, applied, fields, ignored };
}

/** The server compacts it with its own summary, and the answer continues after it. */
function leftOutOf(edit: JsonObject, at: number): string[] {
  const wishes = ["instructions", "pause_after_compaction"].filter((name) => edit[name]);
  return wishes.map((name) => `context_management.edits[${at}].${name}`);
}

interface Edited {
  readonly items: readonly Item[];
  readonly applied: AppliedEdit | undefined;
}

function note(all: AppliedEdit[], { items, applied }: Edited): readonly Item[] {
  if (applied) all.push(applied);
  return items;
}

/** The published default of `compact_20260112`, and the least that it accepts. */
const COMPACT_TOKENS = 150_000;
const LEAST_COMPACT_TOKENS = 1000;

function toThreshold({ trigger }: JsonObject): number {
  const value = countOf(trigger, COMPACT_TOKENS);
  return Math.max(LEAST_COMPACT_TOKENS, value);
}

/** Turns of the assistant whose thoughts stay; all of them with `keep: "all"`. */
const KEPT_THINKING_TURNS = 1;

function clearThinking(items: readonly Item[], { keep }: JsonObject): Edited {
  if (keep === "all" || (isJsonObject(keep) && keep["type"] === "all")) {
    return { items, applied: undefined };
  }
  const turns = toTurns(items);
  const thinking = [
    ...new Set(items.flatMap((item, at) => (item.type === "reasoning" ? [turns[at] ?? 0] : []))),
  ];
  const kept = countOf(keep, KEPT_THINKING_TURNS);
  const cleared = new Set(thinking.slice(0, Math.max(0, thinking.length - kept)));
  if (cleared.size === 0) return { items, applied: undefined };
  const isCleared = (item: Item, at: number): boolean =>
    item.type === "reasoning" && cleared.has(turns[at] ?? 0);
  const gone = items.filter(isCleared);
  return {
    items: items.filter((item, at) => !isCleared(item, at)),
    applied: {
      type: "clear_thinking_20251015",
      cleared_thinking_turns: cleared.size,
      cleared_input_tokens: sum(gone),
    },
  };
}

/**
 * The number of the assistant's turn that each item belongs to: a user's message begins the next.
 */
function toTurns(items: readonly Item[]): number[] {
  let turn = 0;
  return items.map((item) => {
    if (item.type === "message" && item.role === "user") turn++;
    return turn;
  });
}

const TRIGGER_TOKENS = 100_000;
const KEPT_TOOL_USES = 3;
const CLEARED = "[This result was cleared to save room. Call the tool again if it is needed.]";

interface Rest extends Pick<EditParts, "nameOf"> {
  readonly instructions: string;
  readonly tools: NonNullable<CreateResponse["tools"]>;
}

function clearToolUses(
  items: readonly Item[],
  edit: JsonObject,
  { nameOf, ...rest }: Rest,
): Edited {
  const unchanged = { items, applied: undefined };
  const calls = items.filter((item): item is FunctionCall => item.type === "function_call");
  if (!isDue(edit["trigger"], calls.length, () => estimateTokens({ items, ...rest })))
    return unchanged;
  const excluded = textsOf(edit["exclude_tools"]).map(nameOf);
  const old = calls.slice(0, Math.max(0, calls.length - countOf(edit["keep"], KEPT_TOOL_USES)));
  const names = new Map(old.map(({ call_id, name }) => [call_id, name]));
  const doomed = new Set(
    old.filter(({ name }) => !excluded.includes(name)).map(({ call_id }) => call_id),
  );
  const inputs = edit["clear_tool_inputs"];
  const clearsInput = (callId: string): boolean =>
    inputs === true ||
    textsOf(inputs)
      .map(nameOf)
      .includes(names.get(callId) ?? "");
  const made = items.map((item) => toCleared(item, doomed, clearsInput));
  const saved = sum(items) - sum(made);
  const cleared = items.filter(
    (item, at) => item.type === "function_call_output" && item !== made[at],
  );
  if (cleared.length === 0 || saved < countOf(edit["clear_at_least"], 0)) return unchanged;
  return {
    items: made,
    applied: {
      type: "clear_tool_uses_20250919",
      cleared_tool_uses: cleared.length,
      cleared_input_tokens: Math.max(0, saved),
    },
  };
}

function isDue(trigger: Json | undefined, calls: number, tokens: () => number): boolean {
  const isCalls = isJsonObject(trigger) && trigger["type"] === "tool_uses";
  return isCalls ? calls > countOf(trigger, 0) : tokens() > countOf(trigger, TRIGGER_TOKENS);
}

function toCleared(
  item: Item,
  doomed: ReadonlySet<string>,
  clearsInput: (callId: string) => boolean,
): Item {
  if (item.type === "function_call_output" && doomed.has(item.call_id)) return withoutOutput(item);
  if (item.type !== "function_call" || !doomed.has(item.call_id)) return item;
  return clearsInput(item.call_id) ? { ...item, arguments: "{}" } : item;
}

function withoutOutput(item: FunctionCallOutput): Item {
  return item.output === CLEARED ? item : { ...item, output: CLEARED };
}

function sum(items: readonly Item[]): number {
  return items.reduce((total, item) => total + estimateItem(item), 0);
}

/** For example `{"type": "tool_uses", "value": 3}`. */
function countOf(value: Json | undefined, usual: number): number {
  const count = isJsonObject(value) ? value["value"] : undefined;
  return typeof count === "number" && count >= 0 ? Math.floor(count) : usual;
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
