/**
 * Amazon Bedrock's Converse for tests, streamed and whole. It verifies signatures, refuses what the
 * real service refuses, and answers in frames with checksums.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { toFailure } from "../base/failure.ts";
import { isJsonObject, tryParseJson } from "../base/json.ts";
import {
  type AwsRejection,
  awsRejectionExchange,
  denied,
  invalid,
} from "./bedrock/aws-rejection.ts";
import { decodeConverseRequest } from "./bedrock/converse-decode.ts";
import { checkConverseRequest } from "./bedrock/converse-request.ts";
import { collectConverse, encodeConverseStream } from "./bedrock/converse-stream.ts";
import { toBinary } from "./bedrock/event-frames.ts";
import {
  createReasoningMemory,
  type ReasoningMemory,
  UNSIGNED,
} from "./bedrock/reasoning-memory.ts";
import { type AwsCaller, checkSignature } from "./bedrock/signature.ts";
import { type Exchange, isStream, sseExchange, textExchange } from "./exchange/exchange.ts";
import { applyFaults, type Fault, type Faults, faultsOf, replacementOf } from "./faults/fault.ts";
import {
  type RecordedRequest,
  startLoopback,
  type Upstream,
  type UpstreamRequest,
} from "./loopback.ts";
import { createEmbeddedEngine, openAnswer, type Script, type ScriptEngine } from "./script.ts";

export interface BedrockUpstreamOptions {
  /** The source of answers; the embedded model by default. */
  readonly engine?: ScriptEngine | Script;
  /** A Bedrock key that is accepted as a bearer token. */
  readonly key?: string;
  /**
   * The callers whose signatures are accepted. With neither a key nor callers, none is asked for.
   */
  readonly callers?: readonly AwsCaller[];
  /** `us-east-1` by default; a signature for another region is refused. */
  readonly region?: string;
  readonly faults?: Faults;
  readonly clock?: Clock;
}

/** Starts the server. Its `url` is the bare origin: the API's paths start with `/model`. */
export function startBedrockUpstream(options: BedrockUpstreamOptions = {}): Promise<Upstream> {
  const { engine = createEmbeddedEngine(), clock = systemClock } = options;
  const signing = createReasoningMemory();

  function check(request: RecordedRequest, memory: ReasoningMemory): AwsRejection | undefined {
    const body = tryParseJson(request.text);
    const refused = checkCaller(request, options, clock.now());
    if (refused || !isJsonObject(body)) return refused ?? NOT_JSON;
    for (const rejection of checkConverseRequest(body, memory)) return rejection;
    return undefined;
  }

  async function answer(
    { request, path, number }: UpstreamRequest,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const [route, model = "", operation] = ROUTE.exec(path) ?? [];
    const isKnown = route !== undefined && request.method === "POST";
    const memory = UNSIGNED_MAKERS.test(decodeURIComponent(model)) ? UNSIGNED : signing;
    const rejection = isKnown ? check(request, memory) : UNKNOWN_OPERATION;
    if (rejection) return awsRejectionExchange(rejection);
    const faults = faultsOf(options.faults, number);
    const replaced = replacementOf(faults);
    if (replaced) return replaced;
    const asked = decodeConverseRequest(request.body, decodeURIComponent(model));
    const opened = await openAnswer(engine, asked, signal);
    if (opened.kind === "exchange") return withFaults(opened.exchange, faults);
    if (operation === "converse") return await whole(opened.events, memory, faults);
    return withFaults(sseExchange(encodeConverseStream(opened.events, memory)), faults);
  }

  async function whole(
    events: Batches,
    memory: ReasoningMemory,
    faults: readonly Fault[],
  ): Promise<Exchange> {
    try {
      const body = JSON.stringify(await collectConverse(events, memory));
      return withFaults(textExchange(200, body), faults);
    } catch (thrown) {
      const message = toFailure(thrown).message;
      return awsRejectionExchange({ status: 500, type: "InternalServerException", message });
    }
  }

  return startLoopback({ basePath: "", answer });
}

type Batches = Parameters<typeof collectConverse>[0];

/** Makers whose models return reasoning as plain text. */
const UNSIGNED_MAKERS = /(^|\.)(openai|moonshot(ai)?|qwen|minimax|deepseek)\./;
const ROUTE = /^\/model\/([^/]+)\/(converse|converse-stream)$/;
const NOT_JSON = invalid("The request body is not a JSON object. Fix it and try again.");
const UNKNOWN_OPERATION: AwsRejection = {
  status: 404,
  type: "UnknownOperationException",
  message: "The requested operation does not exist.",
};

function checkCaller(
  request: RecordedRequest,
  { key, callers = [], region = "us-east-1" }: BedrockUpstreamOptions,
  now: number,
): AwsRejection | undefined {
  if (key === undefined && callers.length === 0) return undefined;
  const { authorization = "" } = request.headers;
  if (!authorization.startsWith("Bearer "))
    return checkSignature(request, { callers, region, now });
  if (authorization === `Bearer ${key}`) return undefined;
  return denied(
    "AccessDeniedException",
    "Authentication failed: Please make sure your API Key is valid.",
  );
}

const BINARY = { "content-type": "application/vnd.amazon.eventstream" };

/** Faults in the ends of lines, which frames of bytes do not have. */
const LINE_FAULTS: readonly string[] = ["crlf", "cr"];

/** Faults in frames are applied before the frames become bytes, those in bytes after. */
function withFaults(exchange: Exchange, faults: readonly Fault[]): Exchange {
  if (!isStream(exchange)) return applyFaults(faults, exchange);
  const inFrames = faults.map(({ name, frames }) => ({ name, ...(frames && { frames }) }));
  const { status, body } = applyFaults(inFrames, exchange);
  const inBytes = faults.filter(({ name }) => !LINE_FAULTS.includes(name));
  return applyFaults(inBytes, { status, headers: BINARY, body: toBinary(body) });
}
