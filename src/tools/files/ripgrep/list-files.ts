/** Lists the files below a folder with ripgrep, as a page of their paths in the workspace. */

import { Failure } from "../../../base/failure.ts";
import { type GlobPattern, toGlobPattern } from "../../../base/glob.ts";
import type { ToolContext } from "../../tool.ts";
import { type PageRequest, type ResultPage, Selection, toPage } from "./page.ts";
import { EXCLUDING_FLAGS, runRipgrep } from "./ripgrep.ts";

export interface ListRequest extends PageRequest {
  readonly path: string;
  readonly kind: "files" | "folders";
  readonly flags: readonly string[];
  /** True if a path, relative to the folder, is wanted. */
  matches(path: string): boolean;
}

export async function listFiles(
  request: ListRequest,
  { workspace, signal }: Pick<ToolContext, "workspace" | "signal">,
): Promise<ResultPage> {
  return workspace.within(request.path, async ({ cwd, relative }) => {
    const prefix = relative === "" ? "" : `${relative}/`;
    const selection = new Selection<undefined>(request);
    const addFile = (path: string): void => {
      if (request.matches(path) && workspace.shows(prefix + path)) selection.add(path, undefined);
    };
    const add = request.kind === "files" ? addFile : eachFolder(addFile);
    const reader = createPathReader(add);
    // Without flags ripgrep skips hidden names, and with them nearly all protected files.
    const excluding = request.flags.length > 0 ? EXCLUDING_FLAGS : [];
    const flags = ["--files", "--null", ...request.flags, ...excluding];
    await runRipgrep({ flags, cwd, signal, complaint: "Command failed" }, reader);
    const paths = selection.finish().map(({ key }) => prefix + key);
    return toPage(paths.slice(request.offset), selection.total, request);
  });
}

/** Calls `add` with each path of a text in which every path ends with a NUL. Pieces may end anywhere. */
export function createPathReader(add: (path: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const end = chunk.lastIndexOf(0);
    if (end < 0) {
      rest = Buffer.concat([rest, chunk]);
      return;
    }
    // One text for a whole piece: decoding each path by itself takes four times as long.
    const text = rest.toString("utf8") + chunk.toString("utf8", 0, end);
    rest = Buffer.from(chunk.subarray(end + 1));
    for (const path of text.split("\0")) add(path.startsWith("./") ? path.slice(2) : path);
  };
}

/** Calls `add` once for every folder above a file, at any depth. */
function eachFolder(add: (path: string) => void): (file: string) => void {
  const folders = new Set<string>();
  return (file) => {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end);
      if (folders.has(folder)) return;
      folders.add(folder);
      add(folder);
    }
  };
}

/** Matched against every path of a listing. People write shorter patterns. */
const MAX_GLOB_CHARS = 1000;

export function parseGlob(glob: string): GlobPattern {
  if (glob.length > MAX_GLOB_CHARS) {
    throw new Failure("invalid_request", `A glob has at most ${MAX_GLOB_CHARS} characters.`);
  }
  return toGlobPattern([glob]);
}
