/**
 * Where a run works: folder, platform, date and git branch, one fact for each line, so that changes can be reported.
 */

import { constants } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";

export interface PlaceFacts {
  readonly folder: string;
  readonly platform: string;
  /** The date in the user's own time zone. */
  readonly date: string;
  /** Undefined outside a repository. */
  readonly branch: string | undefined;
  /** The handling of risky calls, and the isolation of commands. */
  readonly approve: string;
  readonly sandbox: string;
}

/** Pure. Without the time of day: each minute would change the beginning of the request. */
export function toPlaceText(place: PlaceFacts): string {
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

/** A name must stay one line, whatever is in it. */
function toLine(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ").slice(0, 1000);
}

export function toDate(clock: Clock): string {
  const now = new Date(clock.now());
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

const MAX_HEAD_BYTES = 4096;

/** Reads two small files and starts no program: git would run programs that the repository's settings name. */
export async function readBranch(root: string): Promise<string | undefined> {
  try {
    const git = await findGitFolder(root);
    const head = await readHead(join(git, "HEAD"));
    const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(head) ?? [];
    if (branch !== undefined) return branch;
    return /^[0-9a-f]{40,64}$/.test(head.trim()) ? `none (at ${head.slice(0, 12)})` : undefined;
  } catch {
    // Not a repository, or one that cannot be read: the branch is left out.
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
