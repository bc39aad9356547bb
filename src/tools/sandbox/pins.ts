/**
 * The folders above covered files, which must not be moved. A cover is for a path: if a command renames a
 * folder above it, the same files have a path without a cover, or other files can take their place.
 */

import { dirname } from "node:path";
import { isWithin } from "../../base/paths.ts";

/**
 * Folders below the workspace, each once, from the top down. Without those inside read-only folders, where
 * nothing can be renamed.
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
