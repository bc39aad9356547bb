import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CompletionDelta } from "../../../src/responses/chat/chat-chunk.ts";
import {
  type ChatCompletion,
  toChatCompletion,
} from "../../../src/responses/chat/chat-completion.ts";
import { createChatWriter } from "../../../src/responses/chat/chat-writer.ts";
import { lastResponse, write } from "../fold/written-events.ts";
import { message, runFailure, runStart, turn } from "../logged-run.ts";
import { ANSWERS, call, chunksOf, deltasOf, eventsOf, likelyEvents } from "./chat-runs.ts";

/** The message that a client puts together from the deltas of a stream. */
function joined(deltas: readonly CompletionDelta[]): object {
  const join = (field: "content" | "refusal" | "reasoning_content" | "reasoning"): string =>
    deltas.map((delta) => delta[field] ?? "").join("");
  const calls: { id?: string; type?: string; name?: string; text: string }[] = [];
  for (const { tool_calls } of deltas) {
    for (const { index, id, type, function: f, custom } of tool_calls ?? []) {
      const known = calls[index] ?? { text: "" };
      calls[index] = known;
      if (id && type) Object.assign(known, { id, type, name: f?.name ?? custom?.name });
      known.text += f?.arguments ?? custom?.input ?? "";
    }
  }
  return {
    content: join("content"),
    refusal: join("refusal"),
    thought: join("reasoning_content"),
    again: join("reasoning"),
    annotations: deltas.flatMap(({ annotations = [] }) => annotations),
    calls,
  };
}

function messageOf({ choices: [choice] }: ChatCompletion): object {
  assert.ok(choice);
  const { content, refusal, annotations, tool_calls = [] } = choice.message;
  const { reasoning_content, reasoning } = choice.message;
  assert.equal(reasoning, reasoning_content, "told under one name alone");
  return {
    content: content ?? "",
    refusal: refusal ?? "",
    thought: reasoning_content ?? "",
    again: reasoning ?? "",
    annotations,
    calls: tool_calls.map((made) => {
      const { id, type } = made;
      return made.type === "custom"
        ? { id, type, name: made.custom.name, text: made.custom.input }
        : { id, type, name: made.function.name, text: made.function.arguments };
    }),
  };
}

describe("a chat completion", () => {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    it(`is the end of its stream: ${name}`, () => {
      const events = eventsOf(answer);
      const completion = toChatCompletion(lastResponse(events));
      assert.deepEqual(messageOf(completion), joined(deltasOf(events)));
      const [first] = chunksOf(events);
      assert.equal(completion.id, first?.id);
      assert.equal(completion.created, first?.created);
    });
  }

  it("a chat completion has every field of the API", () => {
    const response = {
      ...lastResponse(eventsOf(message(0, "Hi"))),
      metadata: { a: "b" },
      service_tier: "flex" as const,
    };
    const { usage, ...rest } = toChatCompletion(response, { model: "fast" });
    assert.equal(usage?.total_tokens, 1234);
    assert.deepEqual(rest, {
      id: "chatcmpl-01",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "fast",
      service_tier: "flex",
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hi", refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      metadata: { a: "b" },
    });
  });

  it("goes by the response's own model where no other name is given", () => {
    const response = lastResponse(eventsOf([]));
    assert.equal(toChatCompletion(response).model, response.model);
  });

  const contents: Readonly<Record<string, string | null>> = {
    "nothing at all": "",
    "a refusal": null,
    "two calls": null,
    "text and a call": "Look.",
  };
  for (const [name, content] of Object.entries(contents)) {
    it(`has the content ${JSON.stringify(content)} for ${name}`, () => {
      const response = lastResponse(eventsOf(ANSWERS[name] ?? []));
      assert.equal(toChatCompletion(response).choices[0]?.message.content, content);
    });
  }

  it("has the probabilities of all its tokens", () => {
    const { choices } = toChatCompletion(lastResponse(likelyEvents()));
    const tokens = choices[0]?.logprobs?.content.map(({ token }) => token);
    assert.deepEqual(tokens, ["Hel", "lo"]);
    assert.equal(choices[0]?.logprobs?.refusal, null);
  });

  it("has one call in the older form", () => {
    const response = lastResponse(eventsOf(ANSWERS["two calls"] ?? []));
    const [choice] = toChatCompletion(response, { calls: "function_call" }).choices;
    assert.deepEqual(choice?.message.function_call, { name: call.name, arguments: "{}" });
    assert.equal(choice?.message.tool_calls, undefined);
    assert.equal(choice?.finish_reason, "function_call");
  });

  it("is refused if the response has no answer", () => {
    const failed = lastResponse(write(runStart(), ...turn(1), runFailure("It broke.")));
    const busy = { ...failed, error: { code: "rate_limit_exceeded" as const, message: "Busy." } };
    const cancelled = lastResponse(eventsOf(message(0, "A"), { ending: "cancelled" }));
    const running = lastResponse(write(runStart()));
    assert.throws(() => toChatCompletion(failed), {
      code: "provider_failed",
      message: "It broke.",
      vendorCode: "server_error",
    });
    assert.throws(() => toChatCompletion(busy), { code: "provider_overloaded" });
    assert.throws(() => toChatCompletion(cancelled), { code: "cancelled" });
    assert.throws(() => toChatCompletion(running), { code: "internal" });
    const unbegun = createChatWriter({ model: "m", includeUsage: false });
    assert.throws(() => unbegun.completion(), { code: "internal" });
  });
});
