/** Reads a day: `today`, `2030-12-31`. Days are in UTC, as for the limits of keys. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Options } from "../command.ts";

export const DAY_MS = 86_400_000;

/** The first moment of the day. Rejects with `invalid_request` what is not a day. */
export function readDayMs(value: Options[string], nowMs: number): number {
  if (value === "today") return nowMs - (nowMs % DAY_MS);
  const text = String(value);
  const dayMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(dayMs)) return dayMs;
  const message = `--day takes \`today\` or a day as \`2030-12-31\`, not \`${clip(text, 40)}\`.`;
  throw new Failure("invalid_request", message);
}
