/**
 * An undo as a run of the record, below the run whose changes it undoes: so it is deleted with it, continues after a
 * crash from its journal, and can be undone itself.
 *
 * Two steps. The first compares every file and keeps it as it is now; the second restores all of them. If a file is
 * not as expected, nothing is changed and the run ends as failed.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import type { Redact } from "../../base/redact.ts";
import { toQuietOutcome } from "../../engine/ending.ts";
import type { RecordReader, RunBody, RunContext, RunOutcome } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import { type FileState, isSameState, MAX_KEPT_BYTES } from "../../protocol/file-changes.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { createChangeKeeper, decodeContent } from "../../tools/changes/change-keeper.ts";
import { type FileStates, openFileStates } from "../../tools/changes/file-states.ts";
import { type Restoring, restoreFiles } from "../../tools/changes/restore-files.ts";
import type { UndoItem } from "./plan-undo.ts";
import type { ContentPlace } from "./read-changes.ts";
import { STORED_UNDO } from "./undo-job.ts";

/** The call id of an undo's file events, which belong to no call of a model. */
const CALL_ID = "undo";

export interface UndoBodyParts {
  readonly clock: Clock;
  readonly redact: Redact;
  /** Called before each change of a name; tests crash there. */
  readonly onChange?: ((path: string) => unknown) | undefined;
}

export function createUndoBody(parts: UndoBodyParts): RunBody {
  return async (context, input) => {
    const { root, items } = STORED_UNDO.read(input);
    const states = await openFileStates(root);
    const keeping: Keeping = { states, items, held: new Map() };
    const changed = (await context.step("keep", () =>
      keepNow(parts, context, keeping),
    )) as readonly string[];
    if (changed.length > 0) return toOutcome(parts, changed);
    const foreign = (await context.step("restore", async (step) => {
      const wanted = items.map((item) => toRestoring(context, item, keeping));
      const isRetry = context.epoch > 1;
      const { onChange } = parts;
      const found = await restoreFiles(states, wanted, { tag: context.id, isRetry, onChange });
      step.end(found.length > 0 ? [] : toAfter(parts, items));
      return [...found];
    })) as readonly string[];
    return toOutcome(parts, foreign);
  };
}

interface Keeping {
  readonly states: FileStates;
  readonly items: readonly UndoItem[];
  /** The replaced contents, for as long as this process owns the run: more than the record keeps. */
  readonly held: Map<string, Buffer>;
}

/** The paths that are not as expected; then no file is kept. */
async function keepNow(
  { clock, redact }: UndoBodyParts,
  context: RunContext,
  { states, items, held }: Keeping,
): Promise<string[]> {
  const keeper = createChangeKeeper({ clock, redact });
  const changed: string[] = [];
  const events: RunEvent[] = [];
  for (const { path, from } of items) {
    const seen = await states.look(path, MAX_HELD_BYTES);
    if (!isSameState(seen.state, from)) changed.push(path);
    if (seen.content) held.set(path, seen.content);
    const { content, state } = seen;
    const small = content && content.length > MAX_KEPT_BYTES ? undefined : content;
    events.push({ ...keeper.before(path, { state, content: small }), call_id: CALL_ID });
  }
  if (changed.length === 0 && events.length > 0) await context.emit(events);
  return changed;
}

/** Files that tools write are not larger. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

function toRestoring(
  { id, runs }: RunContext,
  { path, from, to, content }: UndoItem,
  { held }: Keeping,
): Restoring {
  const { record } = runs;
  const readOld = async (): Promise<Buffer> =>
    held.get(path) ?? (await findContent(record, id, from));
  return {
    path,
    from,
    to,
    content: content ? () => readContent(record, content) : undefined,
    oldContent: from.kind === "file" ? readOld : undefined,
  };
}

async function readContent(record: RecordReader, { run, seq }: ContentPlace): Promise<Buffer> {
  const [logged] = await record.readEvents(run, seq - 1, 1);
  const event = logged?.event;
  if (event?.type === "file_before" && event.content) return decodeContent(event.content);
  throw new Failure(
    "not_found",
    `The old contents that run ${run} had stored are no longer in the record, so nothing can be restored.`,
  );
}

/** A content that the log of the run itself keeps. */
async function findContent(record: RecordReader, id: string, state: FileState): Promise<Buffer> {
  for await (const page of readLog(record, id)) {
    for (const { event } of page) {
      if (event.type !== "file_before" || !event.content) continue;
      if (isSameState(event.state, state)) return decodeContent(event.content);
    }
  }
  throw new Failure("not_found", `The content of a file was not kept by ${id}.`);
}

function toAfter({ clock }: UndoBodyParts, items: readonly UndoItem[]): RunEvent[] {
  return items.map(({ path, to: state }) => ({
    type: "file_after",
    call_id: CALL_ID,
    path,
    state,
    at_ms: clock.now(),
  })) as RunEvent[];
}

/** `foreign` are the files that prevented it. */
function toOutcome({ clock }: UndoBodyParts, foreign: readonly string[]): RunOutcome {
  const message = `Nothing was restored: ${foreign.join(", ")} changed meanwhile.`;
  const error = foreign.length === 0 ? null : ({ code: "conflict", message } as const);
  return toQuietOutcome(clock.now(), error, { foreign: [...foreign] });
}
