/** Whether a file that ripgrep found has a second name, which may lie outside. */

import { lstatSync } from "node:fs";
import { join } from "node:path";

/** Whether a file's matches may be on the page, or only count. */
type Part = "kept" | "counted";

export type LinkCheck = (path: string, part: Part) => boolean;

/** How many files are asked where that only counts: 100,000 take as long as the search itself. */
const MAX_COUNTED = 20_000;

/** What may be on the page is always asked. */
export function createLinkCheck(cwd: string, maxCounted = MAX_COUNTED): LinkCheck {
  let checks = 0;
  return (path, part) => {
    if (++checks > maxCounted && part === "counted") return false;
    return (lstatSync(join(cwd, path), { throwIfNoEntry: false })?.nlink ?? 1) > 1;
  };
}
