/**
 * A chat completions server for tests. It refuses what the real one refuses, and can write tool calls like some
 * compatible servers do.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { toFailure } from "../base/failure.ts";
import { createIds } from "../base/ids.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { decodeChatRequest } from "./chat/chat-decode.ts";
import { checkChatRequest } from "./chat/chat-request.ts";
import { checkRouted } from "./chat/chat-router.ts";
import { type ChatDialect, collectChat, encodeChatStream } from "./chat/chat-stream.ts";
import { type Exchange, sseExchange, textExchange } from "./exchange/exchange.ts";
import { firstOf, rejectionExchange, serverError } from "./exchange/rejection.ts";
import type { Faults } from "./faults/fault.ts";
import type { Upstream } from "./loopback.ts";
import { createEmbeddedEngine, openAnswer, type Script, type ScriptEngine } from "./script.ts";
import { startUpstream } from "./upstream.ts";

export interface ChatUpstreamOptions extends Partial<ChatDialect> {
  /** The source of answers; the embedded model by default. */
  readonly engine?: ScriptEngine | Script;
  /** The bearer key that is asked for; none is by default. */
  readonly key?: string;
  readonly faults?: Faults;
  readonly clock?: Clock;
  /** True: accepts OpenRouter's fields besides the published ones, and reports what each answer cost. */
  readonly router?: boolean;
}

/** The cost in US dollars in a router's answer. */
const ROUTED_COST = 0.0042;

export function startChatUpstream(options: ChatUpstreamOptions = {}): Promise<Upstream> {
  const { engine = createEmbeddedEngine(), clock = systemClock } = options;
  const makeId = createIds(clock);
  const dialect: ChatDialect = {
    includeIndex: options.includeIndex ?? true,
    repeatIdAndName: options.repeatIdAndName ?? false,
    reasoningField: options.reasoningField ?? "reasoning_content",
  };

  const cost = options.router ? ROUTED_COST : undefined;

  async function answer(body: JsonObject, signal: AbortSignal): Promise<Exchange> {
    const opened = await openAnswer(engine, decodeChatRequest(body), signal);
    if (opened.kind === "exchange") return opened.exchange;
    const head = {
      id: makeId("item").replace("item_", "chatcmpl-"),
      created: Math.floor(clock.now() / 1000),
      model: String(body["model"]),
    };
    if (body["stream"] === true) {
      const includeUsage =
        isJsonObject(body["stream_options"]) && body["stream_options"]["include_usage"] === true;
      return sseExchange(encodeChatStream(opened.events, head, { dialect, includeUsage, cost }));
    }
    try {
      const completion = await collectChat(opened.events, head, { dialect, cost });
      return textExchange(200, JSON.stringify(completion));
    } catch (thrown) {
      return rejectionExchange(serverError(toFailure(thrown).message));
    }
  }

  return startUpstream({
    path: "/chat/completions",
    check: (body) => firstOf(options.router ? checkRouted(body) : checkChatRequest(body)),
    answer,
    key: options.key,
    faults: options.faults,
  });
}
