/**
 * Finds what must be covered in the workspace while a command runs, at any depth, in one walk over all of
 * it.
 *
 * A command may have moved files since the last walk, so every folder is checked before each command. It is
 * read again only if its change time differs, which no command can set. 40,000 files in 4,000 folders take
 * about 300 ms the first time, most of it to judge them, and 20 ms from then on.
 */

import type { BigIntStats, Dirent } from "node:fs";
import { accessSync, constants, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import type { Hidden } from "./bubblewrap.ts";
import type { Weigh } from "./holder.ts";
import { findPins } from "./pins.ts";

export interface Covers {
  readonly hidden: readonly Hidden[];
  readonly readOnly: readonly string[];
}

export interface CoverParts {
  /** The real path of the workspace. */
  readonly root: string;
  /** Paths, absolute or relative to it, that are covered if they exist. */
  readonly hidden: readonly string[];
  readonly readOnly?: readonly string[];
  /** A folder is hidden as a whole if every name in it would be. */
  readonly isHidden?: Weigh;
  readonly isReadOnly?: Weigh;
  /** Absolute paths that must not change because the given one, absolute too, must not. */
  readonly leadsTo?: (path: string) => readonly string[];
}

/** Enough for the work of a run's commands; a walk over more takes longer than the commands. */
const MAX_ENTRIES = 1_000_000;

/** Bubblewrap takes a second for this many, and four for twice as many. */
const MAX_COVERS = 1000;

/** Folders above them. Each is a mount too, so with this many a command takes four times as long to start. */
const MAX_PINS = 1000;

/** How many folders are checked in one go, which takes about a millisecond. */
const FOLDERS_A_TURN = 200;

/** File systems count time in steps of some milliseconds: two changes in one step look like one. */
const STEP_MS = 100;

/** Stands for any name: no file has it, and only a pattern for all names matches it. */
const ANY_NAME = "any-name-51c0e2";

/**
 * Rejects with `forbidden` if there is more than can be walked or covered. `more` are paths that are
 * read-only this time, in addition to those that always are.
 */
export type FindCovers = (more?: readonly string[]) => Promise<Covers>;

export function createCoverSearch(parts: CoverParts): FindCovers {
  let known: ReadonlyMap<string, Folder> = new Map();

  return async (more = []) => {
    const walked = new Map<string, Folder>();
    const found = toNamed(parts, more);
    // Without rules about existing files there is nothing to walk.
    const queue = parts.isHidden || parts.isReadOnly ? [""] : [];
    let entries = 0;
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      const folder = look(parts, path, known.get(path));
      walked.set(path, folder);
      for (const one of folder.folders) queue.push(one);
      for (const one of folder.covers) found.push(one);
      entries += folder.entries;
      checkCounts(entries, found.length);
      if (walked.size % FOLDERS_A_TURN === 0) await nextTurn();
    }
    known = walked;
    const all = [...found, ...toLed(parts, found)];
    checkCounts(entries, all.length);
    return requirePins(parts.root, toCovers(parts.root, all));
  };
}

function toNamed({ root, hidden, readOnly = [] }: CoverParts, more: readonly string[]): Cover[] {
  const named = (how: Cover["how"]) => (path: string) => ({
    path: relative(root, resolve(root, path)),
    how,
  });
  return [...[...readOnly, ...more].map(named("fix")), ...hidden.map(named("hide"))];
}

function toLed({ root, leadsTo }: CoverParts, found: readonly Cover[]): Cover[] {
  const fixed = leadsTo ? found.filter(({ how }) => how === "fix") : [];
  const led = fixed.flatMap(({ path }) => leadsTo?.(join(root, path)) ?? []);
  return [...new Set(led)].map((path) => ({ path: relative(root, path), how: "fix" }));
}

/** One folder, with its state when the stamp was taken. Paths are relative to the workspace. */
interface Folder {
  /** Undefined if it may have changed since without a visible difference. */
  readonly stamp: string | undefined;
  readonly entries: number;
  readonly folders: readonly string[];
  readonly covers: readonly Cover[];
}

interface Cover {
  readonly path: string;
  readonly how: "hide" | "fix";
}

function look(parts: CoverParts, path: string, known: Folder | undefined): Folder {
  const place = join(parts.root, path);
  const stats = readStats(place);
  if (!stats?.isDirectory()) return NOTHING;
  const stamp = toStamp(stats);
  if (stamp !== undefined && known?.stamp === stamp) return known;
  const entries = readEntries(place);
  if (entries) return { ...weigh(parts, path, entries), stamp };
  // A command can make it readable, because it is ours.
  if (path !== "") return { ...NOTHING, stamp, covers: [{ path, how: "hide" }] };
  throw new Failure("forbidden", "The workspace may not be read: the sandbox cannot look into it.");
}

