/**
 * Ids that sort by the time they were made: `run_01k9x2m4c8…`, a prefix, 10 characters of time and
 * 16 of chance, all in a base-32 alphabet whose order is that of the bytes.
 *
 * Two ids of one millisecond still sort by birth: the chance part then counts up instead of being
 * drawn again.
 */

import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "./clock.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** The prefix tells what kind of thing the id names: `run`, `msg`, `conv`. */
export type MakeId = (prefix: string) => string;

export function createIds(clock: Clock = systemClock, random = randomBytes): MakeId {
  let lastMs = -1;
  let chance: number[] = [];
  return (prefix) => {
    const ms = Math.max(clock.now(), lastMs);
    chance = ms === lastMs ? countUp(chance) : [...random(16)].map((byte) => byte & 31);
    lastMs = ms;
    return `${prefix}_${encodeTime(ms)}${chance.map((digit) => ALPHABET[digit]).join("")}`;
  };
}

/** The ids of this process. Code that must be repeatable takes a `MakeId` instead. */
export const makeId: MakeId = createIds();

function encodeTime(ms: number): string {
  let text = "";
  let rest = ms;
  for (let i = 0; i < 10; i++) {
    text = `${ALPHABET[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function countUp(digits: readonly number[]): number[] {
  const next = [...digits];
  for (let i = next.length - 1; i >= 0; i--) {
    const digit = next[i] ?? 0;
    next[i] = (digit + 1) % 32;
    if (digit < 31) break;
  }
  return next;
}
