/**
 * Finds files of the workspace that git obeys and that are not in `.git`: the repository to which a `.git`
 * file leads, included settings files, folders of hooks, programs that settings name, and the folders of
 * submodules, in which a command could make a repository of its own. The user's next `git status` or `git
 * commit` runs what they say, so commands in the sandbox must not change them.
 */

import { lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Environment } from "../../base/environment.ts";
import { Failure } from "../../base/failure.ts";
import { isWithin } from "../../base/paths.ts";
import { clip } from "../../base/text.ts";
import { expandHome, type GitConfig, readGitConfig, readText } from "./git-config.ts";
import { readSubmodules } from "./git-index.ts";
import { isPlaceholder } from "./placeholder.ts";

/** Settings whose value is a command line that git runs. */
const PROGRAMS =
  /^(?:core\.(?:fsmonitor|sshcommand|gitproxy|askpass|editor|pager|alternaterefscommand)|credential\..*helper|diff\.(?:external|.*\.(?:command|textconv))|filter\..*\.(?:clean|smudge|process)|merge\..*\.driver|(?:diff|merge)tool\..*\.cmd|gpg\..*program|sequence\.editor|interactive\.difffilter|pager\..*|trailer\..*\.(?:command|cmd)|uploadpack\.packobjectshook|remote\..*\.(?:receivepack|uploadpack))$/s;

/** Entries of a repository's folder that may be links to other places. */
const PARTS = ["config", "config.worktree", "hooks", "info", "HEAD", "commondir"];

/**
 * Paths in the workspace that commands must neither change nor create, for the repository that the
 * workspace is in. Rejects with `forbidden` if one of them cannot be kept from commands.
 */
export function findGitPaths(root: string, env: Environment): string[] {
  requireNoLink(join(root, ".git"));
  const top = findTop(root);
  if (top === undefined) return [];
  const { paths, included } = pathsOf(top, env);
  const inside = [...paths, ...included].filter((path) => isOutsideGit(root, path));
  for (const path of included) if (inside.includes(path)) requireFile(root, path);
  return [...new Set(inside.map((path) => firstMissing(root, path)))];
}

/** The paths of the repository that a `.git` anywhere in the workspace leads to, as far as they exist. */
export function followGit(root: string, path: string, env: Environment): string[] {
  if (basename(path) !== ".git" || path === join(root, ".git")) return [];
  const { paths, included } = pathsOf(dirname(path), env);
  const found = [...paths, ...included].filter((one) => isOutsideGit(root, one));
  return found.filter(isThere);
}

/** The nearest folder from the workspace upwards that has a repository. An empty `.git` is a placeholder. */
function findTop(root: string): string | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    if (isFile(join(folder, ".git")) || isThere(join(folder, ".git/HEAD"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

interface GitPaths {
  readonly paths: readonly string[];
  readonly included: readonly string[];
}

function pathsOf(top: string, env: Environment): GitPaths {
  const folder = folderOf(top);
  const common = resolve(folder, readText(join(folder, "commondir"))?.trim() ?? "");
  const files = [join(common, "config"), join(folder, "config.worktree")];
  const config = readGitConfig([...userFiles(env), ...files], env["HOME"]);
  const linked = [folder, common].flatMap((one) => PARTS.map((part) => real(join(one, part))));
  const isLong = config.settings.some(
    ({ key, value }) => key === "extensions.objectformat" && value === "sha256",
  );
  const modules = readSubmodules(folder, isLong ? 32 : 20).map((path) => join(top, path, ".git"));
  const paths = [folder, common, ...linked, ...named(top, config, env), ...modules];
  return { paths, included: config.included.map(real) };
}

/** The folder of a working tree's repository: its `.git`, or the path in that file. */
function folderOf(top: string): string {
  const git = join(top, ".git");
  const target = /^gitdir:\s*(.*\S)/.exec(isFile(git) ? (readText(git) ?? "") : "")?.[1];
  return real(target === undefined ? git : resolve(top, target));
}

function userFiles(env: Environment): string[] {
  const { HOME: home, XDG_CONFIG_HOME: config, GIT_CONFIG_GLOBAL: only } = env;
  if (only !== undefined) return ["/etc/gitconfig", only];
  const folder = config ?? (home === undefined ? undefined : join(home, ".config"));
  return [
    "/etc/gitconfig",
    ...(folder === undefined ? [] : [join(folder, "git/config")]),
    ...(home === undefined ? [] : [join(home, ".gitconfig")]),
  ];
}

function named(top: string, { settings }: GitConfig, env: Environment): string[] {
  const toPath = (word: string): string => resolve(top, expandHome(word, env["HOME"]));
  return settings.flatMap(({ key, value }) => {
    if (key === "core.hookspath") return [hooksOf(toPath(value))].filter((path) => path !== top);
    if (!PROGRAMS.test(key)) return [];
    const words = value.split(/[\s"'!;|&()]+/).filter(Boolean);
    // The program itself is looked up on `PATH` unless its name has a slash.
    const paths = words.filter((word, at) => at > 0 || word.includes("/"));
    return paths.map((word) => real(toPath(word))).filter(isFile);
  });
}

/** Husky's hooks in `.husky/_` run the files beside that folder. */
function hooksOf(path: string): string {
  return real(basename(path) === "_" ? dirname(path) : path);
}

function isOutsideGit(root: string, path: string): boolean {
  if (path === root || !isWithin(root, path)) return false;
  const names = relative(root, path).split("/");
  // A `.git` is covered by its name. That of a submodule may be missing.
  return !names.slice(0, -1).includes(".git") && (names.at(-1) !== ".git" || names.length > 1);
}

/**
 * The uppermost missing part of a path, or one that is only a placeholder of another command: if it cannot
 * be created, neither can the rest.
 */
function firstMissing(root: string, path: string): string {
  let found = path;
  for (let at = path; at !== root; at = dirname(at)) {
    if (!isThere(at) || isPlaceholder(at)) found = at;
  }
  return found;
}

/** A placeholder is a folder, and git refuses to work if a settings file is one. */
function requireFile(root: string, path: string): void {
  if (isFile(path)) return;
  const name = clip(relative(root, path), 200);
  const message = `Git's settings include \`${name}\`, which is not a file, so the sandbox cannot keep commands from creating it. Create it; it may be empty.`;
  throw new Failure("forbidden", message);
}

/** Nothing can be mounted on a link, so a command could put a folder in its place. */
function requireNoLink(path: string): void {
  if (!attempt(() => lstatSync(path))?.isSymbolicLink()) return;
  const message =
    "`.git` is a symbolic link, which the sandbox cannot keep commands from replacing. Make it a file with the line `gitdir: PATH` instead.";
  throw new Failure("forbidden", message);
}

function isFile(path: string): boolean {
  return attempt(() => statSync(path).isFile()) ?? false;
}

function isThere(path: string): boolean {
  return attempt(() => lstatSync(path)) !== undefined;
}

/** The real path of the part that exists. */
function real(path: string): string {
  const above = dirname(path);
  return (
    attempt(() => realpathSync(path)) ?? (above === path ? path : join(real(above), basename(path)))
  );
}

/** Undefined for a missing file, and for text that is not a path. */
function attempt<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
