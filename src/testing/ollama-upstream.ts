/**
 * An Ollama server for tests: chat, the list of models and pulling them. It refuses what the real
 * one refuses, and ignores what the real one ignores.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { toFailure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import { type Exchange, sseExchange, textExchange } from "./exchange/exchange.ts";
import { applyFaults, type Fault, type Faults, faultsOf, replacementOf } from "./faults/fault.ts";
import { startLoopback, type Upstream, type UpstreamRequest } from "./loopback.ts";
import { decodeOllamaRequest } from "./ollama/ollama-decode.ts";
import {
  encodePull,
  encodeShow,
  encodeTags,
  findOllamaModel,
  OLLAMA_MODELS,
  type OllamaModels,
} from "./ollama/ollama-models.ts";
import {
  checkOllamaRequest,
  isRejection,
  type OllamaRejection,
  parseOllamaBody,
} from "./ollama/ollama-request.ts";
import { collectOllama, encodeOllamaFrames, toLines } from "./ollama/ollama-stream.ts";
import { createEmbeddedEngine, openAnswer, type Script, type ScriptEngine } from "./script.ts";

export interface OllamaUpstreamOptions {
  /** The source of answers; the embedded model by default. */
  readonly engine?: ScriptEngine | Script;
  /** The bearer key that is asked for, as by a hosted Ollama; none is by default. */
  readonly key?: string;
  readonly faults?: Faults;
  readonly clock?: Clock;
  /** By name; `test-model` can do everything and `plain-model` can only talk, by default. */
  readonly models?: OllamaModels;
  /** The models that can be pulled, with their sizes in bytes. */
  readonly registry?: Readonly<Record<string, number>>;
}

/** Starts the server. Its `url` is the bare origin: the API's paths start with `/api`. */
export function startOllamaUpstream(options: OllamaUpstreamOptions = {}): Promise<Upstream> {
  const { engine = createEmbeddedEngine(), clock = systemClock, registry = {} } = options;
  const models = new Map(Object.entries(options.models ?? OLLAMA_MODELS));

  async function chat(
    { request, number }: UpstreamRequest,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const body = parseOllamaBody(request.text);
    if (isRejection(body)) return toExchange(body);
    for (const rejection of checkOllamaRequest(body, models)) return toExchange(rejection);
    const faults = faultsOf(options.faults, number);
    return replacementOf(faults) ?? answer(body, faults, signal);
  }

  async function answer(
    body: JsonObject,
    faults: readonly Fault[],
    signal: AbortSignal,
  ): Promise<Exchange> {
    const head = { model: String(body["model"]), created_at: new Date(clock.now()).toISOString() };
    if (!Array.isArray(body["messages"]) || body["messages"].length === 0) {
      return json({ ...head, ...LOADED });
    }
    const opened = await openAnswer(engine, decodeOllamaRequest(body), signal);
    if (opened.kind === "exchange") return opened.exchange;
    if (body["stream"] !== false) {
      return withFaults(sseExchange(encodeOllamaFrames(opened.events, head)), faults);
    }
    try {
      return applyFaults(faults, json(await collectOllama(opened.events, head)));
    } catch (thrown) {
      return toExchange({ status: 500, error: toFailure(thrown).message });
    }
  }

  function pull(asked: UpstreamRequest): Exchange {
    const name = nameIn(asked);
    if (name === "") return toExchange({ status: 400, error: "invalid model name" });
    const bytes = registry[name];
    if (bytes === undefined) {
      const error = "pull model manifest: file does not exist";
      return lines([{ status: "pulling manifest" }, { error }]);
    }
    models.set(name, { capabilities: ["completion"], bytes });
    return lines(encodePull(bytes));
  }

  const routes: Readonly<Record<string, (asked: UpstreamRequest, signal: AbortSignal) => Answer>> =
    {
      "POST /api/chat": chat,
      "GET /api/tags": () => json(encodeTags(models)),
      "POST /api/show": (asked) => show(models, nameIn(asked)),
      "POST /api/pull": pull,
      "GET /api/version": () => json({ version: "0.30.0" }),
    };

  return startLoopback({
    basePath: "",
    async answer(asked, signal) {
      const { authorization } = asked.request.headers;
      if (options.key !== undefined && authorization !== `Bearer ${options.key}`) {
        return toExchange({ status: 401, error: "unauthorized" });
      }
      const route = routes[`${asked.request.method} ${asked.path}`];
      return route ? route(asked, signal) : textExchange(404, "404 page not found", PLAIN);
    },
  });
}

type Answer = Exchange | Promise<Exchange>;

/** The name of the model that a request is about; empty where it has none. */
function nameIn({ request: { body } }: UpstreamRequest): string {
  return String(body["model"] ?? body["name"] ?? "");
}

function show(models: Parameters<typeof findOllamaModel>[0], name: string): Exchange {
  if (name === "") return toExchange({ status: 400, error: "model is required" });
  const model = findOllamaModel(models, name);
  if (model) return json(encodeShow(model));
  return toExchange({ status: 404, error: `model '${name}' not found` });
}

/** The answer to a request that only loads the model. */
const LOADED = { message: { role: "assistant", content: "" }, done: true, done_reason: "load" };

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };
const LINES_TYPE = { "content-type": "application/x-ndjson" };
const PLAIN = { "content-type": "text/plain" };

/** Faults in frames are applied before the lines are made, those in bytes after. */
function withFaults(frames: Exchange, faults: readonly Fault[]): Exchange {
  const framed = faults.map(({ name, frames: change }) => ({
    name,
    ...(change && { frames: change }),
  }));
  const { status, body } = applyFaults(framed, frames);
  return applyFaults(faults, { status, headers: LINES_TYPE, body: toLines(body) });
}

function toExchange({ status, error }: OllamaRejection): Exchange {
  return textExchange(status, JSON.stringify({ error }), JSON_TYPE);
}

function json(value: JsonObject): Exchange {
  return textExchange(200, JSON.stringify(value), JSON_TYPE);
}

function lines(values: Iterable<JsonObject>): Exchange {
  const body = [...values].map((value) => `${JSON.stringify(value)}\n`);
  return { ...sseExchange(body), headers: LINES_TYPE };
}
