/** A Messages stream as strict clients read it: whatever is out of order fails. */

import assert from "node:assert/strict";
import type { EmittedEvent } from "../../../src/protocol/emitted.ts";
import { createMessageWriter } from "../../../src/responses/messages/message-writer.ts";
import type { MessagesAnswerOptions } from "../../../src/responses/messages/messages-wishes.ts";
import { toMessagesError } from "../../../src/server/failure-answer.ts";

export const ANSWER: MessagesAnswerOptions = {
  model: "m",
  thinking: "shown",
  applied: [],
  takenIds: new Set(),
  clientNames: new Map(),
  ignored: [],
  stops: [],
  contextTokens: undefined,
};

export const ESTIMATE = 123;

export type Frame = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Each frame with its `event:` line, which must say its type. */
export function framesIn(text: string): Frame[] {
  return text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [, event = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
      const parsed = JSON.parse(data) as Frame;
      assert.equal(parsed.type, event);
      return parsed;
    });
}

export function framesOf(
  events: readonly EmittedEvent[],
  answer: Partial<MessagesAnswerOptions> = {},
): Frame[] {
  const writer = createMessageWriter({
    answer: { ...ANSWER, ...answer },
    estimate: () => ESTIMATE,
    toError: toMessagesError,
  });
  return framesIn(events.map((event) => writer.write(event)).join(""));
}

type Block = Record<string, unknown>;

export interface Assembled {
  readonly start: Record<string, unknown>;
  readonly content: readonly Block[];
  readonly end: Record<string, unknown>;
}

/** Rejects a gap, a block inside another, a delta of a closed block, and input that came without a delta. */
export function assemble(frames: readonly Frame[]): Assembled {
  const [first, ...rest] = frames;
  assert.equal(first?.type, "message_start");
  const content: Block[] = [];
  let open: { readonly block: Block; json: string; readonly deltas: string[] } | undefined;
  let end: Frame | undefined;
  for (const frame of rest) {
    if (frame.type === "content_block_start") {
      assert.equal(open, undefined, "a block began inside another");
      assert.equal(frame["index"], content.length, "a gap in the indexes");
      open = { block: { ...(frame["content_block"] as Block) }, json: "", deltas: [] };
    } else if (frame.type === "content_block_delta") {
      assert.ok(open, "a delta of no block");
      assert.equal(frame["index"], content.length);
      addDelta(open, frame["delta"] as Block);
    } else if (frame.type === "content_block_stop") {
      assert.ok(open, "an end of no block");
      assert.equal(frame["index"], content.length);
      if ("input" in open.block) {
        assert.ok(open.deltas.includes("input_json_delta"), "input without a delta");
        open.block["input"] = JSON.parse(open.json);
      }
      content.push(open.block);
      open = undefined;
    } else if (frame.type === "message_delta") end = frame;
    else assert.equal(frame.type, "message_stop");
  }
  assert.equal(rest.at(-1)?.type, "message_stop");
  assert.equal(rest.at(-2), end);
  return { start: first["message"] as Block, content, end: end as Block };
}

function addDelta(
  open: { readonly block: Block; json: string; readonly deltas: string[] },
  delta: Block,
): void {
  const { block } = open;
  const type = String(delta["type"]);
  open.deltas.push(type);
  switch (type) {
    case "text_delta":
      block["text"] = `${block["text"]}${delta["text"]}`;
      return;
    case "thinking_delta":
      block["thinking"] = `${block["thinking"]}${delta["thinking"]}`;
      return;
    case "signature_delta":
      block["signature"] = `${block["signature"]}${delta["signature"]}`;
      return;
    case "input_json_delta":
      open.json += String(delta["partial_json"]);
      return;
    case "citations_delta":
      block["citations"] = [...((block["citations"] ?? []) as unknown[]), delta["citation"]];
      return;
    case "compaction_delta":
      Object.assign(block, { content: delta["content"] });
      block["encrypted_content"] = delta["encrypted_content"];
      return;
    default:
      assert.fail(`an unknown delta: ${type}`);
  }
}
