/**
 * Restores files of a workspace to given states, all of them or none.
 *
 * In this order: every file is compared with its expected state; all new content is written beside its
 * target; all files are compared again; only then names are changed. If a step fails in the middle,
 * everything is taken back. After a crash the same call finds each file in its old or its new state, and
 * finishes. If a file has another state, because someone changed it meanwhile, everything is taken back.
 */

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { chmod, mkdir, open, readdir, rename, rmdir, symlink, unlink } from "node:fs/promises";
import { posix } from "node:path";
import { type FileState, isSameState } from "../../protocol/file-changes.ts";
import type { FileStates } from "./file-states.ts";

const { basename, dirname, join } = posix;

export interface Restoring {
  readonly path: string;
  /** The state that the file must have now. */
  readonly from: FileState;
  readonly to: FileState;
  /** The content of `to` or `from`, if they are files. Read when it is written. */
  readonly content?: (() => Promise<Buffer>) | undefined;
  readonly oldContent?: (() => Promise<Buffer>) | undefined;
}

export interface RestoreOptions {
  /**
   * Part of the drafts' names. It is the same for a repeated attempt, which finds and replaces its own
   * drafts.
   */
  readonly tag: string;
  /** True if an earlier attempt may have been interrupted. */
  readonly isRetry: boolean;
  /** Called before each change of a name, and awaited. Tests crash there. */
  readonly onChange?: ((path: string) => unknown) | undefined;
}

/** Returns the paths with an unexpected state, in which case nothing is changed; empty if all is done. */
export async function restoreFiles(
  states: FileStates,
  wanted: readonly Restoring[],
  options: RestoreOptions,
): Promise<readonly string[]> {
  const drafts = new Drafts(states, options);
  try {
    const found = await compare(states, wanted, options);
    if (found.foreign.length > 0) return await takeBack(states, found, options);
    for (const one of found.open) await drafts.write(one);
    const again = await compare(states, wanted, options);
    if (again.foreign.length > 0) return await takeBack(states, again, options);
    await commit(states, { open: again.open, drafts, done: found.done }, options);
    return [];
  } finally {
    await drafts.clear(wanted);
  }
}

interface Compared {
  /** Files that are still to be restored. */
  readonly open: readonly Restoring[];
  readonly done: readonly Restoring[];
  /** Files with neither the old nor the new state. */
  readonly foreign: readonly string[];
}

async function compare(
  states: FileStates,
  wanted: readonly Restoring[],
  { isRetry }: RestoreOptions,
): Promise<Compared> {
  const open: Restoring[] = [];
  const done: Restoring[] = [];
  const foreign: string[] = [];
  for (const one of wanted) {
    const { state } = await states.look(one.path, 0).catch(() => ({ state: UNREADABLE }));
    if (isSameState(state, one.to)) done.push(one);
    else if (isSameState(state, one.from)) open.push(one);
    // Interrupted between two halves: a file was removed, and the folder in its place does not exist yet.
    else if (isRetry && state.kind === "none" && isSwap(one)) open.push({ ...one, from: state });
    else foreign.push(one.path);
  }
  return { open, done, foreign };
}

function isSwap({ from, to }: Restoring): boolean {
  return from.kind !== to.kind && (from.kind === "folder" || to.kind === "folder");
}

const UNREADABLE: FileState = { kind: "other" };

/** Undoes what an earlier attempt did, so that a refusal leaves no half-restored files. */
async function takeBack(
  states: FileStates,
  { done, foreign }: Compared,
  options: RestoreOptions,
): Promise<readonly string[]> {
  await revert(states, done.filter(isChange), options);
  return foreign;
}

function isChange({ from, to }: Restoring): boolean {
  return !isSameState(from, to);
}

async function revert(
  states: FileStates,
  done: readonly Restoring[],
  { tag }: Pick<RestoreOptions, "tag">,
): Promise<void> {
  if (done.length === 0) return;
  const backward = done.map(({ path, from, to, content, oldContent }) => ({
    path,
    from: to,
    to: from,
    content: oldContent,
    oldContent: content,
  }));
  const drafts = new Drafts(states, { tag: `${tag}-back` });
  try {
    for (const one of backward) await drafts.write(one);
    for (const step of toSteps(backward)) await take(states, step, drafts);
  } finally {
    await drafts.clear(backward);
  }
}

interface Commit {
  readonly open: readonly Restoring[];
  readonly drafts: Drafts;
  /** Files that an earlier attempt restored. */
  readonly done: readonly Restoring[];
}

async function commit(
  states: FileStates,
  { open, drafts, done }: Commit,
  options: RestoreOptions,
): Promise<void> {
  const changed = new Set<Restoring>();
  try {
    for (const step of toSteps(open)) {
      await options.onChange?.(step.one.path);
      changed.add(step.one);
      await take(states, step, drafts);
    }
  } catch (thrown) {
    await revert(
      states,
      await findChanged(states, [...changed, ...done.filter(isChange)]),
      options,
    );
    throw thrown;
  }
}

/**
 * Changes of an attempt that were really made. If a folder replaces a file, the file may be gone and the
 * folder missing.
 */
