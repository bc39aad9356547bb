/**
 * Translates between thinking blocks and reasoning items. Clients send thinking back as they got it, so data that a
 * vendor needs to continue thinking travels in the block's `signature`: Claude's own unchanged, any other in an
 * envelope of ours.
 */

import { isJsonObject } from "../../base/json.ts";
import type { EmittedReasoning } from "../../protocol/emitted.ts";
import type { Reasoning } from "../../protocol/items.ts";
import { type RedactedBlock, SEALER, type ThinkingBlock } from "../../protocol/messages-blocks.ts";
import { seal, unseal } from "../../protocol/sealed-reasoning.ts";

/**
 * Says if the text was the vendor's summary of a thought (`s`) or the thought itself (`c`). A signature that another
 * server of ours has made can only be opened there: it gets an envelope of its own (`v`).
 */
const ENVELOPE = /^offshoot-([scv])\.(.*)$/s;

/** Claude's own unchanged. */
function toOuter(signature: string): string {
  return ENVELOPE.test(signature) ? `offshoot-v.${signature}` : signature;
}

/** Separates two pieces of thinking, which are separate texts in a response. */
export const THOUGHT_BREAK = "\n\n";

type Thought = Pick<EmittedReasoning, "summary" | "content" | "encrypted_content">;

export type ThoughtBlock = ThinkingBlock | RedactedBlock;

/** Undefined for a thought with nothing to show and nothing to keep. */
export function toThoughtBlock(thought: Thought): ThoughtBlock | undefined {
  const own = unseal(SEALER, thought.encrypted_content);
  if (isJsonObject(own)) return toOwnBlock(own as unknown as ThoughtBlock);
  const thinking = textsOf(thought).join(THOUGHT_BREAK);
  const signature = toSignature(thought);
  return thinking === "" && signature === ""
    ? undefined
    : { type: "thinking", thinking, signature };
}

/** The same without its words, for a client that did not ask for them. */
export function toHiddenThought(thought: Thought): RedactedBlock | undefined {
  const own = unseal(SEALER, thought.encrypted_content);
  if (isJsonObject(own) && own["type"] === "redacted_thinking") {
    return toOwnBlock(own as unknown as RedactedBlock) as RedactedBlock;
  }
  const data = toSignature(thought);
  return data === "" ? undefined : { type: "redacted_thinking", data };
}

function toOwnBlock(block: ThoughtBlock): ThoughtBlock {
  return block.type === "thinking"
    ? { ...block, signature: toOuter(block.signature) }
    : { ...block, data: toOuter(block.data) };
}

function textsOf({ summary, content = [] }: Thought): string[] {
  return [...summary, ...content].map(({ text }) => text).filter((text) => text !== "");
}

/** Empty if the vendor has sealed nothing: clients send such a block back too. */
export function toSignature({ summary, encrypted_content }: Thought): string {
  if (!encrypted_content) return "";
  const own = unseal(SEALER, encrypted_content);
  if (isJsonObject(own) && typeof own["signature"] === "string") return toOuter(own["signature"]);
  return `offshoot-${summary.length > 0 ? "s" : "c"}.${encrypted_content}`;
}

/**
 * The signature of a block that is shown without its text. Claude wants its block back as it was, so the whole block
 * travels in an envelope of ours, unless Claude itself left the text out.
 */
export function toBlankSignature(thought: Thought): string {
  const own = unseal(SEALER, thought.encrypted_content);
  const hasText = isJsonObject(own) && own["type"] === "thinking" && own["thinking"] !== "";
  return hasText ? `offshoot-c.${thought.encrypted_content}` : toSignature(thought);
}

export function fromThinking(thinking: string, signature: string | null | undefined): Reasoning {
  const [, kind, sealed = ""] = ENVELOPE.exec(signature ?? "") ?? [];
  if (kind === "s" || kind === "c")
    return { ...toTexts(thinking, kind), encrypted_content: sealed };
  const plain = toTexts(thinking, "c");
  if (!signature) return plain;
  // Not an envelope of ours: it is Claude's, which wants the whole block back.
  const block = { type: "thinking", thinking, signature: kind === "v" ? sealed : signature };
  return { ...plain, encrypted_content: seal(SEALER, block) };
}

/** True for what `toHiddenThought` writes for a vendor that is not Anthropic. */
export function isHiddenThought(data: string): boolean {
  const kind = ENVELOPE.exec(data)?.[1];
  return kind === "s" || kind === "c";
}

export function fromRedacted(data: string): Reasoning {
  const [, kind, sealed = ""] = ENVELOPE.exec(data) ?? [];
  const block = { type: "redacted_thinking", data: kind === "v" ? sealed : data };
  const encrypted_content = isHiddenThought(data) ? sealed : seal(SEALER, block);
  return { type: "reasoning", summary: [], content: [], encrypted_content };
}

function toTexts(text: string, kind: string): Reasoning {
  if (text === "") return { type: "reasoning", summary: [], content: [] };
  return kind === "s"
    ? { type: "reasoning", summary: [{ type: "summary_text", text }] }
    : { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }] };
}
