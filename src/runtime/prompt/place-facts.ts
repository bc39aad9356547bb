/** Where a run works: folder, platform, date and git branch, one fact a line, so that what changes can be told. */

import { constants } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";

export interface Place {
  readonly folder: string;
  readonly platform: string;
  /** Of the user's own time zone. */
  readonly date: string;
  /** Undefined outside of a repository. */
  readonly branch: string | undefined;
  /** What is done about risky calls, and what holds commands. */
  readonly approve: string;
  readonly sandbox: string;
}

/** Pure. No time of the day: each minute would be another beginning of the request. */
export function toPlaceText(place: Place): string {
  const { folder, platform, date, branch, approve, sandbox } = place;
  return [
    "Where you work:",
    `- Folder: ${toLine(folder)}`,
    `- Platform: ${platform}`,
    `- Date: ${date}`,
    ...(branch === undefined ? [] : [`- Git branch: ${toLine(branch)}`]),
    `- Risky calls: ${APPROVAL[approve] ?? approve}`,
    `- Commands: ${SANDBOX[sandbox] ?? sandbox}`,
  ].join("\n");
}

const APPROVAL: Readonly<Record<string, string>> = {
  ask: "the person is asked",
  auto: "allowed unless a rule refuses them",
  deny: "refused unless a rule allows them",
};

const SANDBOX: Readonly<Record<string, string>> = {
  none: "run as the person's own",
  process: "run in processes with limits",
  sandbox: "run in a sandbox: no network, and only this folder can be written to",
};

/** A name is no more than a name, whatever is in it. */
function toLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
  return text.replace(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, " ").slice(0, 1000);
}

export function toDate(clock: Clock): string {
  const now = new Date(clock.now());
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

const MAX_HEAD_BYTES = 4096;

/** Reads two small files and starts no program: git would run what the repository's settings name. */
export async function readBranch(root: string): Promise<string | undefined> {
  try {
    const git = await findGitFolder(root);
    const head = await readHead(join(git, "HEAD"));
    const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(head) ?? [];
    if (branch !== undefined) return branch;
    return /^[0-9a-f]{40,64}$/.test(head.trim()) ? `none (at ${head.slice(0, 12)})` : undefined;
  } catch {
    // No repository, or one that cannot be read: then nothing is said of it.
    return undefined;
  }
}

/** In a worktree `.git` is a file that names the folder. */
async function findGitFolder(root: string): Promise<string> {
  const git = join(root, ".git");
  if ((await stat(git)).isDirectory()) return git;
  const [, named = ""] = /^gitdir: (.+)$/m.exec(await readHead(git)) ?? [];
  return isAbsolute(named) ? named : resolve(root, named);
}

async function readHead(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > MAX_HEAD_BYTES) return "";
    return await readFile(handle, "utf8");
  } finally {
    await handle.close();
  }
}
