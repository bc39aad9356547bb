/** How a run in a process of its own asks its parent: a frame that it writes, answered by a line that it reads. */

import { toAbortFailure } from "../../base/async.ts";
import type { JsonObject } from "../../base/json.ts";

export interface ParentLine {
  /** Writes a frame that the parent reads. */
  send(frame: JsonObject): Promise<void>;
  /** Calls `listener` with each line that the parent writes. */
  onLine(listener: (line: string) => void): void;
}

/** Sends the frame that is made with the ask's number, and waits for the answer with the same number. */
export type LineAsk<Answer> = (
  toFrame: (ask: number) => JsonObject,
  signal: AbortSignal,
) => Promise<Answer>;

/** `parse` gives undefined for lines that are something else. */
export function createLineAsk<Answer extends { readonly ask: number }>(
  { send, onLine }: ParentLine,
  parse: (line: string) => Answer | undefined,
): LineAsk<Answer> {
  const waiting = new Map<number, (answer: Answer) => void>();
  let asks = 0;
  onLine((line) => {
    const answer = parse(line);
    if (answer) waiting.get(answer.ask)?.(answer);
  });
  return async (toFrame, signal) => {
    const number = ++asks;
    const stop = new AbortController();
    const aborted = new Promise<never>((_, reject) => {
      const giveUp = (): void => reject(toAbortFailure(signal));
      signal.addEventListener("abort", giveUp, { once: true, signal: stop.signal });
      if (signal.aborted) giveUp();
    });
    const answered = new Promise<Answer>((resolve) => void waiting.set(number, resolve));
    try {
      await Promise.race([send(toFrame(number)), aborted]);
      return await Promise.race([answered, aborted]);
    } finally {
      stop.abort();
      waiting.delete(number);
    }
  };
}
