/**
 * The source of answers inside an upstream: a script of fixed replies, or any function from a model request to model
 * events. The embedded model is such a function and the default.
 */

import { toFailure } from "../base/failure.ts";
import type { MakeId } from "../base/ids.ts";
import type { ModelEvent } from "../protocol/model-events.ts";
import { createEmbeddedProvider } from "../providers/embedded/provider.ts";
import type { ModelRequest } from "../providers/provider.ts";
import { type Exchange, sseExchange, textExchange } from "./exchange/exchange.ts";
import { type Rejection, reject, rejectionExchange, serverError } from "./exchange/rejection.ts";
import { withLogprobs } from "./logprobs.ts";
import type { Reply } from "./reply.ts";
import { createCountingIds, replyEvents } from "./reply-events.ts";

export type ScriptEngine = (
  request: ModelRequest,
  call: { readonly signal: AbortSignal },
) => AsyncIterable<readonly ModelEvent[]>;

export interface Script {
  readonly kind: "script";
  /** Takes the next reply; `undefined` when all have been given. */
  next(request: ModelRequest): Reply | undefined;
  readonly makeId: MakeId;
}

/** Fixed replies, one for each request, in order. Further requests are answered with HTTP 500. */
export function script(...replies: readonly Reply[]): Script {
  const rest = [...replies];
  return { kind: "script", next: () => rest.shift(), makeId: createCountingIds() };
}

/**
 * A reply for each request, chosen from its content: for runs that ask at the same time. `choose` returns it at once:
 * a promise is answered with HTTP 400.
 */
export function respond(choose: (request: ModelRequest) => Reply): Script {
  return { kind: "script", next: choose, makeId: createCountingIds() };
}

/**
 * The offline model that needs no key: answers plain requests and drives tools. It stands in for a language model and
 * answers every request, so it makes up what it does not know.
 */
export function createEmbeddedEngine(): ScriptEngine {
  const provider = createEmbeddedProvider({ unknown: "make_up" });
  return (request, call) => provider.stream(request, call);
}

/** An answer that has begun: either its events, or an HTTP answer that does not come from the model. */
export type Opened =
  | { readonly kind: "events"; readonly events: AsyncIterable<readonly ModelEvent[]> }
  | { readonly kind: "exchange"; readonly exchange: Exchange };

/**
 * Asks the engine and waits for its first batch, so that an engine that fails at once is answered with HTTP 500 and
 * not with a broken stream.
 */
export async function openAnswer(
  engine: ScriptEngine | Script,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Opened> {
  const source = typeof engine === "function" ? engine(request, { signal }) : play(engine);
  if ("kind" in source) return source;
  const batches = source[Symbol.asyncIterator]();
  try {
    const first = await batches.next();
    const events = resume(first, batches);
    const count = request.options?.top_logprobs;
    return { kind: "events", events: count === undefined ? events : withLogprobs(events, count) };
  } catch (thrown) {
    return {
      kind: "exchange",
      exchange: rejectionExchange(serverError(toFailure(thrown).message)),
    };
  }

  function play(script: Script): AsyncIterable<readonly ModelEvent[]> | Opened {
    const reply = script.next(request);
    if (!reply)
      return { kind: "exchange", exchange: rejectionExchange(serverError("script exhausted")) };
    // A program without types can return anything. Not 500, which a client would retry.
    if (!isReply(reply)) return { kind: "exchange", exchange: rejectionExchange(toNoReply(reply)) };
    if (reply.kind === "answer")
      return replyEvents(reply, request, { signal, makeId: script.makeId });
    return { kind: "exchange", exchange: toExchange(reply) };
  }
}

function isReply(given: unknown): given is Reply {
  return typeof given === "object" && given !== null && "kind" in given;
}

function toNoReply(given: unknown): Rejection {
  const what = given instanceof Promise ? "a promise" : `a value of type ${typeof given}`;
  return reject(
    `The function of \`respond\` returned ${what}. It must return a reply at once, such as \`reply.text("Hello")\`: it cannot be async.`,
  );
}

function toExchange(reply: Exclude<Reply, { kind: "answer" }>): Exchange {
  return reply.kind === "raw"
    ? sseExchange([reply.body])
    : textExchange(reply.status, reply.body, reply.headers);
}

async function* resume(
  first: IteratorResult<readonly ModelEvent[]>,
  rest: AsyncIterator<readonly ModelEvent[]>,
): AsyncGenerator<readonly ModelEvent[], void> {
  try {
    for (let step = first; !step.done; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}
