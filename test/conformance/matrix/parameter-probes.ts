/** Every parameter of a request, each with a value that is recognized where it arrives. */

import type { JsonObject } from "../../../src/base/json.ts";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import { reply } from "../../../src/testing/index.ts";
import type { Probe, World } from "./probe.ts";

const SCHEMA = {
  type: "object",
  properties: { zebra: { type: "number" } },
  required: ["zebra"],
  additionalProperties: false,
};

export const tool = (name: string): JsonObject => ({
  type: "function",
  name,
  description: "Does it.",
  strict: true,
  parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
});

const NEVER = /^\b$/;

/** The window of every model of the matrix. */
export const WINDOW_TOKENS = 20_000;

/** Parameters that a server handles by itself, whatever the provider. */
const kept = async ({ id }: EmittedResponse, { server }: World): Promise<boolean> =>
  (await server.ask("GET", `/v1/responses/${id}`)).status === 200;

/** The model was given more to read than the greeting; the embedded one counts its input. */
export const readMore = ({ usage }: EmittedResponse): boolean => (usage?.input_tokens ?? 0) > 6;

/** The sent text is the proof: a scripted model gives the same answer to every request. */
const byItself =
  (isDone: (response: EmittedResponse) => boolean) =>
  (response: EmittedResponse, { upstream }: World): boolean =>
    upstream === undefined && isDone(response);

const count = (response: EmittedResponse, type: string): number =>
  response.output.filter((item) => item.type === type).length;

const sampling: Readonly<Record<string, Probe>> = {
  temperature: { body: { temperature: 0.37 }, name: /temperature/, sent: /0\.37/ },
  top_p: { body: { top_p: 0.83 }, name: /top_p/, sent: /0\.83/ },
  stop: { body: { stop: ["STOPWORD"] }, name: /stop/, sent: /STOPWORD/ },
  frequency_penalty: {
    body: { frequency_penalty: 0.61 },
    name: /frequency_penalty/,
    sent: /0\.61/,
  },
  presence_penalty: {
    body: { presence_penalty: 0.62 },
    name: /presence_penalty/,
    sent: /0\.62/,
  },
  top_logprobs: {
    body: { top_logprobs: 3, include: ["message.output_text.logprobs"] },
    name: /top_logprobs/,
    sent: /logprobs/i,
  },
  max_output_tokens: {
    body: { max_output_tokens: 77 },
    name: /max_output_tokens/,
    sent: /\b77\b/,
    shown: byItself(({ usage }) => (usage?.output_tokens ?? 100) <= 77),
  },
};

const words: Readonly<Record<string, Probe>> = {
  "input (text)": {
    body: { input: "Marked words of mine." },
    name: NEVER,
    sent: /Marked words/,
    shown: readMore,
  },
  instructions: {
    body: { instructions: "Speak in marked words, and in no others." },
    name: NEVER,
    sent: /marked words/,
    shown: readMore,
  },
  prompt: {
    body: { input: undefined as never, prompt: { id: "greet", variables: { who: "Zoë" } } },
    name: /prompt/,
    sent: /Marked Zoë/,
    shown: readMore,
  },
  "text.format (json_object)": {
    body: { input: "Convert to JSON: zebra: 1", text: { format: { type: "json_object" } } },
    answer: () => reply.text('{"zebra":1}'),
    name: /text\.format/,
    sent: /json_object|"application\/json"|"format":"json"|"schema"/i,
    bridged: /one JSON document|"inputSchema"/,
    shown: byItself(({ output_text }) => isJson(output_text)),
  },
  "text.format (json_schema)": {
    body: {
      input: "Extract the zebra: zebra: 1",
      text: { format: { type: "json_schema", name: "out", schema: SCHEMA, strict: true } },
    },
    answer: () => reply.text('{"zebra":1}'),
    name: /text\.format/,
    sent: /properties\\?":\{\\?"zebra/,
    shown: byItself(({ output_text }) => isJson(output_text)),
  },
  "text.verbosity": {
    body: { text: { verbosity: "low" } },
    name: /text\.verbosity/,
    sent: /verbosity/,
  },
  "reasoning.effort": {
    body: { reasoning: { effort: "high" } },
    name: /reasoning|effort/,
    sent: /"(reasoning_?effort|effort|think|thinking|thinkingLevel|thinking_?config)"/i,
    shown: (response) => count(response, "reasoning") === 1,
  },
  "reasoning.summary": {
    body: { reasoning: { effort: "high", summary: "detailed" } },
    answer: () => reply.reasoning("Marked thought.", reply.text("Yes.")),
    name: /summary/,
    shown: (response) => count(response, "reasoning") > 0,
  },
};

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

