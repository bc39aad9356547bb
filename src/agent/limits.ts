/** The limits of a run, which count everything that it and its subagents spend. */

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

/** Null if unlimited. Time is a deadline and not an amount: children use it side by side. */
export type Limits = { readonly [Kind in LimitKind]: number | null };

export const LIMIT_KINDS: Readonly<Record<LimitKind, string>> = {
  turns: "Model calls",
  tokens: "Tokens, input and output",
  usd: "US dollars; a model without a known price is not started under such a limit",
  tool_calls: "Tool calls",
  children: "Subagents, at any depth",
};

/** Within 0 and what is there. */
export const clamp = (wanted: number, there: number): number =>
  Math.max(0, Math.min(wanted, there));

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
  // Each hold needs several amounts, and every call of a tree holds: a list of pairs in between doubles the time.
  const made = {} as Record<LimitKind, Value>;
  for (const kind of KINDS) made[kind] = of(kind);
  return made;
}

/** The smaller of each. */
export function toLeast(a: Limits, b: Limits): Limits {
  return mapKinds((kind) => {
    const least = Math.min(
      a[kind] ?? Number.POSITIVE_INFINITY,
      b[kind] ?? Number.POSITIVE_INFINITY,
    );
    return Number.isFinite(least) ? least : null;
  });
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

/** Writes an amount of one kind for a person, rounded. */
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

/** A call that was refused: what it may take, and what there is for it. */
export interface NextCall {
  readonly wanted: number;
  readonly left: number;
}

/** Calls take tokens and dollars in amounts that differ, so there may be some left that is too little for one. */
export function describeLack(kind: LimitKind, what: string, { wanted, left }: NextCall): string {
  if (left === 0 || (kind !== "tokens" && kind !== "usd")) return "is used up";
  return `does not cover ${what} (${toFigure(kind, left)} left, about ${toFigure(kind, wanted)} needed)`;
}
