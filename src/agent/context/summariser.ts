/**
 * Has any model sum up a conversation, for whoever keeps it short.
 *
 * Run code: the summary is journaled and told in one transaction, so that neither a crash nor a
 * takeover asks twice or tells twice.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelEnd } from "../../protocol/model-events.ts";
import type { RunError, RunEvent } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelRequest, Provider } from "../../providers/provider.ts";
import type { Account } from "../account.ts";
import { type CallMeter, createCallMeter, toBrokenAmount } from "../broken-answer.ts";
import { gatherCall, holdCall } from "../call-cost.ts";
import { type Answer, textOf, toAmount, toSettled } from "../turn.ts";
import { cutToFit } from "./cut-to-fit.ts";
import { halveSummaryRequest, type SummaryWish, toSummaryRequest } from "./summary-request.ts";
import { isVain } from "./vain.ts";

export interface SummariserParts extends SummaryWish {
  readonly context: RunContext;
  readonly provider: Provider;
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
  readonly tellsCost?: boolean | undefined;
  readonly account: Account;
  /** Awaited before money is set aside for the call, and not where the journal has the summary. */
  readonly prepare?: (() => Promise<void>) | undefined;
}

/** A summary, and what it cost. */
export interface Told {
  readonly summary: string;
  readonly answer: Pick<Answer, "usage" | "cost_usd">;
}

export interface SummaryJob<Made extends Pick<Told, "answer">> {
  /** What is summed up, as a model reads it. */
  readonly items: readonly Item[];
  /** A summary that is known already: no model is asked. */
  readonly told?: Told | undefined;
  /** What the journal keeps of it, and the events that tell of it. */
  write(told: Told): { readonly made: Made; readonly events: readonly RunEvent[] };
}

export interface Summariser {
  /**
   * `place` is unique in the run, and the same on replay. Rejects where the model gave no summary, or it
   * could not be paid for (`isVain`); a takeover does not try again.
   */
  summarise<Made extends Pick<Told, "answer">>(place: string, job: SummaryJob<Made>): Promise<Made>;
}

export function createSummariser(parts: SummariserParts): Summariser {
  return {
    async summarise<Made extends Pick<Told, "answer">>(place: string, job: SummaryJob<Made>) {
      const { context, account } = parts;
      let isReplayed = true;
      const made = (await context.step(`compact:${place}`, async ({ signal, end }) => {
        isReplayed = false;
        const tried = await tell(parts, job, signal).catch(toVain);
        if (isVainAttempt(tried)) return tried as unknown as Json;
        const written = job.write(tried);
        end(written.events);
        return written.made as unknown as Json;
      })) as unknown as Made | Vain;
      if (isVainAttempt(made)) throw new Failure(made.code, made.message);
      if (isReplayed) account.charge(toAmount(made.answer as Answer, parts));
      return made;
    },
  };
}

/** An attempt that failed at the model; written down, so that a takeover does not make it again. */
type Vain = RunError;

function isVainAttempt(tried: object): tried is Vain {
  return "code" in tried;
}

function toVain(thrown: unknown): Vain {
  const { code, message } = toFailure(thrown);
  if (isVain(code)) return { code, message };
  throw thrown;
}

async function tell(
  parts: SummariserParts,
  { items, told }: Pick<SummaryJob<Told>, "items" | "told">,
  signal: AbortSignal,
): Promise<Told> {
  if (told) return told;
  await parts.prepare?.();
  const { costOf, tellsCost, account } = parts;
  const asking = toSummaryRequest(items, parts);
  await gatherCall(account, asking, { costOf, tellsCost, signal });
  const { request, hold } = await holdCall(account, asking, { costOf, tellsCost, signal });
  const meter = createCallMeter();
  try {
    const provider = cutToFit(parts.provider, (one) => halveSummaryRequest(one, items));
    const answer = await ask({ ...parts, provider }, { request, meter }, signal);
    hold.settle(toSettled(answer, hold, parts));
    const summary = textOf(answer.items).trim();
    if (summary === "") {
      throw new Failure(
        "provider_broke_protocol",
        "The model gave no summary of the conversation.",
      );
    }
    const { usage, cost_usd } = answer;
    return { summary, answer: { usage, cost_usd } };
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

/** Nobody watches it being written: what counts is its end. */
async function ask(
  { provider, context, costOf }: SummariserParts,
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
