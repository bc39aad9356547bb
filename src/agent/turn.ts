/** One turn: one model call, journaled whole, its events logged as they come. */

import type { Clock } from "../base/clock.ts";
import { Failure, toFailure } from "../base/failure.ts";
import { asJson, isJsonObject, type Json } from "../base/json.ts";
import { storedObject } from "../base/stored.ts";
import { clip } from "../base/text.ts";
import type { RunContext, Step } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import type {
  AnsweredBy,
  Continuation,
  EndReason,
  ModelEnd,
  ModelEvent,
  StopDetail,
} from "../protocol/model-events.ts";
import type { Notice, RunEvent } from "../protocol/run-events.ts";
import type { Usage } from "../protocol/usage.ts";
import type { ModelRequest, Provider } from "../providers/provider.ts";
import type { Hold } from "./account.ts";
import { type CallMeter, createCallMeter, toBrokenAmount } from "./broken-answer.ts";
import type { HeldRequest } from "./call-cost.ts";
import { isTooLong } from "./context/cut-to-fit.ts";
import type { Amount } from "./limits.ts";

/** The result of a model call, as stored in the journal. */
export interface ModelAnswer {
  readonly items: readonly Item[];
  readonly reason: EndReason;
  readonly usage: Usage;
  readonly cost_usd: number | null;
  readonly continuation: Continuation | null;
  /** Where the model's name stands for several deployments. */
  readonly by?: AnsweredBy | undefined;
  /** Details from the vendor about the ending, beyond its reason. */
  readonly stop?: StopDetail | undefined;
}

/** The vendor's refusal of a conversation as too long, in its words. There is no answer and no cost. */
export interface TooLong {
  readonly too_long: string;
}

export type TurnAnswer = ModelAnswer | TooLong;

export function isRefusedAsTooLong(answer: TurnAnswer): answer is TooLong {
  return "too_long" in answer;
}

export interface TurnParts {
  readonly context: RunContext;
  readonly provider: Provider;
  readonly clock: Clock;
  /** Undefined where the price is not known; an answer that says what it cost needs none. */
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
}

export interface ModelTurn {
  /** From 1. */
  readonly number: number;
  /** Notices for the user before the call: why the model is asked again. */
  readonly notices: readonly Notice[];
  /** True if the turn returns a refusal of a too long conversation instead of failing. */
  readonly mayShorten?: boolean | undefined;
  /** True if the turn was refused as too long before, and is asked again with a shorter conversation. */
  readonly isAgain?: boolean | undefined;
  /** Sets the cost of the call aside; called when it is really made. May lower what it may answer. */
  readonly hold: (signal: AbortSignal) => Promise<HeldRequest>;
  /** The kind of crash that an answer with these items must survive. Items without a call have no effects. */
  readonly survives?: ((items: readonly Item[]) => "process" | "power") | undefined;
  /** Called with each piece of text, so that the text of an interrupted turn is kept. */
  readonly onText: (delta: string) => void;
  /** Called with the usage of a call that broke off, in part an estimate; not called if it used nothing. */
  readonly onBroken: (usage: Usage) => void;
}

/** Asks the model once. Found again in the journal after a crash, it costs nothing. */
export async function runTurn(parts: TurnParts, turn: ModelTurn): Promise<TurnAnswer> {
  const { context, clock } = parts;
  const key = `model:${turn.number}${turn.isAgain ? ":again" : ""}`;
  const answer = await context.step(key, async (step) => {
    const start: RunEvent = { type: "turn_start", turn: turn.number, at_ms: clock.now() };
    await context.emit([start, ...turn.notices]);
    return asJson(await askWithin(parts, turn, step));
  });
  return readAnswer(answer);
}

const STORED_ANSWER = storedObject<ModelAnswer>("a model's answer", ["items"]);
const STORED_REFUSAL = storedObject<TooLong>("a refused model call", ["too_long"]);

function readAnswer(stored: Json): TurnAnswer {
  const isRefusal = isJsonObject(stored) && stored["too_long"] !== undefined;
  return isRefusal ? STORED_REFUSAL.read(stored) : STORED_ANSWER.read(stored);
}

/** An answer that broke off costs what it has used, which is in part an estimate. */
async function askWithin(parts: TurnParts, turn: ModelTurn, step: Step): Promise<TurnAnswer> {
  const { request, hold } = await turn.hold(step.signal);
  const meter = createCallMeter();
  try {
    const answer = await askModel(parts, turn, { request, step, meter });
    hold.settle(toSettled(answer, hold, parts));
    return answer;
  } catch (thrown) {
    const used = meter.toUsage(request, { isLeft: step.signal.aborted, thrown });
    if (used) {
      const broken = { mostUsd: hold.most.usd, deployment: meter.deployment() };
      hold.settle({ turns: 1, ...toBrokenAmount(used, parts, broken) });
      turn.onBroken(used);
    } else hold.release();
    if (turn.mayShorten && !used && isTooLong(thrown)) {
      return { too_long: toFailure(thrown).message };
    }
    throw thrown;
  }
}

/**
 * The amount that an answer takes from a budget. A price that is not known takes no money; tokens are paid for also
 * where the calls of a vendor's own tools have none.
 */
