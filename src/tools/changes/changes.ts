/**
 * Keeps the changes of a run for its gate: the workspace of a call records its changes, and for a call that
 * starts programs the folder is compared before and after.
 */

import type { Clock } from "../../base/clock.ts";
import type { Redact } from "../../base/redact.ts";
import type { UndoMode } from "../../protocol/file-changes.ts";
import { isSensitive } from "../workspace/protected.ts";
import type { Workspace } from "../workspace/workspace.ts";
import {
  type ChangeKeeper,
  createChangeKeeper,
  type KeepEvents,
  type Unowned,
} from "./change-keeper.ts";
import { type FileStates, openFileStates } from "./file-states.ts";
import { recordWorkspace } from "./recorded-workspace.ts";
import { compareScans, type Scan, scanFolder } from "./scan-folder.ts";

export interface Changes {
  /** Runs a call with a workspace that records its changes. */
  around<Out>(call: ChangingCall, work: (workspace: Workspace) => Promise<Out>): Promise<Out>;
}

export interface ChangingCall {
  /** True if it starts programs, or asks those of others: only a comparison shows what they change. */
  readonly startsPrograms: boolean;
  readonly keep: KeepEvents;
}

interface ChangesParts {
  readonly workspace: Workspace;
  readonly clock: Pick<Clock, "now">;
  readonly redact: Redact;
  readonly mode: UndoMode;
}

/** Opens nothing before the first call. */
export function createChanges(parts: ChangesParts): Changes {
  const { workspace, mode, clock } = parts;
  const nowMs = (): number => clock.now();
  let opened: Promise<FileStates> | undefined;
  let keeper: ChangeKeeper | undefined;
  /** The last scan, which knows the files that have not changed since. */
  let last: Scan | undefined;

  return {
    async around(call, work) {
      opened ??= openFileStates(workspace.root);
      const states = await opened;
      keeper ??= createChangeKeeper(parts);
      const recorded = recordWorkspace({ workspace, states, keeper, keep: call.keep });
      const sinceMs = clock.now();
      const isWatched = call.startsPrograms && mode === "all";
      const before = isWatched ? await scanFolder(states, nowMs, last) : undefined;
      const compare = async (): Promise<void> => {
        recorded.end();
        if (!before || !keeper) return;
        last = await scanFolder(states, nowMs, before);
        await call.keep(await toEvents({ states, before, after: last, sinceMs }, keeper, clock));
      };
      let result: Awaited<ReturnType<typeof work>>;
      try {
        result = await work(recorded.workspace);
      } catch (thrown) {
        // A failure of the call matters more. A change that could not be recorded cannot be undone, and an
        // undo says so (`file_watch` is missing).
        await compare().catch(() => undefined);
        throw thrown;
      }
      await compare();
      return result;
    },
  };
}

interface Compared {
  readonly states: FileStates;
  readonly before: Scan;
  readonly after: Scan;
  readonly sinceMs: number;
}

async function toEvents(
  { states, before, after, sinceMs }: Compared,
  keeper: ChangeKeeper,
  clock: Pick<Clock, "now">,
): Promise<Parameters<KeepEvents>[0]> {
  const events: Unowned[] = [];
  for (const { path, before: seen, after: state } of compareScans(before, after)) {
    const isHeld = seen.state.kind !== "file" || seen.content !== undefined || isSensitive(path);
    const lost = isHeld ? undefined : ("unwatched" as const);
    const isUnread = state.kind === "file" && state.sha256 === null;
    const now = isUnread ? (await states.look(path, 0).catch(() => ({ state }))).state : state;
    events.push(keeper.before(path, seen, { sinceMs, lost }), keeper.after(path, now));
  }
  const missed = before.missed ?? after.missed ?? null;
  return [...events, { type: "file_watch", missed, at_ms: clock.now() }];
}
