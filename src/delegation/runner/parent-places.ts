/**
 * The places for child processes of a run that is in a process of its own. It has one place already: its own, which
 * its first child takes, because the run waits for that child. So every level can continue, however few places there
 * are. For all other children the parent is asked, so that a tree has at most the processes that its root allows.
 */

import { throwIfAborted } from "../../base/async.ts";
import { createTurnstile } from "../../base/turnstile.ts";
import type { ChildPlaces } from "../child.ts";
import { encodePlaceAsk, parsePlace } from "../place-line.ts";
import { createLineAsk, type ParentLine } from "./parent-line.ts";

export function openParentPlaces(line: ParentLine): ChildPlaces {
  const own = createTurnstile(1);
  const ask = createLineAsk(line, parsePlace);

  async function askAbove(signal: AbortSignal): Promise<() => void> {
    let number = 0;
    const giveBack = (): void => {
      // A parent that does not read any more has ended this run.
      line.send(encodePlaceAsk({ ask: number, isDone: true })).catch(() => {});
    };
    const toFrame = (given: number) => {
      number = given;
      return encodePlaceAsk({ ask: number, isDone: false });
    };
    try {
      await ask(toFrame, signal);
      return giveBack;
    } catch (thrown) {
      giveBack();
      throw thrown;
    }
  }

  return {
    async enter(signal, onWait) {
      throwIfAborted(signal);
      if (own.inside === 0) return await own.enter(signal);
      onWait?.();
      return await firstOf([(until) => own.enter(until), askAbove], signal);
    },
  };
}

/** Takes the place that comes first; the other request is withdrawn. */
async function firstOf(
  ways: readonly ((signal: AbortSignal) => Promise<() => void>)[],
  signal: AbortSignal,
): Promise<() => void> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  let isTaken = false;
  const entering = ways.map(async (enter) => {
    const leave = await enter(until);
    if (isTaken) leave();
    isTaken = true;
    over.abort();
    return leave;
  });
  for (const one of entering) one.catch(() => {});
  return await Promise.race(entering);
}
