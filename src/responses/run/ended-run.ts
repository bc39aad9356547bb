/**
 * The run of a response that was answered before it was written down: its log, its ending, its stored things. Pure.
 */

import { contextNotice } from "../../agent/context/context-notice.ts";
import { NOTHING } from "../../agent/limits.ts";
import { toRunEnd } from "../../agent/run-end.ts";
import { toRunStart } from "../../agent/run-start.ts";
import { type ModelAnswer, textOf, toAmount } from "../../agent/turn.ts";
import { toWholeTurn } from "../../agent/whole-turn.ts";
import { asJson } from "../../base/json.ts";
import type { RunOutcome } from "../../engine/engine.ts";
import type { EmittedResponse } from "../../protocol/emitted.ts";
import type { Notice, RunEnd, RunStart } from "../../protocol/run-events.ts";
import type { WholeAnswer } from "../../providers/provider.ts";
import type { NewThing } from "../../store/shelf.ts";
import type { DirectModel } from "../direct/direct-model.ts";
import { fillPlainResponse, findPlainAnswer } from "../direct/plain-answer.ts";
import { BLANK_RESPONSE } from "../fold/response-object.ts";
import { toOutputThings } from "../kept/kept-output.ts";
import { toEntries } from "../references/item-index.ts";
import type { AskedResponse } from "../request/asked-response.ts";
import { fillEcho, toUsedTier } from "../request/echo.ts";
import type { Planned } from "../request/plan-response.ts";
import { encodeResponseSettings } from "../request/response-settings.ts";
import { type Charged, toCharged } from "./response-money.ts";

export interface AboutEnded {
  readonly id: string;
  readonly runId: string;
  readonly asked: AskedResponse;
  readonly planned: Planned;
  readonly model: DirectModel;
}

export interface AnsweredCall {
  readonly answer: WholeAnswer;
  /** Notices that came while the model was asked. */
  readonly notices: readonly Omit<Notice, "type">[];
  readonly beganMs: number;
  readonly endMs: number;
}

export interface EndedResponse {
  readonly response: EmittedResponse;
  readonly outcome: RunOutcome;
  readonly charged: Charged;
}

/** Undefined unless the answer is text that came to its end: the loop handles all other answers. */
export function toEndedRun(about: AboutEnded, answered: AnsweredCall): EndedResponse | undefined {
  const { task } = about.planned;
  const { costOf, contextTokens } = about.model;
  const { beganMs, endMs } = answered;
  if (!isText(answered.answer, about.asked)) return undefined;
  const notices = answered.notices.map((told): Notice => ({ type: "notice", ...told }));
  const times = { startMs: beganMs, endMs };
  const turn = toWholeTurn(answered.answer.events, notices, { costOf, ...times });
  if (!turn) return undefined;
  const spent = { ...NOTHING, ...toAmount(turn.answer, about.model) };
  const end = toEnd(turn.answer, { spent, endMs });
  const warned = contextNotice(task.model, turn.answer.usage, contextTokens);
  const events = [toStart(about, beganMs), ...turn.events, ...warned, end];
  const response = toResponse(about, turn.answer, { end, beganMs, notices });
  const things = toThings(about, response, endMs);
  const ended = { ending: end.ending, result: asJson(end), events, things };
  return { response, outcome: ended, charged: toCharged({ account: { spent }, costOf }, ended) };
}

function isText(answer: WholeAnswer, { request }: AskedResponse): boolean {
  const plain = findPlainAnswer(answer, { include: request.include ?? [] });
  if (plain?.reason !== "stop" || plain.items.length === 0) return false;
  return plain.items.every(({ type }) => type === "message");
}

function toStart({ runId, planned, model }: AboutEnded, nowMs: number): RunStart {
  const { task, wish } = planned;
  const echo = { ...wish.echo, service_tier: toUsedTier(wish.echo, model.provider) };
  const shown = { echo, include: wish.include, ignored: wish.ignored };
  const wishes = { response: encodeResponseSettings(shown), extras: wish.extras };
  const context = { id: runId, parent_id: null, path: "/root" };
  return toRunStart({ context, task, wishes, own: model.own }, nowMs);
}

function toEnd(
  { items, usage, cost_usd: costUsd, by, stop }: ModelAnswer,
  { spent, endMs }: { readonly spent: typeof NOTHING; readonly endMs: number },
): RunEnd {
  const reached = { text: textOf(items), turns: 1, toolCalls: 0, usage, costUsd, by, stop };
  return toRunEnd({ ending: "completed" }, reached, { spent, nowMs: endMs });
}

interface Ending {
  readonly end: RunEnd;
  readonly beganMs: number;
  readonly notices: readonly Notice[];
}

function toResponse(
  { runId, asked, planned, model }: AboutEnded,
  { items }: ModelAnswer,
  { end, beganMs, notices }: Ending,
): EmittedResponse {
  const { instructions, model: name } = planned.task;
  const response: EmittedResponse = { ...BLANK_RESPONSE };
  fillEcho(response, asked, { instructions, model: name });
  response.service_tier = toUsedTier(response, model.provider);
  const dropped = notices.flatMap(({ code, params = [] }) => (code === "dropped" ? params : []));
  const ignored = [...planned.wish.ignored, ...dropped];
  fillPlainResponse(response, { items }, { runId, beganMs, end, ignored });
  return response;
}

/** As `keep-output.ts` does for a run that was followed. */
function toThings(
  { id, planned }: AboutEnded,
  { output }: EmittedResponse,
  nowMs: number,
): NewThing[] {
  const { task, wish } = planned;
  const home = { tenant: wish.tenant, parent: id, kind: "response" } as const;
  return [
    ...toEntries(home, [...task.items, ...output], nowMs),
    ...toOutputThings(wish.tenant, id, output, nowMs),
  ];
}
