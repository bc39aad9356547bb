/**
 * A llama-server for tests: chat completions, `/health`, `/props` and `/v1/models`. Its model takes
 * a given number of requests to load, which are answered with 503.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { toFailure } from "../base/failure.ts";
import { createIds } from "../base/ids.ts";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../base/json.ts";
import { decodeChatRequest } from "./chat/chat-decode.ts";
import { type ChatDialect, collectChat, encodeChatStream } from "./chat/chat-stream.ts";
import { type Exchange, sseExchange, textExchange } from "./exchange/exchange.ts";
import { applyFaults, type Fault, type Faults, faultsOf, replacementOf } from "./faults/fault.ts";
import { startLoopback, type Upstream, type UpstreamRequest } from "./loopback.ts";
import { createEmbeddedEngine, openAnswer, type Script, type ScriptEngine } from "./script.ts";

export interface LlamacppUpstreamOptions {
  /** The source of answers; the embedded model by default. */
  readonly engine?: ScriptEngine | Script;
  /** The bearer key that is asked for; none is by default. */
  readonly key?: string;
  readonly faults?: Faults;
  readonly clock?: Clock;
  /** How many requests come while the server still loads its model. */
  readonly loading?: number;
  /** A conversation of more tokens (of four characters) is refused. */
  readonly contextTokens?: number;
  readonly modelPath?: string;
}

const DIALECT: ChatDialect = {
  includeIndex: true,
  repeatIdAndName: false,
  reasoningField: "reasoning_content",
};

export function startLlamacppUpstream(options: LlamacppUpstreamOptions = {}): Promise<Upstream> {
  const { engine = createEmbeddedEngine(), clock = systemClock } = options;
  const { contextTokens = 4096, modelPath = "/models/test-model.gguf" } = options;
  const makeId = createIds(clock);
  let loading = options.loading ?? 0;

  async function chat(
    { request, number }: UpstreamRequest,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const body = tryParseJson(request.text);
    if (!isJsonObject(body))
      return reject(400, "Failed to parse the body: it is not a JSON object");
    for (const problem of checkBody(body, contextTokens)) return problem;
    if (/gpt-oss/.test(modelPath) && hasThoughtsAndWords(body["messages"])) {
      return reject(500, BOTH_AT_ONCE);
    }
    const faults = faultsOf(options.faults, number);
    return replacementOf(faults) ?? answer(body, faults, signal);
  }

  async function answer(
    body: JsonObject,
    faults: readonly Fault[],
    signal: AbortSignal,
  ): Promise<Exchange> {
    const opened = await openAnswer(engine, decodeChatRequest(body), signal);
    if (opened.kind === "exchange") return opened.exchange;
    const id = makeId("item").replace("item_", "chatcmpl-");
    const head = { id, created: Math.floor(clock.now() / 1000), model: modelPath };
    if (body["stream"] === true) {
      const streaming = { dialect: DIALECT, includeUsage: true };
      return applyFaults(faults, sseExchange(encodeChatStream(opened.events, head, streaming)));
    }
    try {
      return applyFaults(
        faults,
        json(await collectChat(opened.events, head, { dialect: DIALECT })),
      );
    } catch (thrown) {
      return reject(500, toFailure(thrown).message);
    }
  }

  const model = { id: modelPath, object: "model", owned_by: "llamacpp" };
  const routes: Readonly<Record<string, (asked: UpstreamRequest, signal: AbortSignal) => Answer>> =
    {
      "POST /v1/chat/completions": chat,
      "GET /health": () => json({ status: "ok" }),
      "GET /props": () => json(encodeProps(modelPath, contextTokens)),
      "GET /v1/models": () => json({ object: "list", data: [model] }),
    };

  return startLoopback({
    basePath: "/v1",
    async answer(asked, signal) {
      if (loading-- > 0) return reject(503, "Loading model");
      const { authorization } = asked.request.headers;
      const isOpen = asked.path === "/health" || asked.path === "/v1/models";
      if (options.key !== undefined && !isOpen && authorization !== `Bearer ${options.key}`) {
        return reject(401, "Invalid API Key");
      }
      const route = routes[`${asked.request.method} ${asked.path}`];
      return route ? route(asked, signal) : reject(404, "File Not Found");
    },
  });
}

