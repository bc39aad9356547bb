import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Reasoning } from "../../../src/protocol/items.ts";
import { SEALER } from "../../../src/protocol/messages-blocks.ts";
import { isSealed, unseal } from "../../../src/protocol/sealed-reasoning.ts";
import {
  fromRedacted,
  fromThinking,
  isHiddenThought,
  toHiddenThought,
  toThoughtBlock,
} from "../../../src/responses/messages/thought-signature.ts";

const thought = (fields: Partial<Reasoning>): Parameters<typeof toThoughtBlock>[0] =>
  ({
    summary: [],
    ...fields,
  }) as Parameters<typeof toThoughtBlock>[0];
const summary = (text: string): Partial<Reasoning> => ({
  summary: [{ type: "summary_text", text }],
});
const content = (text: string): Partial<Reasoning> => ({
  content: [{ type: "reasoning_text", text }],
});

describe("a thought of another vendor", () => {
  const TEXT = fc.string({ minLength: 1 });
  const SEALED = fc.stringMatching(/^[A-Za-z0-9+/=_.-]{1,60}$/).filter((text) => !isSealed(text));

  it("comes back from a client as it was: its words, their kind and its seal", () => {
    const property = fc.property(TEXT, SEALED, fc.boolean(), (text, sealed, isSummary) => {
      const said = isSummary ? summary(text) : content(text);
      const block = toThoughtBlock(thought({ ...said, encrypted_content: sealed }));
      assert.ok(block?.type === "thinking");
      assert.equal(block.thinking, text);
      const back = fromThinking(block.thinking, block.signature);
      assert.equal(back.encrypted_content, sealed);
      assert.deepEqual(isSummary ? back.summary : back.content, Object.values(said)[0]);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it("comes back without its words if the client did not see them", () => {
    const property = fc.property(TEXT, SEALED, (text, sealed) => {
      const block = toHiddenThought(thought({ ...content(text), encrypted_content: sealed }));
      assert.ok(block && !block.data.includes(`"${text}"`) && isHiddenThought(block.data));
      assert.deepEqual(fromRedacted(block.data), {
        type: "reasoning",
        summary: [],
        content: [],
        encrypted_content: sealed,
      });
    });
    fc.assert(property, { numRuns: 100 });
  });

  it("has an empty signature if its vendor has sealed nothing, and is hidden then", () => {
    const open = thought(content("Hm"));
    assert.deepEqual(toThoughtBlock(open), { type: "thinking", thinking: "Hm", signature: "" });
    assert.equal(toHiddenThought(open), undefined);
  });

  it("is left out with nothing to show and nothing to keep", () => {
    assert.equal(toThoughtBlock(thought({})), undefined);
  });

  it("joins its pieces with an empty line", () => {
    const two = { summary: [...(summary("a").summary ?? []), ...(summary("b").summary ?? [])] };
    const block = toThoughtBlock(thought(two));
    assert.equal(block?.type === "thinking" && block.thinking, "a\n\nb");
  });
});

describe("a thought of Claude's", () => {
  // Signatures of other servers of ours look like envelopes.
  const SIGNATURE = fc.oneof(
    fc.stringMatching(/^[A-Za-z0-9+/=]{1,60}$/),
    fc.stringMatching(/^[A-Za-z0-9+/=]{1,60}$/).map((text) => `offshoot-s.${text}`),
  );

  it("comes back with its signature unchanged, also one that looks like ours", () => {
    const property = fc.property(fc.string(), SIGNATURE, (thinking, signature) => {
      const sealed = { type: "thinking", thinking, signature };
      const item = fromThinking(thinking, `offshoot-v.${signature}`);
      assert.deepEqual(unseal(SEALER, item.encrypted_content), sealed);
      const block = toThoughtBlock(thought(item as Partial<Reasoning>));
      assert.ok(block?.type === "thinking");
      const outer = signature.startsWith("offshoot-") ? `offshoot-v.${signature}` : signature;
      assert.deepEqual([block.thinking, block.signature], [thinking, outer]);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it("is kept whole, words and signature, for the vendor that wants the whole block", () => {
    const item = fromThinking("Hm", "EqQB");
    assert.deepEqual(item.content, [{ type: "reasoning_text", text: "Hm" }]);
    assert.deepEqual(unseal(SEALER, item.encrypted_content), {
      type: "thinking",
      thinking: "Hm",
      signature: "EqQB",
    });
  });

  it("stays redacted on its way to a client and back", () => {
    const item = fromRedacted("EmwK");
    const block = { type: "redacted_thinking", data: "EmwK" };
    assert.deepEqual(toThoughtBlock(thought(item as Partial<Reasoning>)), block);
    assert.deepEqual(toHiddenThought(thought(item as Partial<Reasoning>)), block);
    assert.ok(!isHiddenThought("EmwK"));
    assert.deepEqual(fromRedacted("offshoot-v.EmwK"), item);
  });

  it("without a signature is only its words", () => {
    for (const signature of [undefined, null, ""]) {
      assert.equal(fromThinking("Hm", signature).encrypted_content, undefined);
    }
  });
});
