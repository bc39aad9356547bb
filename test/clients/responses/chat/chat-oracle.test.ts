/** Chat requests and answers, checked against the published description of both APIs. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OpenAI } from "openai";
import { toChatCompletion } from "../../../../src/responses/chat/chat-completion.ts";
import { toCreateResponse } from "../../../../src/responses/chat/parse-chat.ts";
import { checkPublished } from "../../../conformance/check.ts";
import { ANSWERS, chunksOf, eventsOf, likelyEvents } from "../../../responses/chat/chat-runs.ts";
import { lastResponse } from "../../../responses/fold/written-events.ts";

/**
 * Where the description differs from what its own service sends: a fingerprint is null if there is none.
 * Custom calls in a stream are not described at all.
 */
function described<Sent extends { system_fingerprint: null }>(sent: Sent): object {
  const { system_fingerprint: _, ...rest } = sent;
  return rest;
}

describe("chat answers against the published description", () => {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    for (const ending of ["completed", "max_turns", "refused"] as const) {
      it(`are valid, whole and in chunks: ${name}, ${ending}`, () => {
        const events = eventsOf(answer, { ending });
        for (const calls of ["tool_calls", "function_call"] as const) {
          const completion = toChatCompletion(lastResponse(events), { calls });
          checkPublished("CreateChatCompletionResponse", described(completion));
          for (const chunk of chunksOf(events, { calls, includeUsage: true })) {
            if (chunk.choices[0]?.delta.tool_calls?.[0]?.type === "custom") continue;
            checkPublished("CreateChatCompletionStreamResponse", described(chunk));
          }
        }
      });
    }
  }

  it("are valid with probabilities", () => {
    const events = likelyEvents();
    const completion = toChatCompletion(lastResponse(events));
    checkPublished("CreateChatCompletionResponse", described(completion));
    for (const chunk of chunksOf(events)) {
      checkPublished("CreateChatCompletionStreamResponse", described(chunk));
    }
  });
});

describe("chat requests against the published description", () => {
  const schema = { type: "object", properties: {} };
  /** Every parameter and every kind of message of the published API. */
  const body: OpenAI.Chat.ChatCompletionCreateParams = {
    model: "gpt-x",
    messages: [
      { role: "system", content: "A" },
      { role: "developer", content: [{ type: "text", text: "B" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "C" },
          { type: "image_url", image_url: { url: "https://x.org/a.png", detail: "high" } },
          { type: "file", file: { filename: "a.pdf", file_data: "AA==" } },
        ],
      },
      {
        role: "assistant",
        content: "D",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "f", arguments: "{}" } },
          { id: "c2", type: "custom", custom: { name: "sql", input: "x" } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "1" },
      { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "2" }] },
      { role: "assistant", content: null, function_call: { name: "g", arguments: "{}" } },
      { role: "function", name: "g", content: "3" },
    ],
    frequency_penalty: 0.1,
    functions: [{ name: "g", parameters: schema }],
    logit_bias: { "1": 1 },
    logprobs: true,
    max_completion_tokens: 100,
    metadata: { a: "b" },
    modalities: ["text"],
    n: 1,
    parallel_tool_calls: true,
    prediction: { type: "content", content: "x" },
    presence_penalty: 0.1,
    prompt_cache_key: "k",
    prompt_cache_retention: "24h",
    reasoning_effort: "low",
    response_format: { type: "json_schema", json_schema: { name: "a", schema, strict: true } },
    safety_identifier: "s",
    seed: 1,
    service_tier: "flex",
    stop: ["END"],
    store: false,
    stream: true,
    stream_options: { include_usage: true, include_obfuscation: false },
    temperature: 0.5,
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] },
    },
    tools: [
      { type: "function", function: { name: "f", parameters: schema, strict: true } },
      {
        type: "custom",
        custom: {
          name: "sql",
          format: { type: "grammar", grammar: { syntax: "regex", definition: "x" } },
        },
      },
    ],
    top_logprobs: 2,
    top_p: 0.9,
    user: "u",
    verbosity: "low",
    web_search_options: { search_context_size: "low" },
  };

  it("become valid requests of the Responses API", () => {
    checkPublished("CreateChatCompletionRequest", body);
    checkPublished("CreateResponse", toCreateResponse(body).request);
  });

  it("lose nothing: fields that only vendors of chat know are passed on to them", () => {
    const { request, ignored } = toCreateResponse(body);
    assert.deepEqual(ignored, []);
    for (const name of ["logit_bias", "prediction", "seed"]) assert.ok(name in request, name);
  });
});
