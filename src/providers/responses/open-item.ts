/** An item that has begun, and what it must have been when its server never ends it. */

import type { JsonObject } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";
import type { WireItem } from "./schema.ts";

export interface OpenItem {
  /** Place in the answer. */
  readonly index: number;
  readonly item: WireItem;
  /** What the deltas said so far, in the order in which the parts began. */
  readonly parts: OpenPart[];
  /** The same of a call's arguments, or of its free text. */
  arguments: string;
  /** Opened by its first delta, because the server announces no items of this kind. */
  isImplied: boolean;
}

type PartKind = "output_text" | "refusal" | "summary_text" | "reasoning_text";

interface OpenPart {
  readonly kind: PartKind;
  readonly part: number;
  text: string;
  logprobs: Logprob[] | undefined;
}

export function addText(
  { parts }: OpenItem,
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

/** The item as far as it was told. */
export function toEndedItem(open: OpenItem, status: "completed" | "incomplete"): WireItem {
  const { item, parts } = open;
  switch (item.type) {
    case "message":
      return { ...item, status, content: toContent(parts) } as WireItem;
    case "reasoning": {
      const summary = parts.filter(({ kind }) => kind === "summary_text");
      const thoughts = parts.filter(({ kind }) => kind === "reasoning_text");
      const content = thoughts.length > 0 ? { content: toContent(thoughts) } : {};
      return { ...item, summary: toContent(summary), ...content } as WireItem;
    }
    case "custom_tool_call":
      return { ...item, status, input: open.arguments } as WireItem;
    default:
      return "status" in item ? ({ ...item, status } as WireItem) : item;
  }
}

/** Some servers leave out what an item says, or even who says it: what the deltas said stands in its place. */
export function withSaid(item: WireItem, open: OpenItem): WireItem {
  if (item.type === "message") {
    const content = item.content?.length ? item.content : toContent(open.parts);
    return { role: "assistant", ...item, content } as WireItem;
  }
  if (item.type !== "reasoning") return item;
  const summary = open.parts.filter(({ kind }) => kind === "summary_text");
  return { ...item, summary: item.summary?.length ? item.summary : toContent(summary) };
}

function toContent(parts: readonly OpenPart[]): JsonObject[] {
  return parts.map(({ kind, text, logprobs }) => {
    if (kind === "refusal") return { type: kind, refusal: text };
    if (kind !== "output_text") return { type: kind, text };
    return { type: kind, text, annotations: [], ...(logprobs && { logprobs }) };
  });
}
