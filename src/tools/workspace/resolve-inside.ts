/**
 * Resolves a path of the workspace name by name, without the system's help: each link is read before it is
 * followed, so nothing outside is ever accessed, not even to see whether it exists.
 */

import type { Stats } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Failure } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { findProtection, toPlainPath } from "./protected.ts";

export interface Jail {
  /** The real path. */
  readonly root: string;
  /** The path by which it was opened, which may lead through links. */
  readonly name: string;
  /** Plain forms (`toPlainPath`) of paths that are refused with everything below them. */
  readonly closed: readonly string[];
}

export interface Resolved {
  /** The real path: no part of it is a link, except the last one if it was kept. */
  readonly path: string;
  /** Relative to the root, with `/` between names. */
  readonly relative: string;
  /** The entry there; undefined if there is none. */
  readonly stats: Stats | undefined;
  /** The existing part of the path: the path itself, or a folder above it. */
  readonly existing: string;
}

/** Whether the last part of a path is followed if it is a link, or the link itself is meant. */
export type Last = "follow" | "keep";

/** The most links that Linux follows. */
const MAX_LINKS = 40;
/** The longest path on Linux and macOS, in bytes. */
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;
/** Their entries are not stored: processes, devices, the kernel's switches. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev"];

/** Rejects with `forbidden` if the path, or a link on its way, leads out or to a protected path. */
export async function resolveInside(jail: Jail, path: string, last: Last): Promise<Resolved> {
  checkText(path);
  return walkInside(jail, path, last, toWay(jail, resolve(jail.name, path)));
}

/**
 * Resolves a path that a program passes to the system unchanged: `..` after a link goes up from the
 * link's target.
 */
export async function followInside(jail: Jail, path: string): Promise<Resolved> {
  checkText(path);
  return walkInside(jail, path, "follow", toWrittenWay(jail, path));
}

async function walkInside(
  jail: Jail,
  path: string,
  last: Last,
  queue: string[] | undefined,
): Promise<Resolved> {
  if (!queue || isHome(path)) throw outside(path);
  checkPlace(jail, jail.root, path);
  const walk: Walk = { jail, path, last, queue, at: jail.root, links: 0 };
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const ended = await step(walk, name);
    if (ended) return ended;
  }
  const stats = await look(walk.at, path);
  return { path: walk.at, relative: toRelative(jail.root, walk.at), stats, existing: walk.at };
}

interface Walk {
  readonly jail: Jail;
  readonly path: string;
  readonly last: Last;
  /** The remaining names. */
  readonly queue: string[];
  /** A real folder of the workspace; at the end, the target of the path. */
  at: string;
  links: number;
}

/** Takes one step. Returns the result if no further part exists. */
async function step(walk: Walk, name: string): Promise<Resolved | undefined> {
  const { jail, path, last, queue, at } = walk;
  if (name === "" || name === ".") return undefined;
  if (name === "..") {
    if (at === jail.root) throw outside(path);
    walk.at = dirname(at);
    return undefined;
  }
  const next = join(at, name);
  checkPlace(jail, next, path);
  const stats = await look(next, path);
  if (!stats) return toMissing(walk, name);
  if (stats.isSymbolicLink() && (queue.length > 0 || last === "follow")) {
    await follow(walk, next);
    return undefined;
  }
  if (queue.length > 0 && !stats.isDirectory()) throw notFound(path);
  walk.at = next;
  return undefined;
}

async function follow(walk: Walk, link: string): Promise<void> {
  const { jail, path, queue } = walk;
  if (++walk.links > MAX_LINKS) {
    throw new Failure("invalid_request", `Too many links on the way: ${path}`);
  }
  const target = await readlink(link);
  if (!isAbsolute(target)) {
    queue.unshift(...target.split(sep));
    return;
  }
  const isPlain = !target.split(sep).includes("..");
  const way = isPlain ? toWay(jail, target) : toWrittenWay(jail, target);
  if (!way) throw outside(path);
  walk.at = jail.root;
  queue.unshift(...way);
}

