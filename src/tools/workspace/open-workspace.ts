/** Opens a folder as a workspace: paths are resolved, checked against the boundary, held open, used. */

import type { Stats } from "node:fs";
import { type FileHandle, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { makeMissing, moveEntry, removeEntry, replaceFile } from "./change.ts";
import { type FolderHold, findHoldWay, HOLDS, type HoldWay, notRegular } from "./hold.ts";
import { findProtection } from "./protected.ts";
import {
  checkPlace,
  followInside,
  isClosed,
  type Jail,
  type Last,
  notFound,
  outside,
  type Resolved,
  resolveInside,
  toClosed,
  toRelative,
} from "./resolve-inside.ts";
import type { Boundary, HeldFolder, Use, Workspace, WorkspacePlace } from "./workspace.ts";

export interface OpenOptions {
  /** The safest way that the system has, by default. */
  readonly hold?: HoldWay;
  /** Called between the check of a path and its use; tests swap the file there. */
  readonly checked?: (place: string) => void;
}

/** Rejects with `not_found` if the folder does not exist. */
export async function openWorkspace(
  name: string,
  boundary: Boundary,
  options: OpenOptions = {},
): Promise<Workspace> {
  const { root, hold, closed } = await lookOnce(name, boundary.protectedPaths ?? []);
  const held = { ...options, hold: options.hold ?? hold };
  return new HeldWorkspace({ root, name: resolve(name), closed }, boundary, held);
}

/** The system's description of a folder. */
interface Found {
  readonly root: string;
  readonly hold: HoldWay;
  readonly closed: string[];
}

/** Lookups in progress. */
const looks = new Map<string, Promise<Found>>();

/**
 * Children of one turn open the same folder at the same moment, so lookups at the same time share one
 * result. Nothing is remembered after that.
 */
async function lookOnce(name: string, protectedPaths: readonly string[]): Promise<Found> {
  const key = JSON.stringify([resolve(name), protectedPaths]);
  const known = looks.get(key);
  if (known !== undefined) return await known;
  const look = lookAt(name, protectedPaths).finally(() => looks.delete(key));
  looks.set(key, look);
  return await look;
}

async function lookAt(name: string, protectedPaths: readonly string[]): Promise<Found> {
  const root = await toRealFolder(name);
  const hold = await findHoldWay(root);
  return { root, hold, closed: await findClosed(root, protectedPaths) };
}

async function toRealFolder(name: string): Promise<string> {
  try {
    const root = await realpath(name);
    if ((await stat(root)).isDirectory()) return root;
  } catch (cause) {
    throw new Failure("not_found", `There is no folder \`${name}\` to work in.`, { cause });
  }
  throw new Failure("invalid_request", `\`${name}\` is not a folder to work in.`);
}

/** Finds the protected paths, by both names if a path leads through links. */
async function findClosed(root: string, paths: readonly string[]): Promise<string[]> {
  const reals = await Promise.all(paths.map((path) => toRealPlace(resolve(path))));
  return toClosed(root, [...paths.map((path) => resolve(path)), ...reals]);
}

/** The real path of a file that may be missing. */
async function toRealPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // The folder above it may exist; the root always does.
    const above = dirname(path);
    return above === path ? path : join(await toRealPlace(above), basename(path));
  }
}

function toPlace({ path, relative, stats }: Omit<Resolved, "existing">): WorkspacePlace {
  return {
    path,
    relative,
    exists: stats !== undefined,
    isFolder: stats?.isDirectory() ?? false,
  };
}

class HeldWorkspace implements Workspace {
  readonly root: string;
  readonly hardLinks: boolean;
  readonly #jail: Jail;
  readonly #boundary: Boundary;
  readonly #hold: FolderHold;
  /** True if the file system must be asked for the exact spelling of paths. */
  readonly #isForgiving: boolean;
  readonly #checked: (place: string) => void;

  constructor(jail: Jail, boundary: Boundary, options: OpenOptions & { hold: HoldWay }) {
    this.root = jail.root;
    this.hardLinks = boundary.hardLinks;
    this.#jail = jail;
    this.#boundary = boundary;
    this.#hold = HOLDS[options.hold];
    this.#isForgiving = options.hold === "path";
    this.#checked = options.checked ?? (() => {});
  }

  async locate(path: string, use: Use): Promise<WorkspacePlace> {
    const { path: place, relative, stats } = await this.#find(path, use, "follow");
    if (use === "read" && !stats) throw notFound(path);
    return toPlace({ path: place, relative, stats });
  }

