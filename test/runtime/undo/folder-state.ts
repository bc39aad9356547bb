/** A folder as a test compares it: every path with its kind, mode and content. */

import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type FolderState = ReadonlyMap<string, string>;

export function readFolder(root: string): FolderState {
  const states = new Map<string, string>();
  const queue = [""];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const name of readdirSync(join(root, at))) {
      const path = at === "" ? name : `${at}/${name}`;
      const state = readPath(root, path);
      states.set(path, state);
      if (state.startsWith("folder")) queue.push(path);
    }
  }
  return new Map([...states].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `none` if nothing exists there. */
export function readPath(root: string, path: string): string {
  const place = join(root, path);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (!stats) return "none";
  if (stats.isDirectory()) return "folder";
  if (stats.isSymbolicLink()) return `link ${readlinkSync(place)}`;
  return `file ${(stats.mode & 0o777).toString(8)} ${readFileSync(place).toString("base64")}`;
}

/** A folder to work in, removed when it goes out of scope. */
export function makeFolder(): { readonly root: string } & Disposable {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "offshoot-undo-")));
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}
