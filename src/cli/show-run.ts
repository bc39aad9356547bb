/** Shows a run as it goes, lets Ctrl-C cancel it, and turns its ending into an exit code. */

import { FAILURES } from "../base/failure.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import { ENDINGS, type RunEnd } from "../protocol/run-events.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { Run } from "../runtime/runtime.ts";
import type { Io } from "./io.ts";
import type { LiveBlock } from "./output/live-block.ts";
import type { Projection } from "./output/output.ts";
import { cleanForTerminal, dim, draw } from "./terminal.ts";

interface ShowIo extends Io {
  /** Resolves when nothing else is on the screen that must not be written behind. */
  readonly quiet?: (() => Promise<void>) | undefined;
  readonly live?: LiveBlock | undefined;
  /** Whether the run is in the record, for a line that says its id at the end. */
  readonly isRecorded?: boolean | undefined;
}

/**
 * Ctrl-C once cancels and shows what there is; twice leaves at once. Listens before the projection is
 * there: the run has begun.
 */
export async function showRun(run: Run, opening: Promise<Projection>, io: ShowIo): Promise<number> {
  const stopListening = io.onInterrupt(createInterrupt(run, io));
  let isUnread = false;
  const stopWatching = io.onReaderGone(() => {
    isUnread = true;
    // As below: one that cannot be cancelled has ended.
    run.cancel().catch(() => {});
  });
  let projection: Projection | undefined;
  try {
    projection = await opening;
    for await (const batch of run.follow()) {
      await io.quiet?.();
      await projection.write(batch);
    }
    const end = await run.result();
    // A run that was cancelled because nobody reads it is a cancelled run; one that was over is not.
    if (isUnread && end.ending !== "completed") return ENDINGS.cancelled.exit;
    if (hasBegun(end)) await tellId(run, io);
    return await showEnd(end, projection, io);
  } catch (thrown) {
    // What cannot be shown must not go on spending.
    await run.cancel().catch(() => {});
    throw thrown;
  } finally {
    projection?.close?.();
    stopListening();
    stopWatching();
  }
}

/** Says why a run did not complete, where nothing else has; returns its exit code. */
export async function showEnd(end: RunEnd, projection: Projection, io: Io): Promise<number> {
  const isToldWhy = end.ending === "refused" && projection.hasToldWhy?.();
  if (end.ending !== "completed" && !isToldWhy) {
    await io.stderr.write(`offshoot: ${toLine(end, io)}\n`);
  }
  return exitCodeOf(end);
}

/** Whether a stored run answers with a document. */
export function isStructured({ input }: Pick<RunRecord, "input">): boolean {
  const { format } = (input ?? {}) as { readonly format?: { readonly type?: string } };
  return format?.type !== undefined && format.type !== "text";
}

export function exitCodeOf({ ending, error }: RunEnd): number {
  return ending === "failed" && error ? FAILURES[error.code].exit : ENDINGS[ending].exit;
}

function createInterrupt(run: Run, io: ShowIo): () => void {
  let isCancelled = false;
  return () => {
    if (isCancelled) {
      io.live?.clear();
      void tellId(run, io);
      io.leave(ENDINGS.cancelled.exit);
    }
    isCancelled = true;
    io.live?.clear();
    void io.stderr.write("\noffshoot: cancelling; Ctrl-C again to leave at once\n");
    // A run that cannot be cancelled has ended, which `follow` is about to see.
    run.cancel().catch(() => {});
  };
}

/** A run that failed before it cost anything has its error to show, and nothing else. */
function hasBegun({ ending, usage }: RunEnd): boolean {
  return ending !== "failed" || usage.total_tokens > 0;
}

/** What one can look at afterwards, and how. */
async function tellId({ id, session }: Run, { isRecorded, stderr }: ShowIo): Promise<void> {
  if (!isRecorded) return;
  const more = session === undefined ? "" : "; run -c";
  const text = `run: ${id} (offshoot runs tree, show, replay${more})`;
  await draw(stderr, `${dim(stderr, text)}\n`);
}

function toLine({ message }: RunEnd, io: Io): string {
  return createRedact(findSecrets(io.env))(cleanForTerminal(message).replace(/\s+/g, " "));
}
