/**
 * A Responses API server for tests, in three personalities. `strict` streams what the real API streams and refuses
 * what it refuses. `xai` does so with the tools and the refusals of xAI. `legacy` speaks an older form: `tool_call`
 * items, `tool_result` input, and every answer remembered although `store` is false.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import type { Item } from "../protocol/items.ts";
import { type Exchange, sseExchange, textExchange } from "./exchange/exchange.ts";
import { firstOf, rejectionExchange, serverError } from "./exchange/rejection.ts";
import type { Faults } from "./faults/fault.ts";
import type { Upstream } from "./loopback.ts";
import { encodeLegacyStream } from "./responses/legacy-events.ts";
import { checkLegacyRequest } from "./responses/legacy-request.ts";
import { createResponseMemory } from "./responses/response-memory.ts";
import { decodeResponsesRequest } from "./responses/responses-decode.ts";
import {
  collectStrict,
  encodeStrictStream,
  type StrictOptions,
} from "./responses/strict-events.ts";
import { checkStrictRequest, checkXaiRequest } from "./responses/strict-request.ts";
import { createEmbeddedEngine, openAnswer, type Script, type ScriptEngine } from "./script.ts";
import { startUpstream } from "./upstream.ts";

export interface ResponsesUpstreamOptions {
  /** `strict` by default. */
  readonly personality?: "strict" | "legacy" | "xai";
  /** The source of answers; the embedded model by default. */
  readonly engine?: ScriptEngine | Script;
  /** The bearer key that is asked for; none is by default. */
  readonly key?: string;
  /** The account of the server: reasoning that was encrypted for another account is refused. */
  readonly account?: string;
  readonly faults?: Faults;
  readonly clock?: Clock;
}

const CHECKS = {
  strict: checkStrictRequest,
  legacy: checkLegacyRequest,
  xai: checkXaiRequest,
} as const;

export function startResponsesUpstream(options: ResponsesUpstreamOptions = {}): Promise<Upstream> {
  const { engine = createEmbeddedEngine(), clock = systemClock, personality = "strict" } = options;
  const makeId = createIds(clock);
  const memory = createResponseMemory(options.account);

  async function answer(body: JsonObject, signal: AbortSignal): Promise<Exchange> {
    const request = decodeResponsesRequest(body, memory);
    const opened = await openAnswer(engine, request, signal);
    if (opened.kind === "exchange") return opened.exchange;
    const keep = (id: string, output: readonly Item[]): void =>
      memory.keep(id, request.items, output);
    if (personality === "legacy") {
      return sseExchange(encodeLegacyStream(opened.events, { makeId, onEnd: keep }));
    }
    const strict: StrictOptions = {
      head: { createdAt: Math.floor(clock.now() / 1000), body },
      makeId,
      sealed: JSON.stringify(body["include"] ?? []).includes("reasoning.encrypted_content")
        ? memory.account
        : undefined,
      onEnd: (id, output) => {
        if (body["store"] !== false) keep(id, output as unknown as readonly Item[]);
      },
    };
    if (body["stream"] === true) return sseExchange(encodeStrictStream(opened.events, strict));
    const response = await collectStrict(opened.events, strict);
    if (response["status"] !== "failed") return textExchange(200, JSON.stringify(response));
    const { message } = response["error"] as { message: string };
    return rejectionExchange(serverError(message));
  }

  const check = CHECKS[personality];
  return startUpstream({
    path: "/responses",
    check: (body) => firstOf(check(body, memory)),
    answer,
    key: options.key,
    faults: options.faults,
  });
}
