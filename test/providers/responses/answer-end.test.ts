import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import type { Quirks } from "../../../src/providers/wire.ts";
import { decodeAll, endOf } from "../streams.ts";
import {
  added,
  call,
  completed,
  created,
  createResponsesDecoder,
  decode,
  done,
  message,
} from "./wire-events.ts";

describe("the end of a responses answer", () => {
  const refusal = {
    type: "response.refusal.delta",
    output_index: 0,
    content_index: 0,
    delta: "No.",
  };
  const incomplete = (reason: string): object => ({
    type: "response.incomplete",
    response: { status: "incomplete", incomplete_details: { reason } },
  });
  const cases = [
    ["stop", [completed()]],
    ["tool_calls", [added(0, call), done(0, call), completed()]],
    ["refusal", [added(0, message), refusal, done(0, message), completed()]],
    ["length", [incomplete("max_output_tokens")]],
    ["length", [incomplete("something_new")]],
    ["refusal", [incomplete("content_filter")]],
  ] as const;
  for (const [reason, payloads] of cases) {
    it(`is \`${reason}\` after ${payloads.map(({ type }: { type?: string }) => type).join(", ")}`, () => {
      assert.equal(endOf(decode(created, ...payloads)).reason, reason);
    });
  }

  it("is broken if a call names no tool", () => {
    const { name: _, ...nameless } = call;
    for (const payloads of [
      [added(0, nameless), done(0, nameless), completed()],
      [done(0, nameless), completed()],
      [completed({ output: [nameless] })],
    ]) {
      assert.throws(() => decodeAll(createResponsesDecoder(), created, ...payloads), {
        code: "broken_answer",
        message: /without the name/,
      });
    }
    assert.equal(
      endOf(decode(created, added(0, call), done(0, nameless), completed())).reason,
      "tool_calls",
    );
  });

  it("the end of a Responses answer counts its tokens", () => {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 15,
    };
    assert.deepEqual(
      endOf(decode(created, completed({ usage }))).usage,
      toUsage({ input: 10, cached: 4, output: 5, reasoning: 3 }),
    );
    for (const thin of [null, {}, { input_tokens: 1, input_tokens_details: null }]) {
      assert.equal(endOf(decode(created, completed({ usage: thin }))).usage.output_tokens, 0);
    }
  });

  const stores: readonly [quirks: Quirks, response: object, stored: boolean][] = [
    [{}, {}, false],
    [{ store: true }, {}, true],
    [{ store: true }, { store: true }, true],
    [{ store: true }, { store: false }, false],
  ];
  for (const [quirks, response, stored] of stores) {
    it(`is ${stored ? "" : "not "}stored: ${JSON.stringify([quirks, response])}`, () => {
      const events = decodeAll(createResponsesDecoder({}, quirks), created, completed(response));
      assert.equal(endOf(events).continuation?.stored, stored);
    });
  }

  it("names no answer to continue if it has no id, or if everything is sent again", () => {
    const nameless = { type: "response.completed", response: {} };
    assert.equal(endOf(decode(nameless)).continuation, undefined);
    const replayed = decodeAll(
      createResponsesDecoder({ continuation: "replay" }),
      created,
      completed(),
    );
    assert.equal(endOf(replayed).continuation, undefined);
  });

  it("comes once, whatever is sent after it", () => {
    decode(created, completed(), completed(), created, added(0, message), "[DONE]");
  });

  it("that never comes breaks the protocol", () => {
    for (const payloads of [[], [created], [created, added(0, message)], ["[DONE]"]]) {
      assert.throws(() => decodeAll(createResponsesDecoder(), ...payloads), {
        code: "provider_broke_protocol",
      });
    }
  });

  const errors: readonly [payload: object, code: FailureCode][] = [
    [{ type: "error", code: "rate_limit_exceeded", message: "Busy" }, "provider_overloaded"],
    [
      { type: "error", error: { code: "rate_limit_exceeded", message: "Busy" } },
      "provider_overloaded",
    ],
    [
      { type: "error", error: { code: "context_length_exceeded", message: "Long" } },
      "context_exceeded",
    ],
    [
      { type: "error", error: { code: "insufficient_quota", message: "No money" } },
      "provider_rejected",
    ],
    [{ type: "error", message: "Broke" }, "provider_failed"],
    [
      { type: "response.failed", response: { error: { code: "server_error", message: "Broke" } } },
      "provider_failed",
    ],
    [
      {
        type: "response.failed",
        response: { error: { code: "rate_limit_exceeded", message: "Busy" } },
      },
      "provider_overloaded",
    ],
    [{ type: "response.failed", response: {} }, "provider_failed"],
    [
      { object: "response", status: "failed", error: { code: "server_error", message: "B" } },
      "provider_failed",
    ],
    [{ error: { message: "Broke" } }, "provider_failed"],
  ];
  for (const [payload, code] of errors) {
    it(`is \`${code}\` for ${JSON.stringify(payload)}`, () => {
      assert.throws(() => decode(created, payload), { code });
    });
  }

  it("ignores lines that are not JSON or not events", () => {
    decode("nonsense", created, "null", "3", "[]", {}, '{"type":', completed(), "[DONE]");
  });
});
