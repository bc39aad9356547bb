/** An item that has begun: its form at the end, and its form if its server never ends it. */

import type { Logprob } from "../../protocol/content.ts";
import { Item } from "../../protocol/items.ts";
import { toNamelessCall } from "../broken-answer.ts";
import { readShape } from "../shape.ts";
import { shapeOf } from "./published-shape.ts";
import { partsOf, type WireItem, type WirePart } from "./schema.ts";

const ITEM = shapeOf(Item);

export interface OpenWireItem {
  /** Index in the answer. */
  readonly index: number;
  readonly item: WireItem;
  /** The text of the deltas so far, in the order in which the parts began. */
  readonly parts: OpenPart[];
  /** The pieces so far of a call's arguments, or of its free text. */
  arguments: string;
  /** True if its first delta opened it, because the server announces no items of this kind. */
  isImplied: boolean;
  /** The item at its end. The answer's last event may have more of it. */
  done: WireItem | undefined;
}

type PartKind = "output_text" | "refusal" | "summary_text" | "reasoning_text";

interface OpenPart {
  readonly kind: PartKind;
  readonly part: number;
  text: string;
  logprobs: Logprob[] | undefined;
}

export function addText(
  { parts }: OpenWireItem,
  { kind, part }: { readonly kind: PartKind; readonly part: number },
  delta: string,
): OpenPart {
  const known = parts.find((open) => open.kind === kind && open.part === part);
  if (known) {
    known.text += delta;
    return known;
  }
  const begun: OpenPart = { kind, part, text: delta, logprobs: undefined };
  parts.push(begun);
  return begun;
}

export function addLogprobs(open: OpenPart, logprobs: readonly Logprob[]): void {
  if (open.logprobs) open.logprobs.push(...logprobs);
  else open.logprobs = [...logprobs];
}

/** The item with the text so far. */
export function toEndedItem(open: OpenWireItem, status: "completed" | "incomplete"): WireItem {
  const { item, parts } = open;
  switch (item.type) {
    case "message":
      return { ...item, status, content: toContent(parts) };
    case "reasoning": {
      const summary = parts.filter(({ kind }) => kind === "summary_text");
      const thoughts = parts.filter(({ kind }) => kind === "reasoning_text");
      const content = thoughts.length > 0 ? { content: toContent(thoughts) } : {};
      return { ...item, summary: toContent(summary), ...content };
    }
    case "custom_tool_call":
      return { ...item, status, input: open.arguments };
    default:
      return "status" in item ? { ...item, status } : item;
  }
}

const CALL_TYPES: ReadonlySet<string> = new Set(["function_call", "tool_call", "custom_tool_call"]);

export function isCall({ type }: WireItem): boolean {
  return CALL_TYPES.has(type ?? "");
}

/** A call starts without arguments, even if the server put some there: they come as deltas. */
export function toBegunItem(open: OpenWireItem): Item {
  const { item } = open;
  return readShape(toOurs(isFunction(item) ? { ...item, arguments: "" } : item, open), ITEM);
}

/** The whole item. Rejects a call whose tool was named neither here nor at its start. */
export function toItem(item: WireItem, open: OpenWireItem): Item {
  if (isCall(item) && !(item.name ?? open.item.name)) throw toNamelessCall();
  return readShape(toOurs(item, open), ITEM);
}

/** Converts to our vocabulary: the older `tool_call` becomes a `function_call`, the rest is kept. */
function toOurs(item: WireItem, open: OpenWireItem): object {
  if (!isFunction(item)) return withSaid(item, open);
  const { type: _, tool_call_id: __, ...rest } = item as WireItem & { tool_call_id?: string };
  const call_id = item.call_id ?? item.id ?? open.item.call_id ?? open.item.id ?? "";
  const name = item.name ?? open.item.name ?? "";
  return {
    ...rest,
    type: "function_call",
    call_id,
    name,
    arguments: toArguments(item, open),
  };
}

function isFunction({ type }: WireItem): boolean {
  return type === "tool_call" || type === "function_call";
}

/** The arguments as JSON text; some servers send the parsed object instead. */
export function toArguments({ arguments: given }: WireItem, open: OpenWireItem): string {
  if (typeof given === "string" && given !== "") return given;
  if (given !== undefined && given !== null && given !== "") return JSON.stringify(given);
  return open.arguments;
}

/** Some servers leave out an item's text or role, which is then taken from the deltas. */
function withSaid(item: WireItem, open: OpenWireItem): WireItem {
  if (item.type === "message") {
    const said = partsOf(item);
    const content =
      said.length > 0
        ? said.map((part, at) => (hasWords(part) ? part : withTold(part, at, open)))
        : toContent(open.parts);
    return { ...item, role: item.role ?? "assistant", content };
  }
  if (item.type !== "reasoning") return item;
  const said = item.summary?.filter(hasText) ?? [];
  const told = open.parts.filter(({ kind }) => kind === "summary_text");
  const summary = said.length > 0 ? said : toContent(told);
  return item.content
    ? { ...item, summary, content: partsOf(item).filter(hasText) }
    : { ...item, summary };
}

/** True if a part has the text of its kind; unknown kinds count as complete. */
function hasWords(part: WirePart): boolean {
  if (part.type === "refusal") return typeof part.refusal === "string";
  return part.type !== "output_text" || hasText(part);
}

function withTold(part: WirePart, at: number, { parts }: OpenWireItem): WirePart {
  const told = parts.find((open) => open.kind === part.type && open.part === at)?.text ?? "";
  return part.type === "refusal" ? { ...part, refusal: told } : { ...part, text: told };
}

function hasText({ text }: WirePart): boolean {
  return typeof text === "string";
}

function toContent(parts: readonly OpenPart[]): WirePart[] {
  return parts.map(({ kind, text, logprobs }) => {
    if (kind === "refusal") return { type: kind, refusal: text };
    if (kind !== "output_text") return { type: kind, text };
    return { type: kind, text, annotations: [], ...(logprobs && { logprobs }) };
  });
}
