/** Charges a child that spends by itself, and gives it more, while it works. */

import type { ChildAccount } from "../../agent/account.ts";
import { type Amount, eachKind, type Limits } from "../../agent/limits.ts";
import type { Needs } from "../parent-account.ts";
import { encodeAnswer, type TopUpAsk } from "../top-up.ts";

export interface TopUps {
  answer(ask: TopUpAsk): void;
  stop(): void;
}

/** Answers a child in a process of its own: it asks, waits, and receives its new limits. */
export function createTopUps(
  account: ChildAccount,
  write: (line: string) => void,
  signal: AbortSignal,
): TopUps {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  async function answer({ ask, ...needs }: TopUpAsk): Promise<void> {
    write(encodeAnswer({ ask, given: await giveMore(account, needs, until) }));
  }
  return {
    // If its parent is cancelled, or the child is gone, it needs no answer.
    answer: (ask) => void answer(ask).catch(() => {}),
    stop: () => over.abort(),
  };
}

/** Charges what the child has spent, and waits for what it needs. Returns what it may spend now, in all. */
export async function giveMore(
  account: ChildAccount,
  { spent, least, most }: Needs,
  signal: AbortSignal,
): Promise<Limits> {
  chargeUpTo(account, spent);
  const toMore = (all: Amount): Amount => eachKind((kind) => all[kind] - account.spent[kind]);
  await account.gather(toMore(least), toMore(most), signal);
  return account.limits;
}

/** `spent` is what the child says that it has spent in all; some of it may be charged already. */
export function chargeUpTo(account: ChildAccount, spent: Amount): void {
  account.charge(eachKind((kind) => Math.max(0, spent[kind] - account.spent[kind])));
}
