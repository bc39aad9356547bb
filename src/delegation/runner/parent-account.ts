/**
 * What a run in a process of its own spends from: what its parent gave it when it started, and more when
 * it needs more. The parent is asked before a call there is too little for, and waits with its answer
 * while another child may still give something back.
 */

import { type Account, createAccount, type Purse } from "../../agent/account.ts";
import { type Amount, KINDS, type Limits } from "../../agent/limits.ts";
import { explainShare } from "../../agent/share.ts";
import { toAbortFailure } from "../../base/async.ts";
import type { JsonObject } from "../../base/json.ts";
import { encodeAsk, parseAnswer, type TopUpAnswer, type TopUpAsk } from "../top-up.ts";

export interface ParentLine {
  /** Writes a frame that the parent reads. */
  send(frame: JsonObject): Promise<void>;
  /** Told each line that the parent writes. */
  onLine(listener: (line: string) => void): void;
}

interface Opening {
  /** What it may have in all. */
  readonly ceiling: Limits;
  /** What it has when it starts. */
  readonly given: Limits;
}

export function openParentAccount({ ceiling, given }: Opening, line: ParentLine): Account {
  const ask = createAsk(line);
  let now = toGiven(given);
  const purse: Purse = {
    get given() {
      return now;
    },
    // It takes a moment: whoever can wait for it gathers.
    raise() {},
    async gather(least, most, signal) {
      const answer = await ask({ spent: account.spent, least, most }, signal);
      now = toGiven(answer.given);
      // The parent has waited for as long as there was hope.
      return false;
    },
    explain: (kind) => explainShare(kind, now[kind] ?? 0),
  };
  const account = createAccount(ceiling, purse);
  return account;
}

/** What the parent does not limit is not its business. */
function toGiven(limits: Limits): Partial<Amount> {
  const kinds = KINDS.filter((kind) => limits[kind] !== null);
  return Object.fromEntries(kinds.map((kind) => [kind, limits[kind]]));
}

type Ask = (asked: Omit<TopUpAsk, "ask">, signal: AbortSignal) => Promise<TopUpAnswer>;

function createAsk({ send, onLine }: ParentLine): Ask {
  const waiting = new Map<number, (answer: TopUpAnswer) => void>();
  let asks = 0;
  onLine((line) => {
    const answer = parseAnswer(line);
    if (answer) waiting.get(answer.ask)?.(answer);
  });
  return async (asked, signal) => {
    const number = ++asks;
    const stop = new AbortController();
    const aborted = new Promise<never>((_, reject) => {
      const giveUp = (): void => reject(toAbortFailure(signal));
      signal.addEventListener("abort", giveUp, { once: true, signal: stop.signal });
      if (signal.aborted) giveUp();
    });
    const answered = new Promise<TopUpAnswer>((resolve) => void waiting.set(number, resolve));
    try {
      await Promise.race([send(encodeAsk({ ask: number, ...asked })), aborted]);
      return await Promise.race([answered, aborted]);
    } finally {
      stop.abort();
      waiting.delete(number);
    }
  };
}