  async follow(path: string): Promise<WorkspacePlace> {
    const walked = await followInside(this.#jail, path);
    return toPlace(this.#isForgiving ? await this.#spell(walked, path) : walked);
  }

  shows(relative: string): boolean {
    if (findProtection(relative) !== undefined) return false;
    return !isClosed(this.#jail, join(this.root, relative)) && this.#mayList(relative);
  }

  async within<Result>(
    path: string,
    work: (folder: HeldFolder) => Promise<Result>,
  ): Promise<Result> {
    const place = await this.#findFolder(path);
    const relative = toRelative(this.root, place);
    return this.#hold
      .inFolder(place, path, (base) => work({ cwd: base, relative }))
      .catch(toReadFailure(path));
  }

  async readFile(path: string, maxBytes: number): Promise<Buffer> {
    const { path: place, stats } = await this.#find(path, "read", "follow");
    if (!stats) throw notFound(path);
    checkKind(stats, path);
    this.#checked(place);
    const handle = await this.#hold.openFile(place, path).catch(toReadFailure(path));
    try {
      const held = await handle.stat();
      this.#checkLinks(held, path);
      if (held.size > maxBytes) throw tooLarge(held.size, path);
      return await readUpTo(handle, maxBytes, path);
    } finally {
      await handle.close();
    }
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    const found = await this.#find(path, "write", "follow");
    if (found.stats) checkKind(found.stats, path);
    await this.#makeMissing(dirname(found.path), found, path);
    this.#checked(found.path);
    await this.#hold
      .inFolder(dirname(found.path), path, (base) =>
        replaceFile(base, basename(found.path), { content, old: found.stats }),
      )
      .catch(toWriteFailure(path));
  }

  async makeFolder(path: string): Promise<void> {
    const found = await this.#find(path, "write", "follow");
    if (found.stats?.isDirectory()) return;
    if (found.stats) throw new Failure("invalid_request", `Not a folder: ${path}`);
    await this.#makeMissing(found.path, found, path);
  }

  async list(path: string): Promise<string[]> {
    const place = await this.#findFolder(path);
    const entries = await this.#hold
      .inFolder(place, path, (base) => readdir(base, { withFileTypes: true }))
      .catch(toReadFailure(path));
    const above = toRelative(this.root, place);
    return entries
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .filter((name) => this.#names(above === "" ? name : `${above}/${name}`))
      .sort();
  }

  async remove(path: string): Promise<void> {
    const { path: place, stats } = await this.#find(path, "write", "keep");
    if (!stats) throw notFound(path);
    if (place === this.root) throw new Failure("forbidden", "The workspace itself is not removed.");
    this.#checked(place);
    await this.#hold
      .inFolder(dirname(place), path, (base) => removeEntry(base, basename(place)))
      .catch(toWriteFailure(path));
  }

  async move(from: string, to: string): Promise<void> {
    const source = await this.#find(from, "write", "keep");
    const target = await this.#find(to, "write", "keep");
    if (!source.stats) throw notFound(from);
    if (target.stats) throw new Failure("invalid_request", `There is something already: ${to}`);
    this.#checkMove(source, target, from);
    if (source.stats.isDirectory()) await this.#checkContent(source.path, target.path, from);
    await this.#makeMissing(dirname(target.path), target, to);
    this.#checked(source.path);
    await this.#hold
      .inFolder(dirname(source.path), from, (here) =>
        this.#hold.inFolder(dirname(target.path), to, (there) =>
          moveEntry(join(here, basename(source.path)), join(there, basename(target.path))),
        ),
      )
      .catch(toWriteFailure(from));
  }

  async #findFolder(path: string): Promise<string> {
    const { path: place, stats } = await this.#find(path, "read", "follow");
    if (!stats) throw notFound(path);
    if (!stats.isDirectory()) throw new Failure("invalid_request", `Not a folder: ${path}`);
    this.#checked(place);
    return place;
  }

  /** Resolved, and allowed by the boundary. */
  async #find(path: string, use: Use, last: Last): Promise<Resolved> {
    const walked = await resolveInside(this.#jail, path, last);
    const found = this.#isForgiving ? await this.#spell(walked, path) : walked;
    if (!this.#allows(found, use)) throw refused(use, path);
    return found;
  }

  /** A folder only leads to its files: each of them is checked when it is listed or opened. */
  #allows({ relative, stats }: Resolved, use: Use): boolean {
    if (use === "write") return this.#boundary.mayWrite(relative);
    return stats?.isDirectory() || this.#boundary.mayRead(relative);
  }

  #mayList(relative: string): boolean {
    return this.#boundary.mayRead(relative) && (this.#boundary.mayList?.(relative) ?? true);
  }

  /** The spelling of the file system: another spelling of a name must not bypass a rule about it. */
  async #spell(found: Resolved, path: string): Promise<Resolved> {
    const isKept = found.stats?.isSymbolicLink() === true;
    const there = isKept ? dirname(found.existing) : found.existing;
    const real = await realpath(there);
    if (!isWithin(this.root, real)) throw outside(path);
    const place = join(real, found.path.slice(there.length));
    checkPlace(this.#jail, place, path);
    const existing = isKept ? place : real;
    return { ...found, path: place, relative: toRelative(this.root, place), existing };
  }

  /** True if a listing of a folder has the name; a folder's name ends with a slash. */
  #names(relative: string): boolean {
    if (!relative.endsWith("/")) return this.shows(relative);
    return this.shows(relative.slice(0, -1)) || this.shows(relative);
  }

