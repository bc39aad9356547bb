/**
 * A server of Cohere's chat API, version 2, for tests. It refuses what the real one refuses, including unknown fields.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { toFailure } from "../base/failure.ts";
import { createIds } from "../base/ids.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import { decodeCohereRequest } from "./cohere/cohere-decode.ts";
import { objectOf, objectsIn } from "./cohere/cohere-json.ts";
import {
  type CohereRejection,
  rejectionExchange,
  tooManyTokens,
} from "./cohere/cohere-rejection.ts";
import { checkCohereRequest } from "./cohere/cohere-request.ts";
import { collectCohere, encodeCohereStream } from "./cohere/cohere-stream.ts";
import { type Exchange, sseExchange, textExchange } from "./exchange/exchange.ts";
import { applyFaults, type Faults, faultsOf, replacementOf } from "./faults/fault.ts";
import {
  type RecordedRequest,
  startLoopback,
  type Upstream,
  type UpstreamRequest,
} from "./loopback.ts";
import { createEmbeddedEngine, openAnswer, type Script, type ScriptEngine } from "./script.ts";

export interface CohereUpstreamOptions {
  /** The source of answers; the embedded model by default. */
  readonly engine?: ScriptEngine | Script;
  /** The bearer key that is asked for; none is by default. */
  readonly key?: string;
  readonly faults?: Faults;
  readonly clock?: Clock;
  /** The models it has; every name is one by default. */
  readonly models?: readonly string[];
  /** The most characters of messages that a model reads; no limit by default. */
  readonly maxChars?: number;
}

/** Starts the server. Its `url` is the base URL that a provider is given, with `/v2`. */
export function startCohereUpstream(options: CohereUpstreamOptions = {}): Promise<Upstream> {
  const { engine = createEmbeddedEngine(), clock = systemClock } = options;
  const makeId = createIds(clock);

  async function answer(
    { request, path, number }: UpstreamRequest,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const wrong = checkHttp(request, path, options.key) ?? checkLimits(request.body, options);
    if (wrong) return rejectionExchange(wrong);
    for (const rejection of checkCohereRequest(request.body)) return rejectionExchange(rejection);
    const faults = faultsOf(options.faults, number);
    return replacementOf(faults) ?? applyFaults(faults, await say(request.body, signal));
  }

  async function say(body: JsonObject, signal: AbortSignal): Promise<Exchange> {
    const opened = await openAnswer(engine, decodeCohereRequest(body), signal);
    if (opened.kind === "exchange") return opened.exchange;
    const told = { id: makeId("item"), isPlanning: isPlanning(body) };
    if (body["stream"] === true) return sseExchange(encodeCohereStream(opened.events, told));
    try {
      return textExchange(200, JSON.stringify(await collectCohere(opened.events, told)));
    } catch (thrown) {
      return rejectionExchange({ status: 500, message: toFailure(thrown).message });
    }
  }

  return startLoopback({ basePath: "/v2", answer });
}

/** A model that does not think says what it will do before it calls. */
function isPlanning({ thinking, tools }: JsonObject): boolean {
  return objectOf(thinking)["type"] === "disabled" && objectsIn(tools).length > 0;
}

function checkHttp(
  { method, headers, text }: RecordedRequest,
  path: string,
  key: string | undefined,
): CohereRejection | undefined {
  if (path !== "/v2/chat" || method !== "POST") {
    return { status: 404, message: "404 page not found" };
  }
  const { authorization } = headers;
  if (key !== undefined && authorization === undefined) {
    return { status: 401, message: "no api key supplied" };
  }
  if (key !== undefined && authorization !== `Bearer ${key}`) {
    return { status: 401, message: "invalid api token" };
  }
  if (isJsonObject(tryParseJson(text))) return undefined;
  return { status: 400, message: "invalid json syntax" };
}

function checkLimits(
  { model, messages }: JsonObject,
  { models, maxChars = Number.POSITIVE_INFINITY }: CohereUpstreamOptions,
): CohereRejection | undefined {
  if (models && !models.includes(String(model))) {
    const hint = "make sure the correct model ID was used and that you have access to the model.";
    return { status: 404, message: `model '${model}' not found, ${hint}` };
  }
  const over = JSON.stringify(messages ?? []).length - maxChars;
  if (over <= 0) return undefined;
  return tooManyTokens(
    `size limit exceeded by ${over} tokens. The limit for this model is ${maxChars} tokens.`,
  );
}
