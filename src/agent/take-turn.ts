/** A turn of the loop: what is asked before it, what it may cost, and what its answer means for the run's progress. */

import { Failure } from "../base/failure.ts";
import { addUsage } from "../protocol/usage.ts";
import { chargeAbandoned } from "./broken-answer.ts";
import { gatherCall, holdCall } from "./call-cost.ts";
import { addCost, isFree } from "./call-estimate.ts";
import { contextNotice } from "./context/context-notice.ts";
import { makeRoom, shortenRefused } from "./context/keep-short.ts";
import { hear } from "./inbox.ts";
import type { LoopParts } from "./loop-parts.ts";
import { toRequest } from "./model-request.ts";
import type { RunProgress } from "./progress.ts";
import {
  isRefusedAsTooLong,
  type ModelAnswer,
  runTurn,
  type TurnAnswer,
  textOf,
  toAmount,
} from "./turn.ts";

export async function takeTurn(parts: LoopParts, progress: RunProgress): Promise<ModelAnswer> {
  const { task, contextTokens, account, context } = parts;
  await context.rest();
  await makeRoom(parts, progress);
  // A report only says what was found, and nothing may stand between the halves of one answer.
  if (!progress.isReporting && progress.paused === undefined) await hear(parts, progress);
  const notices = progress.notices;
  progress.notices = [];
  progress.turns++;
  const attempts = progress.abandoned.get(progress.turns) ?? [];
  chargeAbandoned(account, attempts, () => toRequest(parts, progress), parts);
  const answer = await askAndShorten(parts, progress, notices);
  progress.items.push(...answer.items);
  progress.text = (progress.paused ?? "") + textOf(answer.items);
  progress.paused = answer.reason === "pause" ? progress.text : undefined;
  progress.usage = addUsage(progress.usage, answer.usage);
  progress.counted = { usage: answer.usage, items: progress.items.length };
  progress.by = answer.by ?? progress.by;
  progress.stop = answer.stop;
  progress.previous = answer.continuation
    ? { at: answer.continuation, covered: progress.items.length }
    : undefined;
  progress.notices.push(...contextNotice(task.model, answer.usage, contextTokens));
  return answer;
}

/** A conversation that the vendor refuses as too long is shortened once, and asked again once. */
async function askAndShorten(
  parts: LoopParts,
  progress: RunProgress,
  notices: RunProgress["notices"],
): Promise<ModelAnswer> {
  const mayShorten = parts.keeper?.shortensRefused === true && progress.paused === undefined;
  const attempt = { notices, mayShorten };
  let answer = await ask(parts, progress, { isAgain: false, ...attempt });
  if (isRefusedAsTooLong(answer) && (await shortenRefused(parts, progress))) {
    answer = await ask(parts, progress, { isAgain: true, ...attempt });
  }
  if (isRefusedAsTooLong(answer)) throw new Failure("context_exceeded", answer.too_long);
  return answer;
}

interface Attempt {
  readonly notices: RunProgress["notices"];
  readonly mayShorten: boolean;
  readonly isAgain: boolean;
}

/** Asks the model once, and counts what that cost. */
async function ask(
  parts: LoopParts,
  progress: RunProgress,
  { notices, mayShorten, isAgain }: Attempt,
): Promise<TurnAnswer> {
  const { account } = parts;
  const costBefore = progress.costUsd;
  // Until its usage comes, at the very end, the cost of an answer is not known.
  const costMeanwhile = isFree(parts) ? costBefore : null;
  let written = progress.paused ?? "";
  let isReplayed = true;
  let isHeld = false;
  const answer = await runTurn(parts, {
    number: progress.turns,
    notices,
    mayShorten,
    isAgain,
    async hold(signal) {
      isReplayed = false;
      await parts.backgroundChildren?.restore();
      const request = toRequest(parts, progress);
      const { costOf, tellsCost } = parts;
      await gatherCall(account, request, { costOf, tellsCost, signal });
      const held = await holdCall(account, request, { costOf, tellsCost, signal });
      isHeld = true;
      return held;
    },
    survives: (items) => (parts.calls.findOwn(items).length > 0 ? "power" : "process"),
    onText(delta) {
      written += delta;
      progress.text = written;
      progress.costUsd = costMeanwhile;
    },
    onBroken(usage) {
      progress.usage = addUsage(progress.usage, usage);
      progress.costUsd = costMeanwhile;
    },
  }).catch((thrown: unknown) => {
    // A call that could not be paid for was not made.
    if (!isReplayed && !isHeld) progress.turns--;
    throw thrown;
  });
  if (isRefusedAsTooLong(answer)) return answer;
  if (isReplayed) account.charge(toAmount(answer, parts));
  progress.costUsd = addCost(costBefore, answer.cost_usd);
  return answer;
}