function toMissing({ jail, path, queue, at }: Walk, name: string): Resolved {
  const names = [name, ...queue].filter((one) => one !== "" && one !== ".");
  if (names.includes("..")) throw notFound(path);
  const place = join(at, ...names);
  checkPlace(jail, place, path);
  return { path: place, relative: toRelative(jail.root, place), stats: undefined, existing: at };
}

/** Refuses protected paths, and folders that look like a file system but are not one. */
export function checkPlace(jail: Jail, place: string, path: string): void {
  const own = isClosed(jail, place) ? "this program's own files" : undefined;
  const reason = findProtection(toRelative(jail.root, place)) ?? own;
  if (reason !== undefined) {
    throw new Failure("forbidden", `Protected path not allowed (${reason}): ${clip(path, 200)}`);
  }
  const isSystem = SYSTEM_FOLDERS.some(
    (folder) => isWithin(folder, place) && !isWithin(folder, jail.root),
  );
  if (isSystem) throw outside(path);
}

export function isClosed({ closed }: Jail, place: string): boolean {
  if (closed.length === 0) return false;
  const plain = toPlainPath(place);
  return closed.some((one) => isAtOrBelow(one, plain));
}

/** The paths, among those given by their real paths, that can matter in a workspace. */
export function toClosed(root: string, places: readonly string[]): string[] {
  const plainRoot = toPlainPath(root);
  return places
    .map(toPlainPath)
    .filter((place) => isAtOrBelow(plainRoot, place) || isAtOrBelow(place, plainRoot));
}

function isAtOrBelow(folder: string, place: string): boolean {
  return place === folder || place.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

export function outside(path: string): Failure {
  return new Failure("forbidden", `Path outside CWD not allowed: ${clip(path, 200)}`);
}

export function notFound(path: string, cause?: unknown): Failure {
  return new Failure("not_found", `File not found: ${path}`, { cause });
}

/** The way from the root to a path in it, with `/` between names. */
export function toRelative(root: string, place: string): string {
  const way = relative(root, place);
  return sep === "/" ? way : way.replaceAll(sep, "/");
}

/** The path relative to the root as it is written, without following links; undefined if it is outside. */
export function findRelative(root: string, path: string): string | undefined {
  const place = resolve(root, path);
  return isWithin(root, place) ? toRelative(root, place) : undefined;
}

function checkText(path: string): void {
  if (path.includes("\0")) throw new Failure("invalid_request", "A path has no NUL character.");
  const isLong =
    Buffer.byteLength(path) > MAX_PATH_BYTES ||
    path.split(/[\\/]/).some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
  if (isLong) throw new Failure("invalid_request", `Path too long: ${clip(path, 80)}`);
}

/** A shell would read it as a home folder, and so would its author. `./~` is the file. */
function isHome(path: string): boolean {
  return /^~[^/\\]*$|^~[^/\\]*[/\\]/.test(path);
}

/** The names that lead from the root to a path; undefined if it is outside. */
function toWay({ root, name }: Jail, place: string): string[] | undefined {
  const base = [root, name].find((one) => isWithin(one, place));
  return base === undefined ? undefined : relative(base, place).split(sep);
}

/** The names of a path as it is written; undefined if it is outside. */
function toWrittenWay({ root, name }: Jail, path: string): string[] | undefined {
  const separators = sep === "/" ? "/" : /[\\/]/;
  if (!isAbsolute(path)) return path.split(separators);
  const bases = [root, name].map((one) => (one.endsWith(sep) ? one : `${one}${sep}`));
  const base = bases.find((one) => `${path}${sep}`.startsWith(one));
  return base === undefined ? undefined : path.slice(base.length).split(separators);
}

async function look(place: string, path: string): Promise<Stats | undefined> {
  try {
    return await lstat(place);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") throw notFound(path, cause);
    throw new Failure("tool_failed", `${path}: ${code ?? "cannot be looked at"}`, { cause });
  }
}
