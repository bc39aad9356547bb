/** Shows a run while it works, lets Ctrl-C cancel it, and turns its ending into an exit code. */

import { FAILURES } from "../base/failure.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import { plural } from "../base/text.ts";
import { ENDINGS, type LoggedEvent, type RunEnd } from "../protocol/run-events.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { Run } from "../runtime/runtime.ts";
import type { Io } from "./io.ts";
import type { LiveBlock } from "./output/live-block.ts";
import type { Projection } from "./output/projection.ts";
import { cleanForTerminal, dim, draw } from "./terminal.ts";

interface ShowIo extends Io {
  /** Resolves when nothing else is on the screen that later text must not follow. */
  readonly quiet?: (() => Promise<void>) | undefined;
  readonly live?: LiveBlock | undefined;
  /** True if the run is in the record: a line at the end then shows its id. */
  readonly isRecorded?: boolean | undefined;
  /** A sentence for the end of the last line: how to continue after this ending. */
  readonly toNext?: ((end: RunEnd) => Promise<string | undefined>) | undefined;
}

/**
 * The first Ctrl-C cancels and shows the partial work; the second exits at once. It listens before the projection is
 * loaded, because the run has already begun.
 */
export async function showRun(run: Run, opening: Promise<Projection>, io: ShowIo): Promise<number> {
  const stopListening = io.onInterrupt(createInterrupt(run, io));
  let isUnread = false;
  const stopWatching = io.onReaderGone(() => {
    isUnread = true;
    // As below: a run that cannot be cancelled has ended.
    run.cancel().catch(() => {});
  });
  let projection: Projection | undefined;
  let unasked = 0;
  try {
    projection = await opening;
    for await (const batch of run.follow()) {
      unasked += batch.filter(isUnasked).length;
      await io.quiet?.();
      await projection.write(batch);
    }
    const end = await run.result();
    // A run that was cancelled because its reader went away counts as cancelled; one that had completed does not.
    if (isUnread && end.ending !== "completed") return ENDINGS.cancelled.exit;
    if (hasBegun(end)) {
      await tellUnasked(run, unasked, io);
      await tellId(run, io);
    }
    return await showEnd(end, projection, io);
  } catch (thrown) {
    // If it cannot be shown, it must not continue to spend.
    await run.cancel().catch(() => {});
    throw thrown;
  } finally {
    projection?.close?.();
    stopListening();
    stopWatching();
  }
}

/** Says why a run did not complete, if that was not shown yet; resolves with its exit code. */
export async function showEnd(
  end: RunEnd,
  projection: Projection,
  io: Io & Pick<ShowIo, "toNext">,
): Promise<number> {
  const isToldWhy = end.ending === "refused" && projection.hasToldWhy?.();
  if (end.ending !== "completed" && !isToldWhy) {
    const next = await io.toNext?.(end);
    await io.stderr.write(`offshoot: ${toLine(end, io)}${next === undefined ? "" : ` ${next}`}\n`);
  }
  return exitCodeOf(end);
}

/** True if a stored run answers with a document. */
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
    // A run that cannot be cancelled has ended, which `follow` sees next.
    run.cancel().catch(() => {});
  };
}

/** For a run that failed before it cost anything, only its error is shown. */
function hasBegun({ ending, usage }: RunEnd): boolean {
  return ending !== "failed" || usage.total_tokens > 0;
}

/** Says what can be viewed afterwards, and with which commands. */
async function tellId({ id, session }: Run, { isRecorded, stderr }: ShowIo): Promise<void> {
  if (!isRecorded) return;
  const more = session === undefined ? "" : "; run -c";
  const text = `run: ${id} (offshoot runs tree, show, replay${more})`;
  await draw(stderr, `${dim(stderr, text)}\n`);
}

/** True for the denial of a call that needed an answer, and no person could give one. */
function isUnasked({ event }: LoggedEvent): boolean {
  return event.type === "tool_decision" && event.verdict === "deny" && event.by === "nobody";
}

/** The model reads the denial and may end well without the call, so the user is told too. */
async function tellUnasked(
  { id }: Run,
  calls: number,
  { isRecorded, stderr }: ShowIo,
): Promise<void> {
  if (!isRecorded || calls === 0) return;
  const was = calls === 1 ? "was" : "were";
  const text = `${plural(calls, "tool call")} ${was} denied without an answer: offshoot runs why-denied ${id}`;
  await draw(stderr, `${dim(stderr, text)}\n`);
}

function toLine({ message }: RunEnd, io: Io): string {
  return createRedact(findSecrets(io.env))(cleanForTerminal(message).replace(/\s+/g, " "));
}
