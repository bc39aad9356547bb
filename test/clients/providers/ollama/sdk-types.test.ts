/**
 * What we send to Ollama, checked against the types of its own client. The compiler does the work: this
 * file does not compile if one of the claims below is wrong.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ChatRequest, ChatResponse, ListResponse, ProgressResponse } from "ollama";
import { toRequest } from "../../../../src/providers/ollama/encode.ts";
import type { OllamaChunk, OllamaRequest } from "../../../../src/providers/ollama/schema.ts";
import { request } from "../../../providers/provider-contract.ts";

/** Our value after JSON: without `undefined`, and mutable. */
type Sent<Value> = string extends keyof Value
  ? Value
  : Value extends readonly (infer Entry)[]
    ? Sent<Entry>[]
    : Value extends object
      ? { -readonly [Key in keyof Value]: Sent<Exclude<Value[Key], undefined>> }
      : Value;

/** A type that exists only if `Ours` fits where `Expected` is wanted. */
type Fits<Ours extends Expected, Expected> = [Ours, Expected];

/** The fields of an answer that the client documents are those that the decoder reads. */
type Read = Pick<
  ChatResponse,
  "model" | "done" | "done_reason" | "prompt_eval_count" | "eval_count"
>;

export type Claims = [
  Fits<Sent<OllamaRequest>, ChatRequest>,
  Fits<keyof Sent<OllamaRequest>, keyof ChatRequest | "truncate" | "shift">,
  Fits<Read, OllamaChunk>,
  Fits<ChatResponse["message"], NonNullable<OllamaChunk["message"]>>,
  Fits<"name" | "size" | "details", keyof ListResponse["models"][number]>,
  Fits<"status" | "digest" | "total" | "completed", keyof ProgressResponse>,
];

describe("a request to ollama", () => {
  it("is one that its client could have sent", () => {
    const body: OllamaRequest = toRequest(request({ max_output_tokens: 5 }), {});
    const sent: ChatRequest = JSON.parse(JSON.stringify(body));
    assert.deepEqual(sent.options, { num_predict: 5 });
  });
});
