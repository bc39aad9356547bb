/** Calls when a run has come to something that its head shows: a turn's end, a question, its ending. */

import { useEffect, useRef } from "preact/hooks";
import type { RunStream } from "./run-stream.ts";

const TELLING: ReadonlySet<string> = new Set([
  ...["turn_end", "tool_question", "tool_decision", "run_end", "run_resume", "run_begin"],
]);

/** Also for runs below it where `isTree` is set: what they use is a part of what it used. */
export function useRunNews(id: string, stream: RunStream, call: () => void, isTree = false): void {
  const latest = useRef(call);
  latest.current = call;
  const opened = stream.opened.value;
  useEffect(() => {
    // What was missed while the stream was away.
    if (opened > 1) latest.current();
    return stream.listen(
      (events) => {
        if (events.some(({ type }) => TELLING.has(type))) latest.current();
      },
      isTree ? undefined : id,
    );
  }, [id, stream, isTree, opened]);
}
