/**
 * Ids that sort by the time they were made: `run_01k9x2m4c8…`, a prefix, 10 characters of time and 16
 * random ones, all in a base-32 alphabet whose order is that of the bytes.
 *
 * Ids of the same millisecond sort in the order they were made: the random part counts up instead of being
 * drawn again.
 */

import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "./clock.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const LETTERS = Buffer.from(ALPHABET, "latin1");

/** Makes an id. The prefix says what the id names: `run`, `msg`, `conv`. */
export type MakeId = (prefix: string) => string;

export function createIds(clock: Clock = systemClock, random = createChance()): MakeId {
  let lastMs = -1;
  let time = "";
  const chance = new Uint8Array(CHANCE_CHARS);
  const letters = Buffer.alloc(CHANCE_CHARS);
  return (prefix) => {
    const ms = Math.max(clock.now(), lastMs);
    if (ms === lastMs) countUp(chance);
    else {
      lastMs = ms;
      time = encodeTime(ms);
      chance.set(random(CHANCE_CHARS));
    }
    // Letter by letter the text would cost 500 bytes of memory, which each request pays (bench/gateway.ts).
    for (let at = 0; at < CHANCE_CHARS; at++) letters[at] = LETTERS[(chance[at] ?? 0) & 31] ?? 0;
    return `${prefix}_${time}${letters.toString("latin1")}`;
  };
}

const CHANCE_CHARS = 16;

/**
 * Random bytes for some hundred ids, drawn ahead: each draw asks the system, which costs as much as the
 * rest of an id.
 */
const POOL_BYTES = 4096;

function createChance(): (bytes: number) => Uint8Array {
  let pool = Buffer.alloc(0);
  return (bytes) => {
    if (pool.length < bytes) pool = randomBytes(POOL_BYTES);
    const taken = pool.subarray(0, bytes);
    pool = pool.subarray(bytes);
    return taken;
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

function countUp(digits: Uint8Array): void {
  for (let at = digits.length - 1; at >= 0; at--) {
    const digit = (digits[at] ?? 0) & 31;
    digits[at] = (digit + 1) & 31;
    if (digit < 31) return;
  }
}
