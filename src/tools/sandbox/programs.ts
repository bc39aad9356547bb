/**
 * Finds programs: the file that a command's first word means, and the folders that must be visible so that
 * the programs on `PATH` can run.
 */

import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isWithin } from "../../base/paths.ts";

/** The file that runs if `name` is started in `cwd`; undefined if there is none. Links are not followed. */
export function findProgram(name: string, path: string, cwd: string): string | undefined {
  if (name.includes("/")) {
    // Left to the system: the folder may be held by a name whose `..` is another folder's.
    const file = isAbsolute(name) ? name : `${cwd}/${name.replace(/^(?:\.\/)+/, "")}`;
    return isProgram(file) ? file : undefined;
  }
  return path
    .split(":")
    .map((folder) => resolve(cwd, folder, name))
    .find(isProgram);
}

/**
 * Folders of programs in a home folder, as exact as possible: package managers keep logins beside them,
 * such as `.local/share/uv/credentials` and `.cargo/credentials.toml`.
 */
const HOME_FOLDERS = [
  ...inFolder(".pyenv", [
    "bin",
    "completions",
    "libexec",
    "plugins",
    "shims",
    "version",
    "versions",
  ]),
  ...inFolder(".rbenv", [
    "bin",
    "completions",
    "libexec",
    "plugins",
    "shims",
    "version",
    "versions",
  ]),
  ...inFolder(".nodenv", ["bin", "libexec", "plugins", "shims", "version", "versions"]),
  ...inFolder(".nvm", ["alias", "nvm-exec", "nvm.sh", "versions"]),
  ...inFolder(".volta", ["bin", "hooks.json", "tools"]),
  ...inFolder(".asdf", ["asdf.sh", "bin", "installs", "lib", "libexec", "plugins", "shims"]),
  ".sdkman/candidates",
  ".bun/bin",
  ".deno/bin",
  ".cargo/bin",
  ...inFolder(".rustup", ["settings.toml", "toolchains"]),
  "go/bin",
  ".local/bin",
  ".local/lib",
  ...inFolder(".local/share/mise", ["installs", "plugins", "shims"]),
  ...inFolder(".local/share/uv", ["python", "tools"]),
  ...inFolder(".local/share/pipx", ["py", "shared", "venvs"]),
  ...inFolder(".local/share/fnm", ["aliases", "node-versions"]),
];

function inFolder(folder: string, names: readonly string[]): string[] {
  return names.map((name) => `${folder}/${name}`);
}

/**
 * Settings that may contain a password or a token, below the visible folders. `*` stands for one name: the
 * version of a program.
 */
const SETTINGS_WITH_SECRETS = [
  ...[
    ".nvm/versions/node/*",
    ".nodenv/versions/*",
    ".volta/tools/image/node/*",
    ".asdf/installs/nodejs/*",
    ".local/share/mise/installs/node/*",
    ".local/share/fnm/node-versions/*/installation",
  ].flatMap((node) => [`${node}/etc/npmrc`, `${node}/lib/node_modules/npm/npmrc`]),
  ...[
    ".pyenv/versions/*",
    ".asdf/installs/python/*",
    ".local/share/mise/installs/python/*",
    ".local/share/pipx/venvs/*",
    ".local/share/pipx/shared",
    ".local/share/uv/tools/*",
    ".local/share/uv/python/*",
  ].flatMap((python) => [`${python}/pip.conf`, `${python}/.netrc`]),
  ...[".asdf/installs/rust/*", ".local/share/mise/installs/rust/*"].flatMap((cargo) => [
    `${cargo}/credentials`,
    `${cargo}/credentials.toml`,
  ]),
];

/** The settings files of programs of the whole system. */
const SYSTEM_SETTINGS = ["/usr/etc/npmrc", "/usr/local/etc/npmrc", "/usr/local/etc/netrc"];

/** Real paths of files below visible folders that must not be visible. */
export function secretSettings(home: string | undefined): string[] {
  const inHome = home === undefined ? [] : SETTINGS_WITH_SECRETS.map((name) => `${home}/${name}`);
  return [...inHome, ...SYSTEM_SETTINGS].flatMap(expand).flatMap(real);
}

function expand(pattern: string): string[] {
  const [before = "", ...after] = pattern.split("/*");
  if (after.length === 0) return [pattern];
  const names = existsSync(before) ? readdirSync(before) : [];
  return names.flatMap((name) => expand(`${before}/${name}${after.join("/*")}`));
}

export interface ProgramFolders {
  /** The real home folder, if there is one. */
  readonly home: string | undefined;
  /** The real path of the workspace. */
  readonly root: string;
  /** Folders that are visible anyway. */
  readonly seen: readonly string[];
}

/** Real paths of the folders of the programs on `path`, to show read-only. */
export function programFolders(path: string, around: ProgramFolders): string[] {
  const inHome = HOME_FOLDERS.flatMap((name) => (around.home ? [join(around.home, name)] : []));
  const onPath = path.split(":").filter((folder) => isAbsolute(folder));
  const folders = [
    ...inHome.flatMap(real),
    ...onPath.flatMap(real).flatMap((folder) => installation(folder, around)),
  ];
  return [...new Set(folders)].filter((folder) => isFit(folder, around));
}

/**
 * Real paths that a program on `PATH` needs in addition to those folders, to show read-only: if its name is
 * a link, the file to which it leads. A link in the workspace may come from a command and shows nothing.
 */
export function linkedProgram(program: string, around: ProgramFolders): string[] {
  if (isWithin(around.root, program)) return [];
  const file = realpathSync(program);
  const above = dirname(dirname(file));
  const parts = isInterpreter(above) ? partsOf(above, INTERPRETER_PARTS) : [];
  return [file, ...parts].filter((path) => isFit(path, around));
}

/** Folders of a program's own files, beside its folder. */
const LIBRARIES = ["lib", "lib32", "lib64", "libexec", "share"];
const INTERPRETER_PARTS = [
  ...LIBRARIES,
  ...["include", "conf", "jmods", "pkg", "src", "conda-meta", "Cellar", "opt"],
  ...["pyvenv.cfg", "release", "VERSION", "go.env"],
];

/** Files that only interpreters, compilers and package managers have in their installation. */
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
 * The parts of an installation that must be visible for the programs in one of its folders. Never all of
 * it: a project whose `bin` folder is on `PATH` is not shown.
 */
export function installation(folder: string, { home }: ProgramFolders): string[] {
  const above = dirname(folder);
  if (!["bin", "sbin", "shims"].includes(basename(folder)) || above === dirname(above)) {
    return [folder];
  }
  // The visible parts of these are listed above; everything else in them is the user's own.
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

function isFit(folder: string, { home, root, seen }: ProgramFolders): boolean {
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
    // Missing, or not executable for us: the search continues.
    return false;
  }
}
