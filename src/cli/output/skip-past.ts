/**
 * Shows a tree from the present on. Past events are read too, so that totals, names and the answer are right, but
 * nothing of them is written.
 */

import type { RunReader } from "../../store/run-reader.ts";
import type { Output } from "../io.ts";
import { draw, looksOf } from "../terminal.ts";
import type { Projection } from "./projection.ts";

/**
 * The number of the first event that is shown, by the id of the run. All events of a run without a mark are shown.
 */
type Marks = ReadonlyMap<string, number>;

/** The number of events that the run and all runs below it have so far. */
export async function readMarks(
  record: Pick<RunReader, "getRunStatus" | "listRuns">,
  id: string,
): Promise<Marks> {
  const marks = new Map<string, number>();
  const visit = async (run: { readonly id: string; readonly next_seq: number }): Promise<void> => {
    marks.set(run.id, run.next_seq);
    const query = { parent_id: run.id, limit: Number.MAX_SAFE_INTEGER };
    for (const child of await record.listRuns(query)) await visit(child);
  };
  const root = await record.getRunStatus(id);
  if (root) await visit(root);
  return marks;
}

interface Streams {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** `open` makes the projection over streams that drop past output. */
export async function skipPast(
  marks: Marks,
  streams: Streams,
  open: (streams: Streams) => Promise<Projection>,
): Promise<Projection> {
  let isPast = false;
  const live = (output: Output): Output => ({
    ...looksOf(output),
    get columns() {
      return output.columns;
    },
    write: (text) => (isPast ? undefined : output.write(text)),
    draw: (text) => (isPast ? undefined : draw(output, text)),
  });
  const stdout = live(streams.stdout);
  const projection = await open({ stdout, stderr: live(streams.stderr) });
  return {
    // Method by method: the projection may be an instance of a class, whose methods a spread leaves out.
    hasToldWhy: () => projection.hasToldWhy?.() ?? false,
    close: () => projection.close?.(),
    async write(events) {
      const isOld = ({ run_id, seq }: (typeof events)[number]): boolean =>
        seq < (marks.get(run_id) ?? 0);
      const past = events.filter(isOld);
      const news = events.filter((event) => !isOld(event));
      isPast = true;
      if (past.length > 0) await projection.write(past);
      isPast = false;
      if (news.length > 0) await projection.write(news);
    },
  };
}
