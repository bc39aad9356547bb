/**
 * A workspace that records the changes of one call: the state of a file, then the change, then its new
 * state. A change that cannot be recorded is not made. Reading is not recorded.
 */

import { readdir } from "node:fs/promises";
import { posix } from "node:path";
import { Failure } from "../../base/failure.ts";
import { MAX_KEPT_BYTES } from "../../protocol/file-changes.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ChangeKeeper, KeepEvents } from "./change-keeper.ts";
import type { FileStates } from "./file-states.ts";

const { basename, dirname, join } = posix;

export interface RecordedWorkspace {
  readonly workspace: Workspace;
  /** Refuses all later changes: a call that was abandoned must not change files unrecorded. */
  end(): void;
}

interface Parts {
  readonly workspace: Workspace;
  readonly states: FileStates;
  readonly keeper: ChangeKeeper;
  readonly keep: KeepEvents;
}

export function recordWorkspace(parts: Parts): RecordedWorkspace {
  const { workspace } = parts;
  let isOver = false;
  const change = async (
    paths: () => Promise<readonly string[]>,
    work: () => Promise<void>,
  ): Promise<void> => {
    if (isOver)
      throw new Failure("tool_failed", "The call has ended: it can no longer change files.");
    await changeRecorded(parts, await paths(), work);
  };
  const recorded: Workspace = {
    root: workspace.root,
    hardLinks: workspace.hardLinks,
    locate: (path, use) => workspace.locate(path, use),
    follow: (path) => workspace.follow(path),
    within: (path, work) => workspace.within(path, work),
    shows: (relative) => workspace.shows(relative),
    readFile: (path, maxBytes) => workspace.readFile(path, maxBytes),
    list: (path) => workspace.list(path),
    writeFile: (path, content) =>
      change(
        async () => withMissing(parts, (await workspace.locate(path, "write")).relative),
        () => workspace.writeFile(path, content),
      ),
    makeFolder: (path) =>
      change(
        async () => withMissing(parts, (await workspace.locate(path, "write")).relative),
        () => workspace.makeFolder(path),
      ),
    remove: (path) =>
      change(
        async () => [await findEntry(workspace, path)],
        () => workspace.remove(path),
      ),
    move: (from, to) =>
      change(
        async () =>
          listMoved(parts, await findEntry(workspace, from), await findEntry(workspace, to)),
        () => workspace.move(from, to),
      ),
  };
  return {
    workspace: recorded,
    end() {
      isOver = true;
    },
  };
}

async function changeRecorded(
  { states, keeper, keep }: Parts,
  paths: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const events = [];
  for (const path of paths) {
    events.push(keeper.before(path, await states.look(path, MAX_KEPT_BYTES)));
  }
  await keep(events);
  try {
    await work();
  } finally {
    // Also after a change that failed in the middle, to see its result.
    const after = [];
    for (const path of paths) after.push(keeper.after(path, (await states.look(path, 0)).state));
    await keep(after);
  }
}

/** The path, and the folders above it that a change creates. */
async function withMissing({ states }: Parts, path: string): Promise<readonly string[]> {
  const paths = [path];
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    if ((await states.find(above)).stats) break;
    paths.unshift(above);
  }
  return paths;
}

/** The entry that a path names. If the last part is a link, the link itself. */
async function findEntry(workspace: Workspace, path: string): Promise<string> {
  // `..` and the root are not entries: the workspace reports the problem.
  if (/^\.{0,2}$/.test(basename(path))) return (await workspace.locate(path, "write")).relative;
  return join((await workspace.follow(dirname(path))).relative, basename(path));
}

/**
 * The most entries of a moved folder that are recorded. Of a larger one only the folder is, and an undo
 * refuses it.
 */
const MAX_MOVED = 5000;

/** Every path that a move empties or fills: the entry itself, and all below it. */
async function listMoved(parts: Parts, from: string, to: string): Promise<readonly string[]> {
  const { states } = parts;
  const below = [""];
  const { stats } = await states.find(from);
  const queue = stats?.isDirectory() ? [""] : [];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const { path: place } = await states.find(join(from, at));
    const entries = await states.hold.inFolder(place, from, (base) =>
      readdir(base, { withFileTypes: true }),
    );
    for (const entry of entries) {
      const path = join(at, entry.name);
      below.push(path);
      if (entry.isDirectory()) queue.push(path);
    }
    if (below.length > MAX_MOVED) return [from, to];
  }
  const made = (await withMissing(parts, to)).filter((path) => path !== to);
  return [
    ...made,
    ...below.map((path) => join(from, path)),
    ...below.map((path) => join(to, path)),
  ];
}
