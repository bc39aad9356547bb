/** Searches lines that match a pattern with ripgrep, as a page of them in the order of files and lines. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { ToolContext } from "../../tool.ts";
import { isSensitive } from "../../workspace/protected.ts";
import { createPathReader } from "./list-files.ts";
import { createMatchReader } from "./match-reader.ts";
import { type PageRequest, Selection, TEXT_COST } from "./page.ts";
import { EXCLUDING_FLAGS, runRipgrep } from "./ripgrep.ts";

export interface FileSearch extends PageRequest {
  readonly pattern: string;
  /** A folder, or one file. */
  readonly path: string;
  readonly flags: readonly string[];
  readonly complaint: string;
}

export interface LineMatch {
  /** Relative to the workspace. */
  readonly path: string;
  /** In the form of ripgrep: number, `:` (or `-` for a line beside a match), text. */
  readonly line: string;
}

export interface Matches {
  readonly matches: readonly LineMatch[];
  readonly total: number;
}

type Context = Pick<ToolContext, "workspace" | "signal">;

/** Ripgrep cuts longer lines, and says so. */
const MAX_COLUMNS = 1000;
/** The size limit of a single named file. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export async function searchFiles(request: FileSearch, context: Context): Promise<Matches> {
  const { workspace, signal } = context;
  const { relative, isFolder } = await workspace.locate(request.path, "read");
  if (isFolder) return searchFolder(request, context);
  // We read the file, so that it is held open like any other; ripgrep gets only the content.
  const stdin = await workspace.readFile(request.path, MAX_FILE_BYTES);
  const found = collectMatches(request, { toShown: () => relative, isShared: () => false });
  const flags = toFlags(request);
  const { complaint } = request;
  await runRipgrep({ flags, cwd: workspace.root, stdin, signal, complaint }, found.take);
  return found.finish();
}

async function searchFolder(request: FileSearch, context: Context): Promise<Matches> {
  const { workspace, signal } = context;
  return workspace.within(request.path, async ({ cwd, relative }) => {
    const prefix = relative === "" ? "" : `${relative}/`;
    const isShared = workspace.hardLinks ? () => false : createLinkCheck(cwd);
    const found = collectMatches(request, {
      toShown(path) {
        const whole = prefix + path;
        return workspace.shows(whole) && !isSensitive(path) ? whole : undefined;
      },
      isShared,
    });
    const flags = [...toFlags(request), ...EXCLUDING_FLAGS];
    await runRipgrep({ flags, cwd, signal, complaint: request.complaint }, found.take);
    return found.finish();
  });
}

function toFlags({ pattern, flags }: FileSearch): string[] {
  const columns = [`--max-columns=${MAX_COLUMNS}`, "--max-columns-preview"];
  const form = ["--heading", "--null", "--line-number", "--with-filename", ...columns];
  return [...form, ...flags, `--regexp=${pattern}`];
}

interface Collected {
  take(chunk: Buffer): void;
  finish(): Matches;
}

interface Sieve {
  /** The path to show; undefined for a file that must not be shown. */
  toShown(path: string): string | undefined;
  readonly isShared: LinkCheck;
}

function collectMatches(request: FileSearch, { toShown, isShared }: Sieve): Collected {
  const selection = new Selection<readonly string[]>(request);
  const isPathsOnly = request.flags.some((flag) => PATHS_ONLY.has(flag));
  const toLetThrough = (path: string): string | undefined => {
    const whole = toShown(path);
    if (whole === undefined) return undefined;
    return isShared(path, selection.wants(whole) ? "kept" : "counted") ? undefined : whole;
  };
  let shown = "";
  const reader = createMatchReader({
    begin(path) {
      const whole = toLetThrough(path);
      if (whole === undefined) return undefined;
      shown = whole;
      const lines = selection.wants(shown) ? selection.needed : 0;
      return { lines, cost: shown.length + TEXT_COST };
    },
    end: (lines, found) => selection.add(shown, lines, found),
  });
  const readPaths = createPathReader((path) => {
    const whole = toLetThrough(path);
    if (whole !== undefined) selection.add(whole, [""]);
  });
  return {
    take: isPathsOnly ? readPaths : reader.take,
    finish() {
      reader.finish();
      const { offset, limit } = request;
      const found = selection
        .finish()
        .flatMap(({ key: path, value }) => value.map((line) => ({ path, line })));
      const matches = found.slice(offset, limit > 0 ? offset + limit : undefined);
      return { matches, total: selection.total };
    },
  };
}

const PATHS_ONLY: ReadonlySet<string> = new Set(["-l", "--files-with-matches"]);

/** Whether a file's matches may be shown, or only counted. */
type Part = "kept" | "counted";

/** Whether a file that ripgrep found has a second name, which may be outside of the workspace. */
type LinkCheck = (path: string, part: Part) => boolean;

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
