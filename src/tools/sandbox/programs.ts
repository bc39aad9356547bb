/**
 * Where programs are: the file that a command's first word means, and the folders that must be seen
 * so that the programs on `PATH` can run.
 */

import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** The file that runs when `name` is started in `cwd`, or none. Links are not followed. */
export function findProgram(name: string, path: string, cwd: string): string | undefined {
  if (name.includes("/")) {
    const file = resolve(cwd, name);
    return isProgram(file) ? file : undefined;
  }
  return path
    .split(":")
    .map((folder) => resolve(cwd, folder, name))
    .find(isProgram);
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way.split(sep, 1)[0] !== ".." && !isAbsolute(way));
}

/** Holders of programs in a home folder, and nothing that must stay secret. */
const HOME_FOLDERS = [
  ".pyenv",
  ".nvm",
  ".volta",
  ".asdf",
  ".rbenv",
  ".nodenv",
  ".sdkman/candidates",
  ".bun/bin",
  ".deno/bin",
  // Beside it lies the key of the package registry.
  ".cargo/bin",
  ".rustup",
  "go/bin",
  ".local/bin",
  ".local/lib",
  ".local/share/mise",
  ".local/share/uv",
  ".local/share/pipx",
  ".local/share/fnm",
];

export interface Surroundings {
  /** The real home folder, if there is one. */
  readonly home: string | undefined;
  /** The real path of the workspace. */
  readonly root: string;
  /** Folders that are seen anyway. */
  readonly seen: readonly string[];
}

/** Real folders, to be seen read-only, that the programs on `path` live in. */
export function programFolders(path: string, around: Surroundings): string[] {
  const inHome = HOME_FOLDERS.flatMap((name) => (around.home ? [join(around.home, name)] : []));
  const onPath = path.split(":").filter((folder) => isAbsolute(folder));
  const folders = [
    ...inHome.flatMap(real),
    ...onPath.flatMap(real).map((folder) => installation(folder, around)),
  ];
  return [...new Set(folders)].filter((folder) => isFit(folder, around));
}

/** The folder a program was installed to: the one above `bin`, where that is not a person's own. */
export function installation(folder: string, { home, root }: Surroundings): string {
  const above = dirname(folder);
  if (!["bin", "sbin", "shims"].includes(basename(folder))) return folder;
  if (above === dirname(above) || isWithin(above, root)) return folder;
  if (home === undefined || !(isWithin(home, above) || isWithin(above, home))) return above;
  return isTreeOfPrograms(home, above) ? above : folder;
}

/** What lies above `~/bin`, `~/.local/bin` and `~/.cargo/bin` is more than programs. */
function isTreeOfPrograms(home: string, folder: string): boolean {
  if (HOME_FOLDERS.some((name) => isWithin(join(home, name), folder))) return true;
  const names = relative(home, folder).split(sep);
  return names.length > 1 && names[0] !== ".." && names[0] !== ".config";
}

function isFit(folder: string, { home, root, seen }: Surroundings): boolean {
  if (seen.some((one) => isWithin(one, folder))) return false;
  return !isWithin(folder, root) && !(home !== undefined && isWithin(folder, home));
}

function real(path: string): string[] {
  return existsSync(path) ? [realpathSync(path)] : [];
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not ours to run: the search goes on.
    return false;
  }
}
