/**
 * Where programs are: the file that a command's first word means, and the folders that must be seen
 * so that the programs on `PATH` can run.
 */

import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isWithin } from "../../base/paths.ts";

/** The file that runs when `name` is started in `cwd`, or none. Links are not followed. */
export function findProgram(name: string, path: string, cwd: string): string | undefined {
  if (name.includes("/")) {
    // Left to the system: the folder may be held by a name whose `..` is another's.
    const file = isAbsolute(name) ? name : `${cwd}/${name.replace(/^(?:\.\/)+/, "")}`;
    return isProgram(file) ? file : undefined;
  }
  return path
    .split(":")
    .map((folder) => resolve(cwd, folder, name))
    .find(isProgram);
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

/** Real paths, to be seen read-only, that the programs on `path` live in. */
export function programFolders(path: string, around: Surroundings): string[] {
  const inHome = HOME_FOLDERS.flatMap((name) => (around.home ? [join(around.home, name)] : []));
  const onPath = path.split(":").filter((folder) => isAbsolute(folder));
  const folders = [
    ...inHome.flatMap(real),
    ...onPath.flatMap(real).flatMap((folder) => installation(folder, around)),
  ];
  return [...new Set(folders)].filter((folder) => isFit(folder, around));
}

/**
 * Real paths, to be seen read-only, that a program on `PATH` needs beside those folders: where its name
 * is a link, the file it leads to. A link in the workspace may be a command's own and shows nothing.
 */
export function linkedProgram(program: string, around: Surroundings): string[] {
  if (isWithin(around.root, program)) return [];
  const file = realpathSync(program);
  const above = dirname(dirname(file));
  const parts = isInterpreter(above) ? partsOf(above, INTERPRETER_PARTS) : [];
  return [file, ...parts].filter((path) => isFit(path, around));
}

/** Where a program's own files lie, beside the folder that it is in. */
const LIBRARIES = ["lib", "lib32", "lib64", "libexec", "share"];
const INTERPRETER_PARTS = [
  ...LIBRARIES,
  ...["include", "conf", "jmods", "pkg", "src", "conda-meta", "Cellar", "opt"],
  ...["pyvenv.cfg", "release", "VERSION", "go.env"],
];

/** What only interpreters, compilers and package managers have in what they were installed to. */
const SIGNS = [
  ...[
    "pyvenv.cfg",
    "conda-meta",
    "include/node",
    "lib/node_modules",
    "lib/rustlib",
    "lib/ruby/gems",
  ],
  ...["lib/perl5", "lib/jvm.cfg", "pkg/tool", "Cellar"],
];

/**
 * What must be seen of an installation for the programs in one of its folders. Never all of it: that
 * somebody put `bin` of a project on `PATH` does not show the project.
 */
export function installation(folder: string, { home }: Surroundings): string[] {
  const above = dirname(folder);
  if (!["bin", "sbin", "shims"].includes(basename(folder)) || above === dirname(above)) {
    return [folder];
  }
  // What of these is shown stands above; what else lies in them is a person's own.
  const isKnown =
    home !== undefined && HOME_FOLDERS.some((name) => isWithin(above, join(home, name)));
  if (isKnown) return [folder];
  if (isInterpreter(above)) return [folder, ...partsOf(above, INTERPRETER_PARTS)];
  const isOwn = home !== undefined && isWithin(home, above);
  return isOwn ? [folder] : [folder, ...partsOf(above, LIBRARIES)];
}

function isInterpreter(folder: string): boolean {
  if (SIGNS.some((name) => existsSync(join(folder, name)))) return true;
  const libraries = join(folder, "lib");
  return existsSync(libraries) && readdirSync(libraries).some((name) => /^python\d/.test(name));
}

function partsOf(folder: string, names: readonly string[]): string[] {
  return names.flatMap((name) => real(join(folder, name)));
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