const calls: Readonly<Record<string, Probe>> = {
  "tool_choice (none)": {
    body: { tools: [tool("alpha")], tool_choice: "none" },
    name: /tool_choice/,
    sent: /"none"/i,
    // If a vendor does not support it, the tools are not offered.
    shown: (response, world) => count(response, "function_call") === 0 && !sees(world, "alpha"),
  },
  "tool_choice (required)": {
    body: { tools: [tool("alpha")], tool_choice: "required" },
    answer: () => reply.calls([{ name: "alpha", arguments: {} }]),
    name: /tool_choice/,
    sent: /"(required|any)"/i,
    shown: byItself((response) => count(response, "function_call") > 0),
  },
  "tool_choice (a function)": {
    body: { tools: [tool("alpha"), tool("beta")], tool_choice: { type: "function", name: "beta" } },
    answer: () => reply.calls([{ name: "beta", arguments: {} }]),
    name: /tool_choice/,
    sent: /(tool_?choice|toolConfig|allowedFunctionNames).*beta/i,
    // A model that must call something, and is offered only this tool, must call it.
    shown: ({ output }, world) =>
      world.upstream
        ? isForced(world) && sees(world, "beta") && !sees(world, "alpha")
        : output.some((item) => "name" in item && item.name === "beta"),
  },
  "tool_choice (allowed_tools)": {
    body: {
      tools: [tool("alpha"), tool("beta")],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "beta" }],
      },
    },
    name: /tool_choice/,
    sent: /allowed_?(tools|FunctionNames)/i,
    shown: (_, world) => world.upstream === undefined || !sees(world, "alpha"),
  },
  parallel_tool_calls: {
    body: { tools: [tool("alpha"), tool("beta")], parallel_tool_calls: false },
    name: /parallel_tool_calls/,
    sent: /parallel_?tool_?(calls|use)/i,
    shown: byItself((response) => count(response, "function_call") <= 1),
  },
  max_tool_calls: {
    body: {
      max_tool_calls: 1,
      tools: [{ type: "mcp", server_label: "offshoot", require_approval: "never" }],
    },
    answer: ({ tools, items }) => {
      const names = tools.flatMap((one) => (one.type === "function" ? one.name : []));
      const name = names.find((one) => one.includes("bash_read"));
      const isDone = items.some(({ type }) => type === "function_call_output");
      if (isDone || name === undefined) return reply.text("Done.");
      const call = { name, arguments: { filepath: "notes.txt" } };
      return reply.calls([call, call, call]);
    },
    name: /max_tool_calls/,
    // A scripted model makes three calls; the embedded one makes none.
    shown: (response, { upstream }) => count(response, "mcp_call") === (upstream ? 1 : 0),
  },
};

function isForced({ upstream }: World): boolean {
  return upstream?.requests.at(-1)?.text.includes('"tool_choice":"REQUIRED"') ?? false;
}

/** True if the model was last offered a tool of this name. */
function sees({ upstream }: World, name: string): boolean {
  return upstream?.requests.at(-1)?.text.includes(`"${name}"`) ?? false;
}

