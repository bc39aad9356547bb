/**
 * The questions of one child process, put to the person that this process can ask. While one is open the
 * child's time does not pass, whoever answers it: the child may get its answer from elsewhere.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Ask } from "../../tools/gate/ask.ts";
import { encodePersonAnswer, type PersonAsk } from "../person-line.ts";

export interface Person {
  /** Undefined where there is nobody to ask here. */
  readonly ask: Ask | undefined;
  /** Of the run that delegates. */
  readonly uncounted: RunContext["uncounted"];
}

export interface PersonAsks {
  read(ask: PersonAsk): void;
  /** How long questions were open, in all. */
  waitedMs(): number;
  /** Takes back what is open. */
  stop(): void;
}

export function createPersonAsks(
  person: Person | undefined,
  { clock, write }: { readonly clock: Clock; readonly write: (line: string) => void },
): PersonAsks {
  const open = new Map<number, AbortController>();
  let waited = 0;
  let sinceMs = 0;

  function begin(ask: number): AbortController {
    const over = new AbortController();
    if (open.size === 0) sinceMs = clock.now();
    open.set(ask, over);
    return over;
  }

  function end(ask: number, why: string): void {
    const over = open.get(ask);
    if (!over || !open.delete(ask)) return;
    if (open.size === 0) waited += clock.now() - sinceMs;
    over.abort(new Failure("cancelled", why));
  }

  async function put(asked: Extract<PersonAsk, { question: unknown }>): Promise<void> {
    const { ask, question } = asked;
    const { signal } = begin(ask);
    const closed = new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    await person?.uncounted(async () => {
      const answering = person.ask?.(question, signal).then((answer) => {
        write(encodePersonAnswer({ ask, answer }));
        end(ask, "It was answered.");
      });
      await Promise.race([closed, answering ?? closed]);
    });
  }

  return {
    read(asked) {
      if ("withdrawn" in asked) end(asked.ask, asked.withdrawn);
      // One that cannot be asked here waits for whoever answers elsewhere.
      else put(asked).catch(() => {});
    },
    waitedMs: () => waited + (open.size > 0 ? clock.now() - sinceMs : 0),
    stop() {
      for (const ask of [...open.keys()]) end(ask, "The subagent has ended.");
    },
  };
}
