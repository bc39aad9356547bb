/**
 * A server of the Messages API for tests, as Anthropic or as Google Cloud runs it. It refuses what the real one
 * refuses, signs its model's thinking, and requires the thinking back unchanged.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { toFailure } from "../base/failure.ts";
import { createIds } from "../base/ids.ts";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../base/json.ts";
import { MESSAGES_VERSIONS } from "../protocol/messages-blocks.ts";
import { type Exchange, sseExchange, textExchange } from "./exchange/exchange.ts";
import { applyFaults, type Faults, faultsOf, replacementOf } from "./faults/fault.ts";
import {
  type RecordedRequest,
  startLoopback,
  type Upstream,
  type UpstreamRequest,
} from "./loopback.ts";
import { decodeMessagesRequest } from "./messages/messages-decode.ts";
import {
  extraInput,
  googleRefusal,
  type MessagesRejection,
  refusalExchange,
  refuse,
  required,
} from "./messages/messages-rejection.ts";
import { checkMessagesRequest } from "./messages/messages-request.ts";
import { collectMessages, encodeMessagesStream } from "./messages/messages-stream.ts";
import { createThoughtMemory } from "./messages/thinking-seal.ts";
import { createEmbeddedEngine, openAnswer, type Script, type ScriptEngine } from "./script.ts";

export interface MessagesUpstreamOptions {
  /** What answers; the embedded model by default. */
  readonly engine?: ScriptEngine | Script;
  /** The key that is asked for: in `x-api-key`, or as a bearer token at Google Cloud. None by default. */
  readonly key?: string;
  /** `vertex`: the model in the path, the version in the body. */
  readonly platform?: "anthropic" | "vertex";
  readonly faults?: Faults;
  readonly clock?: Clock;
}

/** Its `url` is the base URL that a provider is given: with `/v1`, and with the project at Google. */
export function startMessagesUpstream(options: MessagesUpstreamOptions = {}): Promise<Upstream> {
  const { engine = createEmbeddedEngine(), clock = systemClock } = options;
  const platform = PLATFORMS[options.platform ?? "anthropic"];
  const makeId = createIds(clock);
  const memory = createThoughtMemory();

  async function answer(asked: UpstreamRequest, signal: AbortSignal): Promise<Exchange> {
    const refused = platform.refuse(asked, options.key);
    if (refused) return refused;
    const body = withoutInstructions(platform.toBody(asked), asked.request);
    for (const rejection of checkMessagesRequest(body, memory)) return refusalExchange(rejection);
    const faults = faultsOf(options.faults, asked.number);
    return replacementOf(faults) ?? applyFaults(faults, await say(body, signal));
  }

  async function say(body: JsonObject, signal: AbortSignal): Promise<Exchange> {
    const opened = await openAnswer(engine, decodeMessagesRequest(body), signal);
    if (opened.kind === "exchange") return opened.exchange;
    const head = { id: makeId("msg"), model: String(body["model"]), memory };
    if (body["stream"] === true) return sseExchange(encodeMessagesStream(opened.events, head));
    try {
      return textExchange(200, JSON.stringify(await collectMessages(opened.events, head)));
    } catch (thrown) {
      return refusalExchange(refuse(toFailure(thrown).message, { status: 500, type: "api_error" }));
    }
  }

  return startLoopback({ basePath: platform.basePath, answer });
}

/** The beta feature that allows instructions in the middle of a conversation. */
const PLACED_SYSTEM = "mid-conversation-system-2026-04-07";

function withoutInstructions(body: JsonObject, { headers }: RecordedRequest): JsonObject {
  const { messages } = body as { messages?: Json };
  const isKnown = String(headers["anthropic-beta"] ?? "").includes(PLACED_SYSTEM);
  if (!isKnown || !Array.isArray(messages)) return body;
  const turns = messages.filter((turn) => !isJsonObject(turn) || turn["role"] !== "system");
  return { ...body, messages: turns };
}

interface Platform {
  readonly basePath: string;
  /** Checks the request before its body is checked in detail. */
  refuse(asked: UpstreamRequest, key: string | undefined): Exchange | undefined;
  /** The body in the form of Anthropic's own API. */
  toBody(asked: UpstreamRequest): JsonObject;
}

const VERTEX_PATH =
  /^\/v1\/projects\/p\/locations\/global\/publishers\/anthropic\/models\/([^/]+):(?:streamRawP|rawP)redict$/;

const PLATFORMS: Readonly<Record<"anthropic" | "vertex", Platform>> = {
  anthropic: {
    basePath: "/v1",
    refuse({ request, path }, key) {
      const wrong = checkHttp(request, path === "/v1/messages") ?? checkHeaders(request, key);
      return wrong && refusalExchange(wrong);
    },
    toBody: ({ request }) => request.body,
  },
  vertex: {
    basePath: "/v1/projects/p/locations/global",
    refuse({ request, path }, key) {
      const isKnown = key === undefined || request.headers.authorization === `Bearer ${key}`;
      if (!isKnown) return googleRefusal();
      const wrong = checkHttp(request, VERTEX_PATH.test(path)) ?? checkVertexBody(request.body);
      return wrong && refusalExchange(wrong);
    },
    toBody({ request, path }) {
      const { anthropic_version: _, ...body } = request.body;
      return { ...body, model: decodeURIComponent(VERTEX_PATH.exec(path)?.[1] ?? "") };
    },
  },
};

function checkHttp(request: RecordedRequest, isPath: boolean): MessagesRejection | undefined {
  if (!isPath) return refuse("Not found", { status: 404, type: "not_found_error" });
  if (request.method !== "POST") {
    return refuse("Method Not Allowed", { status: 405, type: "invalid_request_error" });
  }
  if (isJsonObject(tryParseJson(request.text))) return undefined;
  return refuse("The request body is not valid JSON.");
}

/** The version in which every model refuses sampling parameters. */
const [, , NEWER_VERSION] = MESSAGES_VERSIONS;

/** A key is accepted from either header; the vendor's clients have moved from one to the other. */
function checkHeaders(
  { headers, body }: RecordedRequest,
  key: string | undefined,
): MessagesRejection | undefined {
  const unauthorized = { status: 401, type: "authentication_error" };
  const given = headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");
  if (key !== undefined && given === undefined) {
    return refuse("x-api-key header is required", unauthorized);
  }
  if (key !== undefined && given !== key) return refuse("invalid x-api-key", unauthorized);
  const version = headers["anthropic-version"];
  if (version === undefined) return refuse("anthropic-version: header is required");
  if (!MESSAGES_VERSIONS.some((known) => known === version)) {
    return refuse(`anthropic-version: "${version}" is not a valid version`);
  }
  const removed = ["temperature", "top_p", "top_k"].find((name) => name in body);
  return version === NEWER_VERSION && removed ? extraInput(removed) : undefined;
}

function checkVertexBody(body: JsonObject): MessagesRejection | undefined {
  if ("model" in body) return extraInput("model");
  if (body["anthropic_version"] === "vertex-2023-10-16") return undefined;
  return required("anthropic_version");
}
