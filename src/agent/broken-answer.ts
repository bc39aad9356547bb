/**
 * Computes what an interrupted answer has cost. The vendor's own count is used where it came; the rest is estimated
 * from what was sent and what was said. So an interrupted call costs about what it used, and not all that was reserved
 * for it.
 */

import { Failure } from "../base/failure.ts";
import { countJsonChars } from "../base/json-size.ts";
import type { ItemEnd, ModelEvent } from "../protocol/model-events.ts";
import type { LoggedEvent, RunEvent } from "../protocol/run-events.ts";
import { toUsage, type Usage } from "../protocol/usage.ts";
import type { ModelCall, ModelRequest } from "../providers/provider.ts";
import type { Account } from "./account.ts";
import { estimateInput, type Priced, toTokens } from "./call-estimate.ts";
import { type Amount, NOTHING } from "./limits.ts";

/** Watches one model call, so that its cost is known if it does not end. */
export interface CallMeter {
  /** Options for the call, besides its signal. */
  readonly call: Required<Pick<ModelCall, "onSend" | "onUsage">>;
  /** The deployment that was asked last, if the model's name stands for several. */
  deployment(): string | undefined;
  read(batch: readonly MeteredEvent[]): void;
  /** The usage of a failed call; undefined if it was not sent or was refused, and so used nothing. */
  toUsage(request: ModelRequest, broken: Broken): Usage | undefined;
}

/**
 * How a call was interrupted. If its client left, or it was too large, the model has read the request even if no
 * output came.
 */
export interface Broken {
  /** True if no client waits for the answer any more. */
  readonly isLeft: boolean;
  /** The error that was thrown, if any. */
  readonly thrown: unknown;
}

type MeteredEvent = ModelEvent | RunEvent;

export function createCallMeter(): CallMeter {
  let isSent = false;
  let counted: Usage | undefined;
  let deployment: string | undefined;
  // An answer that comes whole is not counted while it comes.
  let said: CharCount | undefined;
  return {
    call: {
      onSend(to) {
        isSent = true;
        deployment = to;
        // A new try: what the vendor reported for an earlier one does not apply to this one.
        counted = undefined;
      },
      onUsage(usage) {
        if (usage.total_tokens > 0) counted = usage;
      },
    },
    deployment: () => deployment,
    read(batch) {
      said ??= new CharCount();
      said.read(batch);
    },
    toUsage(request, { isLeft, thrown }) {
      const isRead = isSent && (isLeft || isTooLarge(thrown));
      const isUsed = said?.hasBegun || counted !== undefined || isRead;
      return isUsed ? estimateUsage(request, said?.chars ?? 0, counted) : undefined;
    },
  };
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "answer_too_large";
}

/** Uses each count of the vendor that came, and estimates the others. */
function estimateUsage(request: Priced, chars: number, counted?: Usage): Usage {
  const most = request.max_output_tokens ?? Number.POSITIVE_INFINITY;
  const details = counted?.input_tokens_details;
  return toUsage({
    input: counted?.input_tokens || estimateInput(withoutIds(request)),
    cached: details?.cached_tokens,
    cacheWrite: details?.cache_write_tokens,
    cacheWriteHour: details?.cache_write_hour_tokens,
    unbilledInput: details?.unbilled_tokens,
    output: counted?.output_tokens || Math.min(toTokens(chars), most),
    reasoning: counted?.output_tokens_details.reasoning_tokens,
    unbilledOutput: counted?.output_tokens_details.unbilled_tokens,
  });
}

/** Ids are made here and mean nothing to a model: a request costs the same with and without them. */
function withoutIds(request: Priced): Priced {
  const items = request.items.map((item) => {
    if (!("id" in item)) return item;
    const { id: _, ...rest } = item;
    return rest as typeof item;
  });
  return { ...request, items };
}

class CharCount {
  #chars = 0;
  #hasBegun = false;
  /** Indexes of items whose text came in pieces. */
  readonly #pieces = new Set<number>();
  /** The index of the last piece: nearly all pieces belong to the same item as the one before. */
  #place = -1;

  get chars(): number {
    return this.#chars;
  }

  /** True once the model has said anything. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  read(batch: readonly MeteredEvent[]): void {
    for (const event of batch) {
      if ("delta" in event) this.#count(event.delta, event.index);
      else if (event.type === "item_end") this.#end(event);
      else if (event.type === "item_start") this.#hasBegun = true;
    }
  }

  #count(delta: string, index: number): void {
    this.#chars += delta.length;
    if (index !== this.#place) this.#pieces.add(index);
    this.#place = index;
  }

  /** Some vendors send an item whole. */
  #end({ index, item }: ItemEnd): void {
    if (!this.#pieces.delete(index)) this.#chars += countJsonChars(item);
    this.#place = -1;
  }
}

/** For each turn number: how many characters each abandoned attempt at that turn had said. */
export type AbandonedTurns = ReadonlyMap<number, readonly number[]>;

/** Finds the attempts in a log that have no end and are not worked on any more. */
export function findAbandonedTurns(log: readonly LoggedEvent[]): AbandonedTurns {
  const found = new Map<number, number[]>();
  let open: { readonly turn: number; readonly said: CharCount } | undefined;
  const abandon = (): void => {
    // An attempt that has said nothing may never have been sent.
    if (open?.said.hasBegun) {
      found.set(open.turn, [...(found.get(open.turn) ?? []), open.said.chars]);
    }
    open = undefined;
  };
  for (const { event } of log) {
    if (event.type === "turn_start") {
      abandon();
      open = { turn: event.turn, said: new CharCount() };
    } else if (event.type === "turn_end") open = undefined;
    else open?.said.read([event]);
  }
  abandon();
  return found;
}

interface Prices {
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
}

/**
 * US dollars per token of an interrupted call without a known price (its vendor would have sent the cost at the end):
 * about the price of the most expensive models. It must not be 0: a client that interrupts each answer would have no
 * limit.
 */
const UNTOLD_USD_PER_TOKEN = 30 / 1_000_000;

interface BrokenCall {
  /** The most that the call takes if the price is not known. */
  readonly mostUsd: number;
  readonly deployment?: string | undefined;
}

/** The amount that an interrupted call takes from a budget. */
export function toBrokenAmount(
  usage: Usage,
  { costOf }: Prices,
  { mostUsd, deployment }: BrokenCall,
): Partial<Amount> {
  const untold = Math.min(mostUsd, usage.total_tokens * UNTOLD_USD_PER_TOKEN);
  return { tokens: usage.total_tokens, usd: costOf(usage, deployment) ?? untold };
}

/**
 * Books what earlier attempts at a turn have used. They do not count as model calls of this run's limit or as its
 * usage, because abandoned work is part of no answer, and a replay of the run must come to the same figures.
 */
export function chargeAbandoned(
  account: Account,
  attempts: readonly number[],
  request: () => ModelRequest,
  prices: Prices,
): void {
  if (attempts.length === 0) return;
  const asked = request();
  const broken = { ...prices, mostUsd: account.limits.usd ?? 0 };
  for (const chars of attempts) account.charge(toAbandonedAmount(asked, chars, broken));
}

/** Estimates what an abandoned attempt has used, from what was sent and how much it had said. */
export function toAbandonedAmount(
  asked: Priced,
  chars: number,
  { mostUsd, ...prices }: Prices & Pick<BrokenCall, "mostUsd">,
): Amount {
  return { ...NOTHING, ...toBrokenAmount(estimateUsage(asked, chars), prices, { mostUsd }) };
}
