import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { toMessagesFailure } from "../../../src/responses/messages/messages-failure.ts";

const ESTIMATE = 9500;

function told(message: string, contextTokens?: number): string {
  return toMessagesFailure(new Failure("context_exceeded", message), {
    estimate: () => ESTIMATE,
    upstream: { contextTokens },
    request: {},
  }).message;
}

describe("the numbers of a conversation that does not fit", () => {
  const ROWS: readonly (readonly [string, number | undefined, string])[] = [
    ["`gpt-4o-2024-08-06` takes 8192 tokens, got 9001.", undefined, "9001 tokens > 8192"],
    ["gpt-4o-2024-08-06: the prompt is too long.", 8192, "9500 tokens > 8192"],
    ["gpt-4o-2024-08-06: the prompt is too long.", undefined, "9500 tokens > 9499"],
    ["model_20240806 takes 8192 tokens, got 9001.", undefined, "9001 tokens > 8192"],
    ["Since 2024-08-06 at most 8192 tokens, got 9001.", undefined, "9001 tokens > 8192"],
    ["The 8192-token limit: got 9,001 tokens.", undefined, "9001 tokens > 8192"],
    ["(limit=8192, got=9001)", undefined, "9001 tokens > 8192"],
    // The known window says which of several numbers is the request's.
    ["Got 9001 tokens, 1500 of them in tools.", 8192, "9001 tokens > 8192"],
    ["Got 9001 tokens.", 8192, "9001 tokens > 8192"],
    // A server may have started the model with a smaller window than the model has.
    ["At most 8192 tokens, got 9001.", 128_000, "9001 tokens > 8192"],
  ];
  for (const [message, window, numbers] of ROWS) {
    const known = window === undefined ? "of an unknown window" : `of a window of ${window}`;
    it(`are not those of names and dates: ${message} ${known}`, () => {
      assert.equal(told(message, window), `prompt is too long: ${numbers} maximum`);
    });
  }
});
