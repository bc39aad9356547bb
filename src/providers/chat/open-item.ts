/** The reasoning, message or refusal of a chat answer that is being written, and what it comes to. */

import type { JsonObject } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import { sealChat } from "./reasoning-details.ts";
import type { Citation } from "./sources.ts";

export interface OpenItem {
  readonly kind: "reasoning" | "text" | "refusal";
  readonly index: number;
  readonly pieces: string[];
  readonly annotations: Citation[];
  /** What the server wants back with this reasoning, as it came. */
  readonly details: JsonObject[];
  /** What it wants back with the call behind it. */
  extra: JsonObject | undefined;
  /** Of the tokens so far; none until the server gives some. */
  logprobs: Logprob[] | undefined;
}

export function openAs(kind: OpenItem["kind"], index: number): OpenItem {
  const nothing = { pieces: [], annotations: [], details: [] };
  return { kind, index, ...nothing, extra: undefined, logprobs: undefined };
}

export function toItem(
  open: OpenItem,
  status: "in_progress" | "completed" | "incomplete" = "in_progress",
): Item {
  const { kind, pieces, annotations, logprobs } = open;
  const text = pieces.join("");
  if (kind === "reasoning") {
    const content = text === "" ? [] : [{ type: "reasoning_text" as const, text }];
    return { type: "reasoning", summary: [], content, ...sealChat(open) };
  }
  const part =
    kind === "text"
      ? { type: "output_text" as const, text, annotations, ...(logprobs && { logprobs }) }
      : { type: "refusal" as const, refusal: text };
  return { type: "message", role: "assistant", status, content: text === "" ? [] : [part] };
}