function readStats(place: string): BigIntStats | undefined {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false });
  } catch (cause) {
    // Nested folders, deeper than a path can name: nothing below could be covered.
    const message = `The sandbox cannot look into \`${clip(place, 200)}\`: its path is too long. Remove the folder.`;
    throw new Failure("forbidden", message, { cause });
  }
}

const NOTHING: Folder = { stamp: undefined, entries: 0, folders: [], covers: [] };

function toStamp({ dev, ino, ctimeMs, ctimeNs }: BigIntStats): string | undefined {
  const isSettled = Number(ctimeMs) + STEP_MS < systemClock.now();
  return isSettled ? `${dev}:${ino}:${ctimeNs}` : undefined;
}

/** Undefined if it may not be read or entered. */
function readEntries(place: string): Dirent[] | undefined {
  try {
    accessSync(place, constants.X_OK);
    return readdirSync(place, { withFileTypes: true });
  } catch (thrown) {
    const { code = "" } = thrown as NodeJS.ErrnoException;
    return ["ENOENT", "ENOTDIR"].includes(code) ? [] : undefined;
  }
}

function weigh(parts: CoverParts, above: string, entries: readonly Dirent[]): Folder {
  const folders: string[] = [];
  const covers: Cover[] = [];
  for (const entry of entries) {
    const path = above === "" ? entry.name : `${above}/${entry.name}`;
    const isFolder = entry.isDirectory();
    const how = isFolder ? weighFolder(parts, path) : weighFile(parts, path);
    if (how) covers.push({ path, how });
    if (!isFolder || how === "hide") continue;
    requireName(parts.root, path);
    folders.push(path);
  }
  return { stamp: undefined, entries: entries.length, folders, covers };
}

type How = Cover["how"] | undefined;

function weighFile({ isHidden, isReadOnly }: CoverParts, path: string): How {
  if (isHidden?.(path, "file")) return "hide";
  return isReadOnly?.(path, "file") ? "fix" : undefined;
}

function weighFolder({ isHidden, isReadOnly }: CoverParts, path: string): How {
  if (isHidden?.(path, "folder") || isHidden?.(`${path}/${ANY_NAME}`, "file")) return "hide";
  return isReadOnly?.(path, "folder") ? "fix" : undefined;
}

/** A name that is not Unicode reads as another one, so nothing in such a folder could be covered. */
function requireName(root: string, path: string): void {
  if (!path.includes("\ufffd")) return;
  if (lstatSync(join(root, path), { throwIfNoEntry: false })) return;
  const message = `The sandbox cannot look into \`${clip(path, 200)}\`: its name is not Unicode. Rename the folder.`;
  throw new Failure("forbidden", message);
}

/** A link is followed again each time: its target is covered, or is outside and not visible. */
function toCovers(root: string, found: readonly Cover[]): Covers {
  const places = (how: Cover["how"]): Hidden[] => {
    const real = found.filter((one) => one.how === how).flatMap(({ path }) => follow(root, path));
    return [...new Map(real.map((one) => [one.path, one])).values()];
  };
  const hidden = places("hide");
  const folders = new Set(hidden.filter(({ isFolder }) => isFolder).map(({ path }) => path));
  // Nothing below a covered folder needs a cover.
  const isCovered = (path: string): boolean =>
    path !== root && (folders.has(path) || isCovered(dirname(path)));
  return {
    hidden: hidden.filter(({ path }) => !isCovered(dirname(path))),
    readOnly: places("fix").map(({ path }) => path),
  };
}

function follow(root: string, path: string): Hidden[] {
  try {
    const real = realpathSync(join(root, path));
    if (real === root || !isWithin(root, real)) return [];
    return [{ path: real, isFolder: statSync(real).isDirectory() }];
  } catch {
    // Missing, or a link without a target.
    return [];
  }
}

function requirePins(root: string, covers: Covers): Covers {
  const { readOnly } = covers;
  const pins = findPins(root, { readOnly, hidden: covers.hidden.map(({ path }) => path) });
  if (pins.length <= MAX_PINS) return covers;
  throw tooMany(`${MAX_PINS} folders with files to cover in them`);
}

function checkCounts(entries: number, covers: number): void {
  if (entries <= MAX_ENTRIES && covers <= MAX_COVERS) return;
  const many =
    covers > MAX_COVERS ? `${MAX_COVERS} files to cover` : `${MAX_ENTRIES} files to look through`;
  throw tooMany(many);
}

function tooMany(many: string): Failure {
  const message = `The workspace has more than ${many}: too many for the sandbox. Start in a smaller folder, or deny or allow whole folders.`;
  return new Failure("forbidden", message);
}
