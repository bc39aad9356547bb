/** What vendors have beyond the published API: what of it reaches them, and what of it is seen in answers. */

import type { JsonObject } from "../../../src/base/json.ts";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import { reply } from "../../../src/testing/index.ts";
import type { Column } from "./cells.ts";
import { tool } from "./parameter-probes.ts";
import type { Probe, World } from "./probe.ts";
import { between } from "./words.ts";

const NEVER = /^\b$/;
const PAGE = { url: "https://one.example.org/", title: "One" };

/** A field that each vendor has and this server has no word for: it stands in the settings of its model. */
export const OWN_OPTIONS: Readonly<Record<Column, JsonObject>> = {
  embedded: {},
  chat: { seed: 4711 },
  responses: { max_tool_calls: 4711 },
  messages: { top_k: 4711 },
  gemini: { generationConfig: { seed: 4711 } },
  cohere: { seed: 4711 },
  ollama: { options: { seed: 4711 } },
  bedrock: { additionalModelRequestFields: { top_k: 4711 } },
};

/** Some vendors take no tool strictly that asks for nothing. */
const STRICT: JsonObject = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};

export const OWN_HEADERS = { "x-zebra": "stripes" };

/** The bucket that clients may name, as the settings have it. */
export const BUCKET = "zebra-bucket";

const asked = (file_url: string): JsonObject => ({
  input: [
    {
      role: "user",
      content: [
        { type: "input_text", text: "What is it?" },
        { type: "input_file", filename: "a.pdf", file_url },
      ],
    },
  ],
});

const says =
  (form: RegExp) =>
  ({ output }: EmittedResponse): boolean =>
    form.test(JSON.stringify(output));

const hasHeader = (_: EmittedResponse, { upstream }: World): boolean =>
  upstream?.requests.at(-1)?.headers["x-zebra"] === "stripes";

export const FEATURE_PROBES: Readonly<Record<string, Probe>> = {
  "options (a field of the vendor's own)": {
    ...{ body: {}, name: NEVER, sent: /\b4711\b/, otherwise: "none" },
  },
  "headers (of the settings)": { body: {}, name: NEVER, shown: hasHeader, otherwise: "none" },
  "prompt_cache_retention (an hour and more)": {
    body: { prompt_cache_retention: "24h", instructions: "Answer in English." },
    ...{ name: /prompt_cache_retention/, sent: /"prompt_cache_retention":"24h"|"ttl":"1h"/ },
  },
  "reasoning.effort (none)": {
    body: { reasoning: { effort: "none" } },
    name: /reasoning/,
    sent: /"thinking":\{"type":"disabled"|"thinking(Level|Budget)"|"effort":"none"|"think":false/,
    // A model that does not think unasked needs no word.
    otherwise: "yes",
  },
  "function (strict)": {
    body: { tools: [{ ...tool("zebra_tool"), parameters: STRICT }] },
    ...{ name: NEVER, sent: /"strict(_tools)?":true/, otherwise: "none" },
  },
  "function_call_output (failed)": {
    body: {
      tools: [tool("zebra")],
      ...between(
        { type: "function_call", call_id: "call_1", name: "zebra", arguments: "{}" },
        {
          ...{ type: "function_call_output", call_id: "call_1", output: "It broke." },
          status: "incomplete",
        },
      ),
    },
    name: NEVER,
    sent: /"is_error":true|"status":"(error|incomplete)"|"error":"It broke/,
    otherwise: "none",
  },
  "citations of an answer": {
    ...{ body: {}, name: NEVER, otherwise: "none" },
    answer: () => reply.searched({ query: "colour", pages: [PAGE] }, "It is blue."),
    shown: says(/"type":"url_citation".*one\.example\.org/),
  },
  "pictures of an answer": {
    ...{ body: {}, name: NEVER, otherwise: "none" },
    answer: () => reply.picture("iVBORw0KGgo=", "A dot."),
    shown: says(/"type":"image_generation_call".*"result":"iVBORw0KGgo="/),
  },
  "input_file (gs:// address)": {
    ...{ body: asked(`gs://${BUCKET}/a.pdf`), name: NEVER, sent: /gs:\/\/zebra-bucket/ },
  },
  "input_file (s3:// address)": {
    ...{ body: asked(`s3://${BUCKET}/a.pdf`), name: NEVER, sent: /s3:\/\/zebra-bucket/ },
  },
};
