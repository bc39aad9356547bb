/**
 * Makes a conversation short, with any model: it is asked for a summary, and what it says is sealed
 * together with the user's own words into one `compaction` item.
 *
 * Run code: the answer is journaled and the item told in one transaction, so that neither a crash nor
 * a takeover asks twice or tells twice.
 */

import { Failure, type FailureCode, toFailure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Compaction, Item } from "../../protocol/items.ts";
import type { ModelEnd } from "../../protocol/model-events.ts";
import type { RunError, RunEvent } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelRequest, Provider } from "../../providers/provider.ts";
import type { Account } from "../account.ts";
import { type CallMeter, createCallMeter, toBrokenAmount } from "../broken-answer.ts";
import { holdCall } from "../call-cost.ts";
import { type Answer, textOf, toAmount, toSettled } from "../turn.ts";
import type { CompactionSeal } from "./compacted-context.ts";
import { cutToFit } from "./cut-to-fit.ts";
import { type Expanded, type Expanding, expandCompactions } from "./expand-compactions.ts";
import { type KeptWords, keepAsked, keepWords } from "./keep-words.ts";
import { halveSummaryRequest, type SummaryWish, toSummaryRequest } from "./summary-request.ts";

export interface CompactorParts extends SummaryWish {
  readonly context: RunContext;
  readonly provider: Provider;
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
  readonly tellsCost?: boolean | undefined;
  readonly account: Account;
  readonly seal: CompactionSeal;
  /** What the ids of its items begin with. */
  readonly idPrefix: string;
  readonly expanding: Expanding;
  /** What may be kept word for word. */
  readonly keptTokens: number;
}

export interface MadeCompaction {
  readonly item: Compaction;
  readonly answer: Pick<Answer, "usage" | "cost_usd">;
}

export interface Compactor {
  /**
   * `place` is unique in the run: the number of the turn behind which it is made, 0 for none. `asked` are
   * those of the items that the model is still to answer; the compaction ends with them as they are.
   */
  compact(items: readonly Item[], place: number, asked?: readonly Item[]): Promise<MadeCompaction>;
}

export function createCompactor(parts: CompactorParts): Compactor {
  return {
    async compact(items, place, asked = []) {
      const { context, account } = parts;
      let isReplayed = true;
      const made = (await context.step(`compact:${place}`, async ({ signal, end }) => {
        isReplayed = false;
        const tried = await make(parts, { items, asked }, signal).catch(toVain);
        if ("item" in tried) end(toEvents(tried.item));
        return tried as unknown as Json;
      })) as unknown as MadeCompaction | Vain;
      if ("code" in made) throw new Failure(made.code, made.message);
      if (isReplayed) account.charge(toAmount(made.answer as Answer, parts));
      return made;
    },
  };
}

/** An attempt that failed at the model; written down, so that a takeover does not make it again. */
type Vain = RunError;

function toVain(thrown: unknown): Vain {
  const { code, message } = toFailure(thrown);
  if (isVain(code)) return { code, message };
  throw thrown;
}

/** Whether a conversation could not be compacted for reasons of the model or the budget. */
export function isVain(code: FailureCode): boolean {
  return VAIN.has(code);
}

const VAIN: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "provider_rejected",
  "model_not_found",
  "provider_overloaded",
  "provider_failed",
  "provider_timeout",
  "provider_unreachable",
  "provider_broke_protocol",
  "empty_answer",
  "broken_answer",
  "context_exceeded",
  "budget_exceeded",
]);

interface Conversation {
  readonly items: readonly Item[];
  readonly asked: readonly Item[];
}

async function make(
  parts: CompactorParts,
  { items, asked }: Conversation,
  signal: AbortSignal,
): Promise<MadeCompaction> {
  const open = new Set(asked);
  const before = items.filter((item) => !open.has(item));
  const expanded = expandCompactions(before, { ...parts.expanding, isNative: false });
  if (expanded.items.length === 0) {
    const message = "There is no conversation to compact. Give an `input` before the trigger.";
    throw new Failure("invalid_request", message, { param: "input" });
  }
  const asking = toSummaryRequest(expanded.items, parts);
  const { request, hold } = await holdCall(parts.account, asking, { ...parts, signal });
  const meter = createCallMeter();
  try {
    const provider = cutToFit(parts.provider, (one) => halveSummaryRequest(one, expanded.items));
    const answer = await ask({ ...parts, provider }, { request, meter }, signal);
    hold.settle(toSettled(answer, hold, parts));
    const summary = textOf(answer.items).trim();
    if (summary === "") {
      throw new Failure(
        "provider_broke_protocol",
        "The model gave no summary of the conversation.",
      );
    }
    const kept = keep(parts, expanded, asked);
    const encrypted_content = parts.seal.seal({ summary, ...kept });
    const id = makeId(parts.idPrefix);
    const { usage, cost_usd } = answer;
    return { item: { type: "compaction", id, encrypted_content }, answer: { usage, cost_usd } };
  } catch (thrown) {
    const used = meter.toUsage(request, { isLeft: signal.aborted, thrown });
    // Neither does anything where it was settled: an answer without words was paid for.
    if (used) {
      const broken = { mostUsd: hold.most.usd, deployment: meter.deployment() };
      hold.settle({ turns: 1, ...toBrokenAmount(used, parts, broken) });
    } else hold.release();
    throw thrown;
  }
}

function keep(
  { keptTokens: maxTokens }: CompactorParts,
  { items, summary: except }: Expanded,
  asked: readonly Item[],
): KeptWords {
  if (asked.length === 0) return keepWords(items, maxTokens, except);
  return keepAsked(items, asked, { maxTokens, except });
}

/** Nobody watches it being written: what counts is its end. */
async function ask(
  { provider, context, costOf }: CompactorParts,
  { request, meter }: { readonly request: ModelRequest; readonly meter: CallMeter },
  signal: AbortSignal,
): Promise<Answer> {
  const items: Item[] = [];
  const call = { signal, run: context.id, owner: context.tenant ?? undefined, ...meter.call };
  for await (const batch of provider.stream(request, call)) {
    meter.read(batch);
    let end: ModelEnd | undefined;
    for (const event of batch) {
      if (event.type === "item_end") items[event.index] = event.item;
      if (event.type === "end") end = event;
    }
    if (!end) continue;
    const { reason, usage, by } = end;
    const cost_usd = end.cost_usd ?? costOf(usage, by?.deployment) ?? null;
    return { items: items.filter(Boolean), reason, usage, cost_usd, continuation: null };
  }
  throw new Failure("provider_broke_protocol", "The provider stopped without an ending.");
}

function toEvents(item: Item): RunEvent[] {
  return [
    { type: "item_start", index: 0, item },
    { type: "item_end", index: 0, item },
  ];
}
