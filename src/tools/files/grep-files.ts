/** A page of matches, each with the lines around it. */

import type { ToolContext } from "../tool.ts";
import { toNote } from "./ripgrep/page.ts";
import { type FileSearch, type LineMatch, searchFiles } from "./ripgrep/search-files.ts";
import { readText, toLines } from "./text-file.ts";

const CONTEXT_LINES = 2;
/** Larger files are skipped: files that people write are smaller. */
const MAX_BYTES = 1024 * 1024;
/** Longer lines are cut, both matches and the lines around them. */
const MAX_CHARS = 1000;

type Found = {
  path: string;
  line: number;
  text: string;
  before: string[];
  after: string[];
};

type FoundPage = {
  matches: Found[];
  total: number;
  offset: number;
  has_more: boolean;
  note?: string;
};

export async function grepFiles(
  request: Omit<FileSearch, "complaint">,
  context: Pick<ToolContext, "workspace" | "signal">,
): Promise<FoundPage> {
  const flags = [...request.flags, `--max-filesize=${MAX_BYTES}`];
  const complaint = "The search failed";
  const { matches: page, total } = await searchFiles({ ...request, flags, complaint }, context);
  const texts = new Map<string, readonly string[]>();
  const matches: Found[] = [];
  for (const match of page) {
    const lines = texts.get(match.path) ?? (await readAround(match.path, context));
    texts.set(match.path, lines);
    matches.push(toFound(match, lines));
  }
  const { offset } = request;
  const has_more = offset + matches.length < total;
  return { matches, total, offset, has_more, ...toNote(matches.length, total, request) };
}

/** Empty if the file was removed or replaced meanwhile: the match itself still counts. */
async function readAround(
  path: string,
  { workspace }: Pick<ToolContext, "workspace">,
): Promise<readonly string[]> {
  return readText(workspace, path, MAX_BYTES).then(toLines, () => []);
}

function toFound({ path, line }: LineMatch, lines: readonly string[]): Found {
  const [, digits = "0", text = ""] = /^(\d+)[:-](.*)$/s.exec(line) ?? [];
  const number = Number(digits);
  const cut = (start: number, end: number): string[] =>
    lines.slice(Math.max(0, start), Math.max(0, end)).map((one) => one.slice(0, MAX_CHARS));
  return {
    path,
    line: number,
    text,
    before: cut(number - 1 - CONTEXT_LINES, number - 1),
    after: cut(number, number + CONTEXT_LINES),
  };
}
