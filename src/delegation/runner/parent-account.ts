/**
 * What a run in a process of its own spends from: what its parent gave it when it started, and more when
 * it needs more. The parent is asked before a call there is too little for, and waits with its answer
 * while another child may still give something back.
 */

import { type Account, createAccount, type Purse } from "../../agent/account.ts";
import { type Amount, KINDS, type Limits } from "../../agent/limits.ts";
import { explainShare } from "../../agent/share.ts";
import type { JsonObject } from "../../base/json.ts";
import { encodeAsk, parseAnswer } from "../top-up.ts";
import { createLineAsk, type ParentLine } from "./parent-line.ts";

interface Opening {
  /** What it may have in all. */
  readonly ceiling: Limits;
  /** What it has when it starts. */
  readonly given: Limits;
}

export function openParentAccount({ ceiling, given }: Opening, line: ParentLine): Account {
  const ask = createLineAsk(line, parseAnswer);
  let now = toGiven(given);
  const purse: Purse = {
    get given() {
      return now;
    },
    // No `draw`: the parent may wait for others before it answers, so it is asked by those who gather.
    async gather(least, most, signal) {
      const toFrame = (number: number): JsonObject =>
        encodeAsk({ ask: number, spent: account.spent, least, most });
      now = toGiven((await ask(toFrame, signal)).given);
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
