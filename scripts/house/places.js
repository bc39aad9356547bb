/** The room and the folder of a file of `src`. */

import { posix } from "node:path";

/** `responses` of `responses/api/api.ts`; a file beside the rooms is its own room. */
export function roomOf(path) {
  return path.split("/", 1)[0] ?? path;
}

/** `responses/api` of `responses/api/api.ts`. */
export function folderOf(path) {
  const folder = posix.dirname(path);
  return folder === "." ? path : folder;
}
