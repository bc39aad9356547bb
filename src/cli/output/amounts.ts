/** Writes money, tokens and time for people. */

import { toUsd } from "../../base/text.ts";

/** The cost of a run. A run without tokens was not free: it has spent nothing. */
export function toMoney(usd: number | null, tokens = 1): string {
  if (usd === null) return "cost unknown";
  if (usd === 0) return tokens === 0 ? "nothing spent" : "free";
  if (usd < 0.0001) return "under $0.0001";
  return toUsd(usd);
}

/** `$0.12 + unknown` if the price of some calls is not known. */
export function toPartialMoney(knownUsd: number, unknownCalls: number, tokens = 1): string {
  if (unknownCalls === 0) return toMoney(knownUsd, tokens);
  return knownUsd === 0 ? toMoney(null) : `${toMoney(knownUsd)} + unknown`;
}

/** `$0.12+?`: the same if there is little room. */
export function toShortMoney(knownUsd: number, unknownCalls: number, tokens = 1): string {
  if (unknownCalls === 0) return toMoney(knownUsd, tokens);
  return knownUsd === 0 ? "$?" : `${toMoney(knownUsd)}+?`;
}

export function toSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** `12 s`, `3 m 04 s`, `1 h 02 m`: for a time that still grows. */
export function toElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(seconds / 3600);
  if (minutes === 0) return `${seconds} s`;
  const two = (count: number): string => String(count % 60).padStart(2, "0");
  return hours === 0 ? `${minutes} m ${two(seconds)} s` : `${hours} h ${two(minutes)} m`;
}

/** `980`, `12.3k`, `4.6M`: for a place too narrow for every digit. */
export function toShortCount(count: number): string {
  if (count < 1000) return String(count);
  const [size, unit] = count < 999_950 ? [1000, "k"] : [1_000_000, "M"];
  return `${(count / size).toFixed(1)}${unit}`;
}
