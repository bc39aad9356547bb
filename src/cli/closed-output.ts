/**
 * Tells if standard output was closed by the parent process (`>&-`), so that the answer would be lost in silence.
 *
 * Node.js opens `/dev/null` for a closed descriptor before any of our code runs, for reading and writing. A shell
 * opens it for writing only (`>/dev/null`), but other programs that want no output open it as Node.js does: `stdio:
 * "ignore"`, Python's `DEVNULL`. So the parent is examined too: it has no standard output itself, or it is a shell
 * with another one. A shell that has become this process (`sh -c 'offshoot … >&-'`) cannot be distinguished from such
 * a program and is accepted. On Linux only: it needs `/proc`.
 */

import { readFileSync, readlinkSync } from "node:fs";

/** The files below `/proc` that are read; tests replace them. */
export interface ProcessFiles {
  readonly parentId: number;
  readLink(path: string): string;
  readText(path: string): string;
}

const NULL_DEVICE = "/dev/null";
const SHELLS: ReadonlySet<string> = new Set(
  "sh bash dash zsh ash ksh mksh fish busybox".split(" "),
);
/**
 * The bits of an open file's flags that say how it was opened, and their value for reading and writing.
 */
const ACCESS = 0o3;
const READ_WRITE = 0o2;

export function isOutputClosed(files: ProcessFiles = PROC): boolean {
  const { parentId } = files;
  if (linkOf("self/fd/1", files) !== NULL_DEVICE || !isOpenedTwoWays(files)) return false;
  // The parent is gone.
  if (parentId <= 1) return false;
  const above = linkOf(`${parentId}/fd/1`, files);
  if (above === undefined) return hasNone(files);
  const isShell = SHELLS.has(textOf(`${parentId}/comm`, files).trim());
  return isShell && above !== NULL_DEVICE;
}

const PROC: ProcessFiles = {
  parentId: process.ppid,
  readLink: (path) => readlinkSync(`/proc/${path}`),
  readText: (path) => readFileSync(`/proc/${path}`, "utf8"),
};

function isOpenedTwoWays(files: ProcessFiles): boolean {
  const [, flags = "0"] = /^flags:\s*([0-7]+)$/m.exec(textOf("self/fdinfo/1", files)) ?? [];
  return (Number.parseInt(flags, 8) & ACCESS) === READ_WRITE;
}

/** True if the parent has no standard output; false if it may not be examined. */
function hasNone({ parentId, readLink }: ProcessFiles): boolean {
  try {
    readLink(`${parentId}/fd/1`);
    return false;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** Undefined if it does not exist or may not be read. */
function linkOf(path: string, { readLink }: ProcessFiles): string | undefined {
  try {
    return readLink(path);
  } catch {
    // No `/proc`, another user's process, or a closed descriptor: the caller distinguishes them.
    return undefined;
  }
}

function textOf(path: string, { readText }: ProcessFiles): string {
  try {
    return readText(path);
  } catch {
    // As above.
    return "";
  }
}
