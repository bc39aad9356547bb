/** The reasoning, message or refusal of a chat answer while it is written, and the item that it becomes. */

import type { JsonObject } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import { sealChat } from "./reasoning-details.ts";
import type { SourceCitation } from "./sources.ts";

export interface OpenChatItem {
  readonly kind: "reasoning" | "text" | "refusal";
  readonly index: number;
  readonly pieces: string[];
  readonly annotations: SourceCitation[];
  /** Details that the server wants back with this reasoning, unchanged. */
  readonly details: JsonObject[];
  /** The fields that the server wants back with the call after this reasoning. */
  extra: JsonObject | undefined;
  /** The probabilities of the tokens so far; undefined until the server sends some. */
  logprobs: Logprob[] | undefined;
}

export function openAs(kind: OpenChatItem["kind"], index: number): OpenChatItem {
  const nothing = { pieces: [], annotations: [], details: [] };
  return { kind, index, ...nothing, extra: undefined, logprobs: undefined };
}

export function toItem(
  open: OpenChatItem,
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
