/** What a run may spend, counted for itself and everything below it. */

import { plural, toRoundUsd, withThousands } from "../base/text.ts";

export interface Amount {
  /** Model calls. */
  readonly turns: number;
  readonly tokens: number;
  readonly usd: number;
  readonly tool_calls: number;
  /** Runs below it, at any depth. */
  readonly children: number;
}

export type LimitKind = keyof Amount;

/** Null where there is no limit. Time is a deadline and no amount: children use it side by side. */
export type Limits = { readonly [Kind in LimitKind]: number | null };

export const LIMIT_KINDS: Readonly<Record<LimitKind, string>> = {
  turns: "Model calls",
  tokens: "Tokens, input and output",
  usd: "US dollars; a model without a known price is not started under such a limit",
  tool_calls: "Tool calls",
  children: "Subagents, at any depth",
};

export const NOTHING: Amount = { turns: 0, tokens: 0, usd: 0, tool_calls: 0, children: 0 };

export const NO_LIMITS: Limits = {
  turns: null,
  tokens: null,
  usd: null,
  tool_calls: null,
  children: null,
};

export const KINDS = Object.keys(LIMIT_KINDS) as LimitKind[];

/** Makes an amount kind by kind. */
export function eachKind(of: (kind: LimitKind) => number): Amount {
  return mapKinds(of);
}

export function mapKinds<Value>(of: (kind: LimitKind) => Value): Record<LimitKind, Value> {
  // Several a hold, and every call of a tree holds: a list of pairs in between doubles what this takes.
  const made = {} as Record<LimitKind, Value>;
  for (const kind of KINDS) made[kind] = of(kind);
  return made;
}

export function addAmounts(a: Amount, b: Amount): Amount {
  return eachKind((kind) => a[kind] + b[kind]);
}

export function isNothing(amount: Amount): boolean {
  return KINDS.every((kind) => amount[kind] === 0);
}

/** The kinds of which `wanted` is more than `left`. */
export function findLacking(wanted: Amount, left: Amount): LimitKind[] {
  return KINDS.filter((kind) => wanted[kind] > left[kind]);
}

/** An amount of one kind as a person reads it, rounded. */
export function toFigure(kind: LimitKind, amount: number): string {
  if (kind === "usd") return toRoundUsd(amount);
  const count = Math.floor(amount);
  return `${withThousands(count)} ${plural(count, NOUNS[kind]).replace(/^\d+ /, "")}`;
}

const NOUNS: Readonly<Record<Exclude<LimitKind, "usd">, string>> = {
  turns: "turn",
  tokens: "token",
  tool_calls: "tool call",
  children: "subagent",
};
