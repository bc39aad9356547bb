/** Features of vendors beyond the published API: what reaches the vendors, and what answers show. */

import type { JsonObject } from "../../../src/base/json.ts";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import { toRunId } from "../../../src/responses/fold/response-object.ts";
import { reply } from "../../../src/testing/index.ts";
import type { Column } from "./cells.ts";
import { tool } from "./parameter-probes.ts";
import type { Probe, World } from "./probe.ts";
import { between } from "./words.ts";

const NEVER = /^\b$/;
const PAGE = { url: "https://one.example.org/", title: "One" };

/** A field of each vendor that this server has no parameter for: it is in the settings of its model. */
export const OWN_OPTIONS: Readonly<Record<Column, JsonObject>> = {
  embedded: {},
  chat: { seed: 4711 },
  responses: { max_tool_calls: 4711 },
  messages: { top_k: 4711 },
  gemini: { generationConfig: { seed: 4711 } },
  cohere: { seed: 4711 },
  ollama: { options: { seed: 4711 } },
  bedrock: { additionalModelRequestFields: { top_k: 4711 } },
  openrouter: { seed: 4711 },
};

/** Some vendors do not accept a strict tool without parameters. */
const STRICT: JsonObject = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};

export const OWN_HEADERS = { "x-zebra": "stripes" };

/** The bucket that clients may name, in the settings. */
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

const SEEN = { type: "input_text", text: "A zebra" };
const VIDEO = "data:video/mp4;base64,AAAAIGZ0eXBpc29t";
const HARM = "HARM_CATEGORY_HARASSMENT";

const showing = (part: JsonObject): JsonObject => ({
  input: [{ role: "user", content: [part, { type: "input_text", text: "What is it?" }] }],
});

/** The cost of the turn, by the record. */
async function isPriced({ id }: EmittedResponse, { server }: World): Promise<boolean> {
  const log = await server.responses.durable.record.readEvents(toRunId(id), -1, 1000);
  const turn = log.find(({ event }) => event.type === "turn_end")?.event;
  return turn?.type === "turn_end" && turn.cost_usd === TOLD_USD;
}

/** The cost that the scripted OpenRouter reports. */
const TOLD_USD = 0.0042;

const says =
  (form: RegExp) =>
  ({ output }: EmittedResponse): boolean =>
    form.test(JSON.stringify(output));

const hasHeader = (_: EmittedResponse, { upstream }: World): boolean =>
  upstream?.requests.at(-1)?.headers["x-zebra"] === "stripes";

export const FEATURE_PROBES: Readonly<Record<string, Probe>> = {
  "options (a field of the vendor's own)": {
    body: {},
    name: NEVER,
    sent: /\b4711\b/,
    otherwise: "none",
  },
  "headers (of the settings)": { body: {}, name: NEVER, shown: hasHeader, otherwise: "none" },
  "prompt_cache_retention (an hour and more)": {
    body: {
      ...showing({ ...SEEN, prompt_cache_breakpoint: { mode: "explicit" } }),
      prompt_cache_retention: "24h",
      instructions: "Answer in English.",
    },
    models: { bedrock: "claude" },
    name: /prompt_cache_retention/,
    sent: /"prompt_cache_retention":"24h"|"ttl":"1h"/,
  },
  "reasoning.effort (none)": {
    body: { reasoning: { effort: "none" } },
    name: /reasoning/,
    sent: /"thinking":\{"type":"disabled"|"thinking(Level|Budget)"|"effort":"none"|"think":false/,
    // A model that does not think by default needs no parameter.
    otherwise: "yes",
  },
  "function (strict)": {
    body: { tools: [{ ...tool("zebra_tool"), parameters: STRICT }] },
    name: NEVER,
    sent: /"strict(_tools)?":true/,
    otherwise: "none",
  },
  "function_call_output (failed)": {
    body: {
      tools: [tool("zebra")],
      ...between(
        { type: "function_call", call_id: "call_1", name: "zebra", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "call_1",
          output: "It broke.",
          status: "incomplete",
        },
      ),
    },
    name: NEVER,
    sent: /"is_error":true|"status":"(error|incomplete)"|"error":"It broke/,
    otherwise: "none",
  },
  "citations of an answer": {
    body: {},
    name: NEVER,
    otherwise: "none",
    answer: () => reply.searched({ query: "colour", pages: [PAGE] }, "It is blue."),
    shown: says(/"type":"url_citation".*one\.example\.org/),
  },
  "pictures of an answer": {
    body: {},
    name: NEVER,
    otherwise: "none",
    answer: () => reply.picture("iVBORw0KGgo=", "A dot."),
    shown: says(/"type":"image_generation_call".*"result":"iVBORw0KGgo="/),
  },
  "input_file (gs:// address)": {
    body: asked(`gs://${BUCKET}/a.pdf`),
    name: NEVER,
    sent: /gs:\/\/zebra-bucket/,
  },
  "input_file (s3:// address)": {
    body: asked(`s3://${BUCKET}/a.pdf`),
    name: NEVER,
    sent: /s3:\/\/zebra-bucket/,
  },
  "input_file (YouTube address)": {
    body: asked("https://www.youtube.com/watch?v=zebra"),
    name: NEVER,
    sent: /"mimeType":"video\/[^}]*youtube\.com\/watch\?v=zebra|youtube\.com\/watch\?v=zebra[^}]*"mimeType":"video\//,
  },
  "input_file (data, video)": {
    body: showing({ type: "input_file", filename: "a.mp4", file_data: VIDEO }),
    name: /input_file/,
    sent: /"video":\{"format":"mp4"|"mimeType":"video\/mp4"/,
    // The API has no videos, so the vendor refuses the file.
    otherwise: "none",
  },
  "prompt_cache_breakpoint (own cache points)": {
    body: showing({ ...SEEN, prompt_cache_breakpoint: { mode: "explicit" } }),
    models: { bedrock: "claude" },
    name: /prompt_cache_breakpoint/,
    sent: /zebra[^{]*"(prompt_cache_breakpoint|cache_control)":\{|zebra"\},\{"cachePoint"/,
  },
  safetySettings: {
    body: { safetySettings: [{ category: HARM, threshold: "BLOCK_ONLY_HIGH" }] },
    name: /safetySettings/,
    sent: /"safetySettings":\[\{"category":"HARM_CATEGORY_/,
  },
  guardrailConfig: {
    body: { guardrailConfig: { guardrailIdentifier: "zebra", guardrailVersion: "1" } },
    name: /guardrailConfig/,
    sent: /"guardrailConfig":\{"guardrailIdentifier":"zebra"/,
  },
  "provider (routing of OpenRouter)": {
    body: { provider: { order: ["zebra"] } },
    name: /provider/,
    sent: /"provider":\{"order":\["zebra"\]/,
  },
  "cost of an answer (told by the vendor)": {
    body: {},
    name: NEVER,
    shown: isPriced,
    otherwise: "none",
  },
};
