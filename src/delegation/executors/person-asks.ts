/**
 * Puts the questions of one child process to the person that this process can ask. While one is open the child's time
 * does not pass, also if the answer comes from elsewhere.
 *
 * The child receives all allowances of the whole tree, and answers its own questions with them. The person is not
 * asked about those.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { RunContext } from "../../engine/engine.ts";
import { type Allowance, type Always, allowanceOf, createAlways } from "../../tools/gate/always.ts";
import type { Answer, Ask, Denial, Question } from "../../tools/gate/ask.ts";
import { encodeAllowed, encodePersonAnswer, type PersonAsk } from "../person-line.ts";

export interface Person {
  /** Undefined without a person to ask. */
  readonly ask: Ask | undefined;
  /** The parent run's `uncounted`. */
  readonly uncounted: RunContext["uncounted"];
  /** The allowances of the whole tree. */
  readonly always: Always;
}

export interface PersonAsks {
  /** From here on the child can be written to. */
  start(): void;
  read(ask: PersonAsk): void;
  /** How long questions were open, in all. */
  waitedMs(): number;
  /** Withdraws open questions. */
  stop(): void;
}

export function createPersonAsks(
  person: Person | undefined,
  { clock, write }: { readonly clock: Clock; readonly write: (line: string) => void },
): PersonAsks {
  const open = new Map<number, AbortController>();
  let waited = 0;
  let sinceMs = 0;
  let unlisten = (): void => {};
  /** The calls that it has asked about: it can report an "allow always" only for these. */
  const asked = createAlways();

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

  async function put({ ask, question }: Put): Promise<void> {
    const { signal } = begin(ask);
    asked.allow(allowanceOf(question));
    const closed = new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    await person?.uncounted(async () => {
      const answering = askUnlessKnown(person, question, signal).then(async (said) => {
        if (said === undefined) return await closed;
        const { answer, ...more } = typeof said === "string" ? { answer: said } : said;
        write(encodePersonAnswer({ ask, answer, ...more }));
        end(ask, "It was answered.");
        if (answer === "tree") person.always.allow(allowanceOf(question));
      });
      await Promise.race([closed, answering]);
    });
  }

  return {
    start() {
      const tell = (allowed: Allowance): void => write(encodeAllowed(allowed));
      person?.always.all.forEach(tell);
      unlisten = person?.always.onAdd(tell) ?? unlisten;
    },
    read(told) {
      if ("allowed" in told) {
        if (asked.has(told.allowed)) person?.always.allow(told.allowed);
      } else if ("withdrawn" in told) end(told.ask, told.withdrawn);
      // A question that cannot be asked here waits for an answer from elsewhere.
      else put(told).catch(() => {});
    },
    waitedMs: () => waited + (open.size > 0 ? clock.now() - sinceMs : 0),
    stop() {
      unlisten();
      for (const ask of [...open.keys()]) end(ask, "The subagent has ended.");
    },
  };
}

type Put = Extract<PersonAsk, { question: unknown }>;

/** Undefined if no person can be asked here, or if the child knows the answer or is about to. */
async function askUnlessKnown(
  { ask, always }: Person,
  question: Question,
  signal: AbortSignal,
): Promise<Answer | Denial | undefined> {
  if (!ask) return undefined;
  const allowance = allowanceOf(question);
  const known = new AbortController();
  const look = (): void => {
    if (!question.asksEveryTime && always.has(allowance))
      known.abort(new Failure("cancelled", "Another answer allows it."));
  };
  look();
  const stop = always.onAdd(look);
  try {
    if (known.signal.aborted) return undefined;
    return await ask(question, AbortSignal.any([signal, known.signal]));
  } catch (thrown) {
    if (known.signal.aborted) return undefined;
    throw thrown;
  } finally {
    stop();
  }
}
