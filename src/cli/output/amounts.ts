/** Figures as people read them: money, tokens, time. */

import { toRoundUsd } from "../../base/text.ts";

export function toMoney(usd: number | null): string {
  if (usd === null) return "cost unknown";
  if (usd === 0) return "free";
  if (usd < 0.0001) return "under $0.0001";
  return toRoundUsd(usd);
}

/** `$0.12 + unknown` where the price of some calls is not known. */
export function toPartialMoney(knownUsd: number, unknownCalls: number): string {
  if (unknownCalls === 0) return toMoney(knownUsd);
  return knownUsd === 0 ? toMoney(null) : `${toMoney(knownUsd)} + unknown`;
}

export function toSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
