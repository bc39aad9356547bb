/**
 * Calls back when a run has reached something that its head shows: a turn's end, a question, its ending.
 */

import { useEffect, useRef } from "preact/hooks";
import type { RunStream } from "./run-stream.ts";

const TELLING: ReadonlySet<string> = new Set([
  ...["turn_end", "tool_question", "tool_decision", "run_end", "run_resume", "run_begin"],
]);

/** With `isTree` also for runs below it: their use is part of its use. */
export function useRunNews(id: string, stream: RunStream, call: () => void, isTree = false): void {
  const latest = useRef(call);
  latest.current = call;
  const opened = stream.opened.value;
  useEffect(() => {
    // Changes were missed while the stream was interrupted.
    if (opened > 1) latest.current();
    return stream.listen(
      (events) => {
        if (events.some(({ type }) => TELLING.has(type))) latest.current();
      },
      isTree ? undefined : id,
    );
  }, [id, stream, isTree, opened]);
}
