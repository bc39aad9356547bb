/** The files of a folder that git would track, by ripgrep: for completion. */

import { createPathReader } from "../../tools/files/ripgrep/list-files.ts";
import { runRipgrep } from "../../tools/files/ripgrep/ripgrep.ts";
import { cleanForTerminal } from "../terminal.ts";

/** A folder with more is completed among the first of them. */
const MOST = 50_000;
/** Without git's own folder; names with a dot are files like others to who writes code. */
const FLAGS = ["--files", "--null", "--hidden", "--glob", "!.git"];

export async function listFolderFiles(
  cwd: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const files: string[] = [];
  const done = new AbortController();
  const reader = createPathReader((path) => {
    // A name with a quote or a line break cannot be written after `@`. One that would not be shown as it is, is none
    // that somebody can choose.
    const canBeWritten = !/["\n]/.test(path) && cleanForTerminal(path) === path;
    if (files.length < MOST && canBeWritten) files.push(path);
    else if (files.length >= MOST) done.abort();
  });
  const both = AbortSignal.any([signal, done.signal]);
  try {
    await runRipgrep({ flags: FLAGS, cwd, signal: both, complaint: "Command failed" }, reader);
  } catch {
    // What was found by then is completed.
  }
  return files;
}
