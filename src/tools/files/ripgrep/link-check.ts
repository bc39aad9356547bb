/** Checks whether a file that ripgrep found has a second name, which may be outside of the workspace. */

import { lstatSync } from "node:fs";
import { join } from "node:path";

/** Whether a file's matches may be shown, or only counted. */
type Part = "kept" | "counted";

export type LinkCheck = (path: string, part: Part) => boolean;

/** How many files are checked for the count alone: checking 100,000 takes as long as the search itself. */
const MAX_COUNTED = 20_000;

/** Files that may be shown are always checked. */
export function createLinkCheck(cwd: string, maxCounted = MAX_COUNTED): LinkCheck {
  let checks = 0;
  return (path, part) => {
    if (++checks > maxCounted && part === "counted") return false;
    return (lstatSync(join(cwd, path), { throwIfNoEntry: false })?.nlink ?? 1) > 1;
  };
}
