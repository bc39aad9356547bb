/**
 * The last row of a chat: model, fullness of its window, money spent, and what the keys do now. Pure.
 */

import { toPartialMoney, toShortCount } from "../output/amounts.ts";
import { PEN, type Row, widthOfRow } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";

export interface Spent {
  readonly tokens: number;
  readonly knownUsd: number;
  readonly unknownCalls: number;
}

export interface ChatStatus {
  /** Undefined until it is chosen. */
  readonly model: string | undefined;
  readonly isThinking: boolean;
  /** Tokens of the last model call. */
  readonly contextUsed: number;
  readonly contextTokens: number | undefined;
  readonly spent: Spent;
  readonly maxUsd: number | undefined;
  /** The present meaning of the keys. */
  readonly hint: string;
  /** The effect of the last key. Nothing else takes its place. */
  readonly note: string;
}

export function toStatusRow(status: ChatStatus, columns: number): Row {
  const { model, isThinking, spent, maxUsd, hint, note } = status;
  const budget = maxUsd === undefined ? "" : `limit $${maxUsd}/run`;
  const money =
    spent.tokens === 0 ? "" : toPartialMoney(spent.knownUsd, spent.unknownCalls, spent.tokens);
  const name = model === undefined ? "choosing a model" : cleanForTerminal(model);
  const parts = [
    note,
    `${name}${isThinking ? " (thinks)" : ""}`,
    toContext(status),
    money,
    budget,
    note === "" ? hint : "",
  ].filter((part) => part !== "");
  // If there is no room, the least important part goes first.
  while (parts.length > 1 && widthOfRow([{ text: parts.join(" · "), pen: "" }]) > columns - 1)
    parts.pop();
  return [{ text: parts.join(" · "), pen: PEN.dim }];
}

function toContext({ contextUsed, contextTokens }: ChatStatus): string {
  if (contextUsed === 0) return "";
  if (contextTokens === undefined) return `context ${toShortCount(contextUsed)}`;
  const percent = Math.min(100, Math.round((contextUsed / contextTokens) * 100));
  return `context ${percent}% of ${toShortCount(contextTokens)}`;
}
