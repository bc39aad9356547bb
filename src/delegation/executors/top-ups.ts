/** What a child that spends by itself is charged with, and given more, while it works. */

import type { ChildAccount } from "../../agent/account.ts";
import { type Amount, eachKind, type Limits } from "../../agent/limits.ts";
import type { Needs } from "../parent-account.ts";
import { encodeAnswer, type TopUpAsk } from "../top-up.ts";

export interface TopUps {
  answer(ask: TopUpAsk): void;
  stop(): void;
}

/** Answers a child in a process of its own: it asks, waits, and is told what it may spend now. */
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
    // Whose parent is cancelled, or who is gone, needs no answer.
    answer: (ask) => void answer(ask).catch(() => {}),
    stop: () => over.abort(),
  };
}

/** Counts what the child has spent, and waits for what it needs. Returns what it may spend now, in all. */
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

/** What the child says that it has spent in all; it may have said some of that before. */
export function chargeUpTo(account: ChildAccount, spent: Amount): void {
  account.charge(eachKind((kind) => Math.max(0, spent[kind] - account.spent[kind])));
}