const state: Readonly<Record<string, Probe>> = {
  "store (true)": { body: { store: true }, name: /store/, shown: kept },
  "store (false)": {
    body: { store: false },
    name: /store/,
    shown: async (response, world) => !(await kept(response, world)),
  },
  background: {
    body: { background: true },
    name: /background/,
    shown: async (response, world) => response.background === true && (await kept(response, world)),
  },
  previous_response_id: {
    body: async ({ server }) => ({
      previous_response_id: (await server.create({ input: "Marked words before." })).id,
    }),
    name: /previous_response_id/,
    sent: /Marked words before/,
    shown: readMore,
  },
  conversation: {
    body: async ({ server }) => {
      const items = [{ type: "message", role: "user", content: "Marked words kept." }];
      const { body } = await server.ask("POST", "/v1/conversations", { items });
      return { conversation: (body as { id: string }).id };
    },
    name: /conversation/,
    sent: /Marked words kept/,
    shown: readMore,
  },
  truncation: {
    body: {
      input: [
        { role: "user", content: "old words ".repeat(WINDOW_TOKENS) },
        { role: "assistant", content: "I have read them." },
        { role: "user", content: "Hello" },
      ],
      truncation: "auto",
    },
    name: /truncation/,
    // Input that does not fit the window is not sent. The embedded model has no window.
    shown: (_, { upstream }) =>
      upstream ? !upstream.requests.at(-1)?.text.includes("old words") : "none",
  },
  context_management: {
    body: {
      input: [
        { role: "user", content: "many words ".repeat(1500) },
        { role: "assistant", content: "I have read them." },
        { role: "user", content: "what is 2+2?" },
      ],
      context_management: [{ type: "compaction", compact_threshold: 1000 }],
    },
    name: /context_management/,
    shown: (response) => count(response, "compaction") > 0,
  },
  metadata: {
    body: { metadata: { mark: "zebra" } },
    name: /^\bmetadata/,
    shown: ({ metadata }) => metadata["mark"] === "zebra",
  },
  stream: {
    body: { stream: false },
    name: NEVER,
    shown: async (_, { server }) => (await server.stream({ input: "Hello" })).length > 5,
  },
  stream_options: {
    body: { stream_options: { include_obfuscation: false } },
    name: /stream_options/,
    shown: async (_, { server }) => {
      const asked = { input: "Hello", stream_options: { include_obfuscation: false } };
      const events = await server.stream(asked);
      return events.length > 5 && events.every((event) => !("obfuscation" in event));
    },
  },
  multi_agent: {
    body: { multi_agent: { enabled: true } },
    name: /multi_agent/,
    bridged: /spawn_agent/,
    shown: ({ usage }, { upstream }) =>
      upstream === undefined && (usage?.input_tokens ?? 0) > 20 ? "bridged" : false,
  },
};

const service: Readonly<Record<string, Probe>> = {
  service_tier: {
    body: { service_tier: "flex" },
    name: /service_tier/,
    sent: /service_?tier|performanceConfig/i,
  },
  user: { body: { user: "user-zebra" }, name: /user/, sent: /user-zebra/ },
  safety_identifier: {
    body: { safety_identifier: "safe-zebra" },
    name: /safety_identifier/,
    sent: /safe-zebra/,
  },
  prompt_cache_key: {
    body: { prompt_cache_key: "key-zebra" },
    name: /prompt_cache_key/,
    sent: /key-zebra/,
  },
  prompt_cache_retention: {
    // Some cache nothing for a request without anything before its question.
    body: { prompt_cache_retention: "24h", instructions: "Answer in English." },
    name: /prompt_cache_retention/,
    sent: /24h|"ttl":"1h"/,
  },
  prompt_cache_options: {
    body: { prompt_cache_options: { mode: "explicit", ttl: "30m" } },
    name: /prompt_cache_options/,
    sent: /prompt_cache_options/,
  },
  moderation: {
    body: { moderation: { model: "omni-moderation-latest" } },
    name: /moderation/,
    sent: /omni-moderation/,
  },
  "top_k (not published)": {
    body: { top_k: 417 },
    name: /top_k/,
    sent: /\b417\b/,
    models: { bedrock: "claude" },
  },
  "seed (not published)": { body: { seed: 4712 }, name: /seed/, sent: /4712/ },
  "an unknown parameter": {
    body: { zebra_parameter: 1 },
    name: /zebra_parameter/,
    sent: /zebra_parameter/,
  },
};

export const PARAMETER_PROBES = { ...words, ...sampling, ...calls, ...state, ...service };
