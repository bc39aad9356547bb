/** How many model calls the choices of one chat make at once. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import {
  type AskedChoices,
  completeChoices,
  streamChoices,
} from "../../../src/responses/chat/chat-choices.ts";
import { patience } from "../../patience.ts";

/** Choices that wait until all that may begin have begun, and then fail. */
function open(concurrent: number | undefined): { asked: AskedChoices; most: () => number } {
  let begun = 0;
  let most = 0;
  const asked = {
    count: 20,
    concurrent,
    ignored: [],
    answer: { calls: "tools" },
    tell: (response: unknown) => response,
    async begin() {
      begun++;
      most = Math.max(most, begun);
      await new Promise(setImmediate);
      throw new Failure("provider_failed", "No.");
    },
  } as unknown as AskedChoices;
  return { asked, most: () => most };
}

describe("the choices of a chat", () => {
  for (const [concurrent, expected] of [
    [undefined, 8],
    [100, 8],
    [2, 2],
    [1, 1],
  ] as const) {
    it(`are asked for ${expected} at once where a key may have ${concurrent ?? "any number"}`, async () => {
      const whole = open(concurrent);
      await assert.rejects(completeChoices(whole.asked, patience()), { code: "provider_failed" });
      assert.equal(whole.most(), expected);
      const streamed = open(concurrent);
      const parts = { signal: patience(), onBegin: () => {} };
      await assert.rejects(streamChoices(streamed.asked, parts).next(), {
        code: "provider_failed",
      });
      assert.equal(streamed.most(), expected);
    });
  }
});
