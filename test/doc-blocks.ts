/**
 * The blocks of code in README.md and docs/, and who runs each. A block stands as it is, or a comment that readers do
 * not see is on the line above it:
 *
 *   <!-- tested by PATH -->     that test runs it or compares it; the file names the page
 *   <!-- not run: REASON -->    no test can run it
 *   <!-- runs until TEXT -->    its server does not end by itself; the lines after it come once it has printed this
 *   <!-- file PATH -->          the blocks after it need it as this file; `~/` is the reader's home
 *   <!-- on a terminal -->      its commands are typed on a terminal; `> ` is an answer
 *   <!-- on a terminal until TEXT -->   each of its lines is a command, which is ended once it shows this
 *   <!-- beginning on a terminal -->    the same as `on a terminal`, and the command is ended after the last line
 *   <!-- part of a program -->  it has a `runtime` and a `model` above it
 *   <!-- list of files -->      a folder, and its files, which are there at the end of the page
 *
 * `<!-- text blocks: tested by PATH -->` anywhere on a page speaks for all blocks of that language on it. Every other
 * block is run by test/e2e/docs.e2e.ts.
 */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// From build/test/ up to the checkout.
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface DocBlock {
  /** `README.md`, or `docs/NAME.md`. */
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly testedBy: string | undefined;
  /** Why it is not run. */
  readonly reason: string | undefined;
  /** What it prints before it is ended. */
  readonly until: string | undefined;
  /** Where it is written. */
  readonly file: string | undefined;
  readonly onTerminal: boolean;
  /** True if it does not come to its end by itself: a part of a program, or of what a terminal shows. */
  readonly isPart: boolean;
  /** True if it lists files. */
  readonly isList: boolean;
}

export function listPages(): string[] {
  const docs = readdirSync(`${ROOT}docs`).filter((name) => name.endsWith(".md"));
  return ["README.md", ...docs.sort().map((name) => `docs/${name}`)];
}

export function readPage(page: string): string {
  return readFileSync(ROOT + page, "utf8");
}

const BLOCK = /^(?<mark><!-- .* -->\n)?^( *)```(?<language>\w*)\n(?<text>[\s\S]*?)^\2```$/gm;
const WHOLE = /^<!-- (?<languages>[\w, ]+) blocks: tested by (?<path>\S+) -->$/gm;

export function readBlocks(page: string): DocBlock[] {
  const source = readPage(page);
  const whole = new Map<string, string>();
  for (const { groups = {} } of source.matchAll(WHOLE)) {
    for (const language of groups["languages"]?.split(", ") ?? []) {
      whole.set(language, groups["path"] ?? "");
    }
  }
  return [...source.matchAll(BLOCK)].map(({ index, groups = {} }) => {
    const { mark = "", language = "", text = "" } = groups;
    const testedBy = /^<!-- tested by (\S+) -->$/m.exec(mark)?.[1];
    const reason = /^<!-- not run: (.+) -->$/m.exec(mark)?.[1];
    const until = /^<!-- (?:runs|on a terminal) until (.+) -->$/m.exec(mark)?.[1];
    const file = /^<!-- file (\S+) -->$/m.exec(mark)?.[1];
    const onTerminal = /^<!-- (?:beginning )?on a terminal( until .+)? -->$/m.test(mark);
    const isPart = /^<!-- (?:part of a program|beginning on a terminal) -->$/m.test(mark);
    const isList = mark === "<!-- list of files -->\n";
    const isMarked = mark !== "";
    return {
      page,
      line: source.slice(0, index + mark.length).split("\n").length,
      language,
      text,
      testedBy: testedBy ?? (isMarked ? undefined : whole.get(language)),
      reason,
      until,
      file,
      onTerminal,
      isPart,
      isList,
    };
  });
}
