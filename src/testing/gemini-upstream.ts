/**
 * Google's `generateContent` API for tests, at the addresses of AI Studio and of Vertex. It refuses what
 * the real service refuses, and knows the signatures it gave.
 */

import { createHash } from "node:crypto";
import { type Clock, systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import { type Exchange, sseExchange, textExchange } from "./exchange/exchange.ts";
import { applyFaults, type Faults, faultsOf, replacementOf } from "./faults/fault.ts";
import { decodeGeminiRequest } from "./gemini/gemini-decode.ts";
import {
  type GeminiRejection,
  geminiRejectionExchange,
  invalidArgument,
  NO_KEY,
  NOT_JSON,
  notFound,
  WRONG_KEY,
  WRONG_TOKEN,
} from "./gemini/gemini-rejection.ts";
import { checkGeminiRequest } from "./gemini/gemini-request.ts";
import { createSignatures, isSigningModel } from "./gemini/gemini-signature.ts";
import { encodeGeminiEvents, type GeminiAnswer, joinGeminiEvents } from "./gemini/gemini-stream.ts";
import {
  type RecordedRequest,
  startLoopback,
  type Upstream,
  type UpstreamRequest,
} from "./loopback.ts";
import { createEmbeddedEngine, openAnswer, type Script, type ScriptEngine } from "./script.ts";

export interface GeminiUpstreamOptions {
  /** The source of answers; the embedded model by default. */
  readonly engine?: ScriptEngine | Script;
  /** The key that is asked for, or the token at Vertex's address; none is by default. */
  readonly key?: string;
  /** True if calls carry ids, which Vertex leaves out. True by default. */
  readonly includeIds?: boolean;
  /** True if calls come in pieces even when that was not asked for. False by default. */
  readonly isPartial?: boolean;
  readonly faults?: Faults;
  readonly clock?: Clock;
}

/**
 * Starts the server. Its `url` is that of AI Studio, ending in `/v1beta`; `/v1/projects/…/publishers/google` works
 * too.
 */
export function startGeminiUpstream(options: GeminiUpstreamOptions = {}): Promise<Upstream> {
  const { engine = createEmbeddedEngine(), clock = systemClock } = options;
  const makeId = createIds(clock);
  const signatures = createSignatures();

  function toAnswer(body: JsonObject, model: string): GeminiAnswer {
    const { thinkingConfig } = objectOf(body["generationConfig"]);
    const { functionCallingConfig } = objectOf(body["toolConfig"]);
    const includeThoughts = objectOf(thinkingConfig)["includeThoughts"] === true;
    const isPartial = objectOf(functionCallingConfig)["streamFunctionCallArguments"] === true;
    return {
      model,
      responseId: makeId("resp").slice("resp_".length),
      signatures,
      isSigned: isSigningModel(model) || includeThoughts,
      isTextSigned: isSigningModel(model),
      includeThoughts,
      isPartial: options.isPartial ?? isPartial,
      includeIds: options.includeIds ?? true,
      continuationToken: toToken(body),
    };
  }

  function check(
    { request }: UpstreamRequest,
    model: string | undefined,
  ): GeminiRejection | undefined {
    const rejection = checkHttp(request, options.key, model !== undefined);
    if (rejection) return rejection;
    const body = tryParseJson(request.text);
    if (!isJsonObject(body)) return NOT_JSON;
    for (const found of checkGeminiRequest(body, { model: model ?? "", signatures })) return found;
    return checkToken(body);
  }

  async function answer(asked: UpstreamRequest, signal: AbortSignal): Promise<Exchange> {
    const [, model, method] = PATH.exec(asked.path) ?? [];
    const rejection = check(asked, model);
    if (rejection || model === undefined) {
      return geminiRejectionExchange(rejection ?? notFound(asked.path));
    }
    const faults = faultsOf(options.faults, asked.number);
    const { body, path } = asked.request;
    const replaced = replacementOf(faults);
    if (replaced) return replaced;
    const opened = await openAnswer(engine, decodeGeminiRequest(body, model), signal);
    if (opened.kind === "exchange") return applyFaults(faults, opened.exchange);
    const chunks = encodeGeminiEvents(opened.events, toAnswer(body, model));
    const isSse = method === "streamGenerateContent" && /[?&]alt=sse/.test(path);
    const exchange = isSse ? sseExchange(toFrames(chunks)) : await toDocument(chunks, method);
    return applyFaults(faults, exchange);
  }

  return startLoopback({ basePath: "/v1beta", answer });
}

const PATH =
  /^\/v1(?:beta1?)?(?:\/projects\/[^/]+\/locations\/[^/]+\/publishers\/google)?\/(?:models|tunedModels)\/([^/:]+):((?:streamG|g)enerateContent)$/;

function checkHttp(
  { method, path, headers }: RecordedRequest,
  key: string | undefined,
  isKnown: boolean,
): GeminiRejection | undefined {
  if (!isKnown || method !== "POST") return notFound(path.split("?")[0] ?? "");
  if (key === undefined) return undefined;
  const given = headers["x-goog-api-key"] ?? /[?&]key=([^&]*)/.exec(path)?.[1];
  if (headers.authorization !== undefined) {
    return headers.authorization === `Bearer ${key}` ? undefined : WRONG_TOKEN;
  }
  if (given === undefined) return NO_KEY;
  return given === key ? undefined : WRONG_KEY;
}

/** A token continues one conversation only. */
function checkToken(body: JsonObject): GeminiRejection | undefined {
  const { continuationToken: token } = body;
  if (token === undefined || token === toToken(body)) return undefined;
  return invalidArgument("Invalid continuation token.");
}

function toToken({ contents }: JsonObject): string {
  return createHash("sha256").update(JSON.stringify(contents)).digest("base64");
}

async function* toFrames(chunks: AsyncIterable<JsonObject>): AsyncGenerator<string, void> {
  for await (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}\r\n\r\n`;
}

/** A plain answer, or without `alt=sse` the list of what would have been events. */
async function toDocument(
  events: AsyncIterable<JsonObject>,
  method: string | undefined,
): Promise<Exchange> {
  const chunks: JsonObject[] = [];
  for await (const chunk of events) chunks.push(chunk);
  const failed = chunks.find((chunk) => chunk["error"]);
  if (failed) return geminiRejectionExchange(failed["error"] as unknown as GeminiRejection);
  const whole = method === "generateContent" ? joinGeminiEvents(chunks) : chunks;
  return textExchange(200, JSON.stringify(whole));
}

function objectOf(value: JsonObject[string]): JsonObject {
  return isJsonObject(value) ? value : {};
}
