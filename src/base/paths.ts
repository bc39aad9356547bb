/** Relations between paths, found from their text alone. */

import { isAbsolute, relative, sep } from "node:path";

/** True if a path is the folder itself or lies in it. Both are absolute; links are not followed. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way.split(sep, 1)[0] !== ".." && !isAbsolute(way));
}
