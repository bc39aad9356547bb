/**
 * Asks a model to summarise a conversation.
 *
 * Run code: the summary is journaled and reported in one transaction, so neither a crash nor a takeover asks twice or
 * reports twice.
 */

import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import { type Stored, storedObject } from "../../base/stored.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { ModelEnd } from "../../protocol/model-events.ts";
import type { RunError, RunEvent } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelRequest, Provider } from "../../providers/provider.ts";
import type { Account } from "../account.ts";
import { type CallMeter, createCallMeter, toBrokenAmount } from "../broken-answer.ts";
import { gatherCall, holdCall } from "../call-cost.ts";
import { type ModelAnswer, textOf, toAmount, toSettled } from "../turn.ts";
import { cutToFit } from "./cut-to-fit.ts";
import { halveSummaryRequest, type SummaryWish, toSummaryRequest } from "./summary-request.ts";
import { isVain } from "./vain.ts";

export interface SummariserParts extends SummaryWish {
  readonly context: RunContext;
  readonly provider: Provider;
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
  readonly tellsCost?: boolean | undefined;
  readonly account: Account;
  /** Awaited before budget is reserved for the call; not called if the journal has the summary. */
  readonly prepare?: (() => Promise<void>) | undefined;
}

/** A summary, and what it cost. */
export interface Told {
  readonly summary: string;
  readonly answer: Pick<ModelAnswer, "usage" | "cost_usd">;
}

export interface SummaryJob<Made extends Pick<Told, "answer">> {
  /** The items to summarise, as a model reads them. */
  readonly items: readonly Item[];
  /** A summary that is known already: no model is asked. */
  readonly told?: Told | undefined;
  /** How the journal keeps it. */
  readonly stored: Stored<Made>;
  /** Returns what the journal keeps of the summary, and the events that report it. */
  write(told: Told): { readonly made: Made; readonly events: readonly RunEvent[] };
}

export interface Summariser {
  /**
   * `place` is unique in the run, and the same on replay. Rejects if the model gave no summary, or it could not be
   * paid for (`isVain`); a takeover does not try again.
   */
  summarise<Made extends Pick<Told, "answer">>(place: string, job: SummaryJob<Made>): Promise<Made>;
}

export function createSummariser(parts: SummariserParts): Summariser {
  return {
    async summarise<Made extends Pick<Told, "answer">>(place: string, job: SummaryJob<Made>) {
      const { context, account } = parts;
      let isReplayed = true;
      const kept = await context.step(`compact:${place}`, async ({ signal, end }) => {
        isReplayed = false;
        const tried = await tell(parts, job, signal).catch(toVain);
        if (isVainAttempt(tried)) return STORED_VAIN.write(tried);
        const written = job.write(tried);
        end(written.events);
        return job.stored.write(written.made);
      });
      if (isJsonObject(kept) && "code" in kept) {
        const { code, message } = STORED_VAIN.read(kept);
        throw new Failure(code, message);
      }
      const made = job.stored.read(kept);
      if (isReplayed) account.charge(toAmount(made.answer as ModelAnswer, parts));
      return made;
    },
  };
}

/** The failure of an attempt at the model; journaled, so that a takeover does not repeat the attempt. */
type Vain = RunError;

const STORED_VAIN = storedObject<Vain>("the failure of a summary", ["code", "message"]);

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
    // A call that was settled needs no estimate: an answer without words was paid for.
    if (used) {
      const broken = { mostUsd: hold.most.usd, deployment: meter.deployment() };
      hold.settle({ turns: 1, ...toBrokenAmount(used, parts, broken) });
    } else hold.release();
    throw thrown;
  }
}

/** The answer is not streamed to anyone: only its end counts. */
async function ask(
  { provider, context, costOf }: SummariserParts,
  { request, meter }: { readonly request: ModelRequest; readonly meter: CallMeter },
  signal: AbortSignal,
): Promise<ModelAnswer> {
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
