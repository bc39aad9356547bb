/**
 * Our answers with OpenAI's own client: checked against its types by the compiler, and read by its stream
 * reader.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OpenAI } from "openai";
import type { CompletionChunk } from "../../../../src/responses/chat/chat-chunk.ts";
import {
  type ChatCompletion,
  toChatCompletion,
} from "../../../../src/responses/chat/chat-completion.ts";
import { ANSWERS, eventsOf, framesOf } from "../../../responses/chat/chat-runs.ts";
import { lastResponse, write } from "../../../responses/fold/written-events.ts";
import { runFailure, runStart, turn } from "../../../responses/logged-run.ts";

/** A type that exists only if `Ours` fits where `Expected` is wanted. */
type Fits<Ours extends Expected, Expected> = [Ours, Expected];

/**
 * Their type has no fingerprint of null, which their service sends, and a tier less than their Responses
 * API.
 */
type Sent<Answer> = Omit<Answer, "system_fingerprint" | "service_tier">;

export type Claims = [
  Fits<Sent<ChatCompletion>, OpenAI.Chat.ChatCompletion>,
  Fits<Sent<CompletionChunk>, OpenAI.Chat.ChatCompletionChunk>,
];

const params = { model: "m", messages: [{ role: "user" as const, content: "Hi" }] };

/** A client whose server answers with these frames. */
function clientOf(frames: readonly string[]): OpenAI {
  const body = [...frames, "[DONE]"].map((frame) => `data: ${frame}\n\n`).join("");
  const headers = { "content-type": "text/event-stream" };
  return new OpenAI({
    apiKey: "none",
    baseURL: "http://127.0.0.1/v1",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(body, { headers })),
  });
}

describe("OpenAI's client", () => {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    it(`joins the chunks to the plain answer: ${name}`, async () => {
      const events = eventsOf(answer);
      const stream = clientOf(framesOf(events, { includeUsage: true })).chat.completions.stream(
        params,
      );
      const read = await stream.finalChatCompletion();
      const meant = toChatCompletion(lastResponse(events), { model: "m" });
      const [theirs] = read.choices;
      const [ours] = meant.choices;
      assert.ok(theirs && ours);
      assert.equal(theirs.finish_reason, ours.finish_reason);
      assert.equal(theirs.message.content || null, ours.message.content || null);
      assert.equal(theirs.message.refusal ?? null, ours.message.refusal);
      assert.deepEqual(callsIn(theirs.message), callsIn(ours.message));
      assert.equal(read.usage?.total_tokens, 1234);
      assert.equal(read.id, meant.id);
    });
  }

  it("throws the error of a stream", async () => {
    const events = write(runStart(), ...turn(1), runFailure("It broke."));
    const stream = clientOf(framesOf(events)).chat.completions.stream(params);
    await assert.rejects(stream.finalChatCompletion(), /It broke\./);
  });
});

/** Without what their client parses into them. */
function callsIn({ tool_calls = [] }: OpenAI.Chat.ChatCompletionMessage): object[] {
  return tool_calls.map((call) => {
    if (call.type === "custom") return call;
    const { name, arguments: text } = call.function;
    return { ...call, function: { name, arguments: text } };
  });
}