  #checkLinks({ nlink }: Stats, path: string): void {
    if (nlink < 2 || this.hardLinks) return;
    const message = `File has ${nlink} names, and one may be outside: ${path}. The setting \`hard_links\` lets it through.`;
    throw new Failure("forbidden", message);
  }

  async #makeMissing(folder: string, { existing }: Resolved, path: string): Promise<void> {
    this.#checked(existing);
    await makeMissing(this.#hold, { existing, folder, path }).catch(toWriteFailure(path));
  }

  #checkMove(source: Resolved, target: Resolved, path: string): void {
    if (source.path === this.root) {
      throw new Failure("forbidden", "The workspace itself is not moved.");
    }
    // The file may be readable at its new path.
    if (!this.#allows(source, "read")) throw refused("read", path);
    if (isWithin(source.path, target.path)) {
      throw new Failure("invalid_request", `A folder does not move into itself: ${path}`);
    }
  }

  /** Everything below a folder moves with it: no file may leave or enter a path that is not allowed. */
  async #checkContent(source: string, target: string, path: string): Promise<void> {
    const entries = await this.#hold
      .inFolder(dirname(source), path, (base) => readBelow(join(base, basename(source))))
      .catch(toReadFailure(path));
    for (const entry of entries) {
      for (const place of [join(source, entry), join(target, entry)]) {
        checkPlace(this.#jail, place, path);
        const relative = toRelative(this.root, place);
        if (this.#mayList(relative) && this.#boundary.mayWrite(relative)) continue;
        const message = `Path not allowed for this run: something in ${clip(path, 200)}`;
        throw new Failure("forbidden", message);
      }
    }
  }
}

function refused(use: Use, path: string): Failure {
  return new Failure("forbidden", `Path not allowed for this run to ${use}: ${clip(path, 200)}`);
}

function checkKind(stats: Stats, path: string): void {
  if (stats.isDirectory()) throw new Failure("invalid_request", `Is a directory: ${path}`);
  if (!stats.isFile()) throw notRegular(path);
}

function tooLarge(bytes: number, path: string): Failure {
  return new Failure("invalid_request", `File too large (${bytes} bytes): ${path}`);
}

/** A file can grow while it is read, and some report no size although they have content. */
async function readUpTo(handle: FileHandle, maxBytes: number, path: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const piece = Buffer.allocUnsafe(Math.min(256 * 1024, maxBytes - bytes + 1));
    const { bytesRead } = await handle.read(piece, 0, piece.length);
    if (bytesRead === 0) return pieces.length === 1 ? (pieces[0] ?? piece) : Buffer.concat(pieces);
    bytes += bytesRead;
    if (bytes > maxBytes) throw tooLarge(bytes, path);
    pieces.push(piece.subarray(0, bytesRead));
  }
}

/** Paths of everything below a folder, relative to it. Follows no links. */
async function readBelow(folder: string): Promise<string[]> {
  const paths: string[] = [];
  const queue = [""];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = join(at, entry.name);
      paths.push(path);
      if (entry.isDirectory()) queue.push(path);
    }
  }
  return paths;
}

function toReadFailure(path: string): (thrown: unknown) => never {
  return (thrown) => {
    if (thrown instanceof Failure) throw thrown;
    const { code = "no reason given" } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw notFound(path, thrown);
    throw new Failure("tool_failed", `File cannot be read (${code}): ${path}`, { cause: thrown });
  };
}

function toWriteFailure(path: string): (thrown: unknown) => never {
  return (thrown) => {
    if (thrown instanceof Failure) throw thrown;
    const { code = "no reason given" } = thrown as NodeJS.ErrnoException;
    const reason = WRITE_REASONS[code] ?? code;
    throw new Failure("tool_failed", `File cannot be changed (${reason}): ${path}`, {
      cause: thrown,
    });
  };
}

const WRITE_REASONS: Readonly<Record<string, string>> = {
  EACCES: "no permission",
  EPERM: "no permission",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  ENOTEMPTY: "the folder is not empty",
  EXDEV: "it would move to another disk",
  EEXIST: "there is something already",
  ENOENT: "it is gone",
};