async function findChanged(
  states: FileStates,
  begun: readonly Restoring[],
): Promise<readonly Restoring[]> {
  const changed: Restoring[] = [];
  for (const one of begun) {
    const { state } = await states.look(one.path, 0);
    if (!isSameState(state, one.from)) changed.push({ ...one, to: state });
  }
  return changed;
}

interface Step {
  readonly one: Restoring;
  readonly what: "unlink" | "rmdir" | "mkdir" | "place";
}

/** Files are removed before the folders that contain them; folders are created before the files in them. */
function toSteps(wanted: readonly Restoring[]): readonly Step[] {
  const byDepth = [...wanted].sort((a, b) => depthOf(a.path) - depthOf(b.path));
  const deepestFirst = [...byDepth].reverse();
  const isEntry = ({ kind }: FileState): boolean => kind === "file" || kind === "link";
  const steps = (
    what: Step["what"],
    from: readonly Restoring[],
    fits: (one: Restoring) => boolean,
  ): readonly Step[] => from.filter(fits).map((one) => ({ one, what }));
  return [
    // A file that another file replaces is replaced in one step.
    ...steps("unlink", deepestFirst, ({ from, to }) => isEntry(from) && !isEntry(to)),
    ...steps(
      "rmdir",
      deepestFirst,
      ({ from, to }) => from.kind === "folder" && to.kind !== "folder",
    ),
    ...steps("mkdir", byDepth, ({ from, to }) => from.kind !== "folder" && to.kind === "folder"),
    ...steps("place", byDepth, ({ to }) => isEntry(to)),
  ];
}

async function take(states: FileStates, { one, what }: Step, drafts: Drafts): Promise<void> {
  const { path, to } = one;
  if (what === "place") return await drafts.place(one);
  const name = basename(path);
  await inFolder(states, dirname(path), async (base) => {
    if (what === "unlink") return await unlink(join(base, name));
    if (what === "rmdir") return await rmdir(join(base, name));
    await mkdir(join(base, name));
    if (to.kind === "folder") await chmod(join(base, name), to.mode);
  });
}

/** Works in a folder of the workspace, which is held open meanwhile. It must exist, and not be a link. */
async function inFolder<Out>(
  states: FileStates,
  folder: string,
  work: (base: string) => Promise<Out>,
): Promise<Out> {
  const { path: place } = await states.find(folder === "." ? "" : folder);
  return await states.hold.inFolder(place, folder, work);
}

function depthOf(path: string): number {
  return path.split("/").length;
}

/** New content beside its target, or in the nearest existing folder above it. */
class Drafts {
  readonly #states: FileStates;
  readonly #tag: string;
  readonly #folders = new Map<string, string>();

  constructor(states: FileStates, { tag }: Pick<RestoreOptions, "tag">) {
    this.#states = states;
    this.#tag = tag;
  }

  async write({ path, to, content }: Restoring): Promise<void> {
    if (to.kind !== "file" && to.kind !== "link") return;
    const folder = await this.#findFolder(path);
    const bytes = to.kind === "file" ? await content?.() : undefined;
    await inFolder(this.#states, folder, async (base) => {
      const draft = join(base, this.#nameOf(path));
      await unlink(draft).catch(unlessGone);
      if (to.kind === "link") return await symlink(to.target, draft);
      await writeNew(draft, bytes ?? Buffer.alloc(0), to.mode);
    });
    this.#folders.set(path, folder);
  }

  async place({ path }: Restoring): Promise<void> {
    const folder = this.#folders.get(path) ?? dirname(path);
    await inFolder(this.#states, folder, (from) =>
      inFolder(this.#states, dirname(path), (to) =>
        rename(join(from, this.#nameOf(path)), join(to, basename(path))),
      ),
    );
  }

  /** Removes drafts, also those of an earlier attempt, which may be in any folder above. */
  async clear(wanted: readonly Restoring[]): Promise<void> {
    for (const { path, to } of wanted) {
      if (to.kind !== "file" && to.kind !== "link") continue;
      for (let folder = dirname(path); ; folder = dirname(folder)) {
        const remove = (base: string): Promise<void> => unlink(join(base, this.#nameOf(path)));
        // Best effort: a draft that remains is a hidden file, and the next attempt removes it.
        await inFolder(this.#states, folder, remove).catch(() => undefined);
        if (folder === ".") break;
      }
    }
  }

  async #findFolder(path: string): Promise<string> {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
      const found = await this.#states.find(folder).catch(() => undefined);
      if (found?.stats?.isDirectory()) return folder;
    }
    return ".";
  }

  #nameOf(path: string): string {
    const hash = createHash("sha256").update(`${this.#tag}\0${path}`).digest("hex").slice(0, 24);
    return `.offshoot-${hash}.tmp`;
  }
}

async function writeNew(draft: string, content: Buffer, mode: number): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(content);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function unlessGone(cause: NodeJS.ErrnoException): void {
  if (cause.code !== "ENOENT") throw cause;
}

/** The other entries of a folder, which would be lost with it. */
export async function listOthers(
  states: FileStates,
  folder: string,
  known: ReadonlySet<string>,
): Promise<readonly string[]> {
  const names = await inFolder(states, folder, (base) => readdir(base)).catch(() => []);
  return names.map((name) => `${folder}/${name}`).filter((path) => !known.has(path));
}