type Answer = Exchange | Promise<Exchange>;

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  500: "server_error",
  503: "unavailable_error",
};

function* checkBody(body: JsonObject, contextTokens: number): Generator<Exchange, void> {
  const { messages, response_format: format, grammar, tools } = body;
  if (!Array.isArray(messages)) return yield reject(400, "'messages' is required");
  if (grammar !== undefined && Array.isArray(tools) && tools.length > 0) {
    yield reject(400, "Cannot use custom grammar constraints with tools.");
  }
  yield* checkFormat(format);
  yield* checkParts(messages);
  const { logprobs, top_logprobs: likely, stream } = body;
  if (logprobs === true && Array.isArray(tools) && tools.length > 0 && stream === true) {
    yield reject(400, "logprobs is not supported with tools + stream");
  }
  if (logprobs !== true && likely !== undefined && likely !== null) {
    yield reject(400, "top_logprobs requires logprobs to be set to true");
  }
  const tokens = Math.ceil(JSON.stringify(messages).length / 4);
  if (tokens <= contextTokens) return;
  const message = `the request exceeds the available context size. try increasing the context size or enable context shift`;
  const error = { code: 400, message, type: "exceed_context_size_error" };
  const counts = { n_prompt_tokens: tokens, n_ctx: contextTokens };
  yield textExchange(400, JSON.stringify({ error: { ...error, ...counts } }));
}

/** The template of gpt-oss has one place for both. */
const BOTH_AT_ONCE =
  "Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis message in one or the other, but not both.";

function hasThoughtsAndWords(messages: Json | undefined): boolean {
  const list = Array.isArray(messages) ? messages.filter(isJsonObject) : [];
  return list.some(
    ({ content, reasoning_content: thoughts, tool_calls: calls }) =>
      Boolean(content) && Boolean(thoughts) && Array.isArray(calls),
  );
}

const PARTS = ["text", "image_url", "input_audio"];

function* checkParts(messages: readonly Json[]): Generator<Exchange, void> {
  const contents = messages.map((message) => (isJsonObject(message) ? message["content"] : null));
  for (const part of contents.flatMap((content) => (Array.isArray(content) ? content : []))) {
    const type = isJsonObject(part) ? part["type"] : part;
    if (!PARTS.includes(String(type))) yield reject(400, "unsupported content[].type");
  }
}

/** Keywords that its converter turns into a grammar; the rest is refused with its own message. */
const KNOWN = ["type", "properties", "items", "enum", "const", "oneOf", "anyOf", "allOf", "$ref"];

function* checkFormat(format: Json | undefined): Generator<Exchange, void> {
  if (!isJsonObject(format)) return;
  const { type, json_schema: named } = format;
  if (type === "text" || type === "json_object") return;
  if (type !== "json_schema") {
    const wanted = 'response_format type must be one of "text" or "json_object", but got:';
    return yield reject(400, `${wanted} ${String(type)}`);
  }
  const schema = isJsonObject(named) ? named["schema"] : undefined;
  if (!isJsonObject(schema)) return;
  const names = Object.keys(schema);
  if (names.length === 0 || names.some((name) => KNOWN.includes(name))) return;
  const shown = JSON.stringify(schema);
  yield reject(400, `JSON schema conversion failed:\nUnrecognized schema: ${shown}`);
}

function encodeProps(modelPath: string, contextTokens: number): JsonObject {
  return {
    default_generation_settings: { id: 0, n_ctx: contextTokens, is_processing: false },
    total_slots: 1,
    model_alias: modelPath.split("/").at(-1),
    model_path: modelPath,
    chat_template: "{% for message in messages %}{{ message.content }}{% endfor %}",
    modalities: { vision: false, audio: false },
    build_info: "b1-test",
  };
}

function reject(code: number, message: string): Exchange {
  const error = { code, message, type: ERROR_TYPES[code] ?? "server_error" };
  return textExchange(code, JSON.stringify({ error }));
}

function json(value: JsonObject): Exchange {
  return textExchange(200, JSON.stringify(value));
}