export function toAmount(answer: ModelAnswer, prices: Pick<TurnParts, "costOf">): Partial<Amount> {
  const { total_tokens: tokens } = answer.usage;
  return { turns: 1, tokens, usd: toKnownUsd(answer, prices) ?? 0 };
}

/**
 * Of an answer that does not say what it cost, as its vendor's do, all that was set aside counts: a limit
 * in dollars that nothing is taken from would be none.
 */
export function toSettled(
  answer: ModelAnswer,
  { most }: Pick<Hold, "most">,
  prices: Pick<TurnParts, "costOf">,
): Partial<Amount> {
  return { ...toAmount(answer, prices), usd: toKnownUsd(answer, prices) ?? most.usd };
}

function toKnownUsd(
  { usage, cost_usd, by }: ModelAnswer,
  { costOf }: Pick<TurnParts, "costOf">,
): number | undefined {
  const { native_calls: _, ...tokens } = usage;
  return cost_usd ?? costOf(tokens, by?.deployment);
}

interface Asked {
  readonly request: ModelRequest;
  readonly step: Step;
  readonly meter: CallMeter;
}

/**
 * How many reads from the model may continue while the log writes; they become one row. A log that cannot be written
 * ends the turn at the latest by so many more.
 */
const MAX_UNAWAITED = 16;

async function askModel(
  parts: TurnParts,
  turn: ModelTurn,
  { request, step, meter }: Asked,
): Promise<ModelAnswer> {
  const { context, provider, clock, costOf } = parts;
  const { signal } = step;
  const items: Item[] = [];
  const notice = (said: Omit<Notice, "type">): void => {
    // Order in the log is that of the calls; a log that cannot be written fails the next emit too.
    context.emit([{ type: "notice", ...said }]).catch(() => {});
  };
  const call = {
    signal,
    run: context.id,
    owner: context.tenant ?? undefined,
    notice,
    beforeSend: () => step.confirm(),
    ...meter.call,
  };
  let unawaited = 0;
  for await (const batch of provider.stream(request, call)) {
    meter.read(batch);
    const end = batch.find((event) => event.type === "end");
    collect(batch, items, turn.onText);
    if (!end) {
      const stored = context.emit(batch as readonly RunEvent[]);
      if (++unawaited % MAX_UNAWAITED === 0) await stored;
      continue;
    }
    const answer = toAnswer(items, end, costOf);
    const last = toLastEvents(turn.number, { batch, answer }, clock.now());
    step.end(last, turn.survives?.(answer.items));
    return answer;
  }
  throw new Failure("provider_broke_protocol", "The provider stopped without an ending.");
}

export function collect(
  batch: readonly ModelEvent[],
  items: Item[],
  onText: ModelTurn["onText"],
): void {
  for (const event of batch) {
    if (event.type === "text_delta") onText(event.delta);
    if (event.type === "item_end") items[event.index] = event.item;
  }
}

interface LastBatch {
  readonly batch: readonly ModelEvent[];
  readonly answer: ModelAnswer;
}

/** The last batch of a turn, as the log has it. */
export function toLastEvents(
  turn: number,
  { batch, answer }: LastBatch,
  nowMs: number,
): RunEvent[] {
  const { reason, usage, cost_usd, by, stop } = answer;
  const told = { ...(by ? { by } : {}), ...(stop ? { stop } : {}) };
  const end = { turn, reason, usage, cost_usd, ...told };
  const said = batch.filter(
    (event): event is Exclude<ModelEvent, ModelEnd> => event.type !== "end",
  );
  return [...said, { type: "turn_end", ...end, at_ms: nowMs }];
}

export function toAnswer(items: Item[], end: ModelEnd, costOf: TurnParts["costOf"]): ModelAnswer {
  const { reason, usage, cost_usd, continuation = null, by, stop } = end;
  // Places may have gaps: a vendor numbers items that it never finished.
  return {
    items: items.filter(Boolean),
    reason,
    usage,
    cost_usd: cost_usd ?? costOf(usage, by?.deployment) ?? null,
    continuation,
    ...(by ? { by } : {}),
    ...(stop ? { stop } : {}),
  };
}

/** The text of the messages among `items`. */
export function textOf(items: readonly Item[]): string {
  return items
    .flatMap((item) => (item.type === "message" ? [messageText(item.content)] : []))
    .join("");
}

type MessageContent = Extract<Item, { type: "message" }>["content"];

function messageText(content: MessageContent): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "output_text" ? part.text : "")).join("");
}

/** The longest reason for a failure that a parent's model and the record get, in characters. */
const MAX_REASON_CHARS = 1000;

/** The message of a refusal, with the model's own words if it gave any. */
export function whyRefused(items: readonly Item[]): string {
  const parts = items.flatMap((item) =>
    item.type === "message" && typeof item.content !== "string" ? item.content : [],
  );
  const words = parts.flatMap((part) => (part.type === "refusal" ? [part.refusal.trim()] : []));
  const why = words.filter((one) => one !== "").join(" ");
  const declined = "The model declined to answer";
  return why === "" ? `${declined}.` : `${declined}: ${clip(why, MAX_REASON_CHARS)}`;
}
