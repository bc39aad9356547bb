/**
 * The folders above what is covered, which must stay where they are. A cover holds a path: whoever renames
 * a folder above it has the same files under a path that no rule names, or can put others in its place.
 */

import { dirname } from "node:path";
import { isWithin } from "../../base/paths.ts";

/**
 * Below the workspace, each once, the upper ones before those in them. Without those inside of what is
 * read-only, where nothing can be renamed.
 */
export function findPins(
  root: string,
  {
    readOnly,
    hidden,
  }: { readonly readOnly: readonly string[]; readonly hidden: readonly string[] },
): string[] {
  const fixed = new Set(readOnly);
  const pins = new Set<string>();
  for (const path of [...readOnly, ...hidden]) {
    if (!isWithin(root, path)) continue;
    const above = foldersAbove(root, path);
    const end = above.findIndex((folder) => fixed.has(folder));
    for (const folder of end === -1 ? above : above.slice(0, end)) pins.add(folder);
  }
  return [...pins].sort();
}

/** From the top down. */
function foldersAbove(root: string, path: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    if (folder === dirname(folder)) return [];
    folders.unshift(folder);
  }
  return folders;
}
