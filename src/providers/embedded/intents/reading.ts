/** Intents that show a file or a part of it. They need `read`; `bash_find` helps with mistyped names. */

import { plural } from "../../../base/text.ts";
import type { EmbeddedConversation } from "../conversation.ts";
import { toCount } from "../slots.ts";
import type { NumberedLine } from "../tool-results.ts";
import { join, lastNumber, type PlanStep, readPath, refusal, writeFenced } from "./file-steps.ts";
import { defineIntent, type Intent, type IntentAnswer } from "./intent.ts";

const tools = ["read"];
const SHOW = "(read|show|print|display|open|cat|give|type|output|get|see|view)";
const SHOW_ME = `(${SHOW} [me]|what are|tell me)`;
const A_FILE = "[the] [file] {file}";

const readFile = defineIntent<"file" | "other">({
  name: "read-file",
  summary: "read a file",
  tools,
  phrasings: [
    "read package.json",
    "show me the contents of src/index.ts",
    "cat README.md",
    "what is in tsconfig.json?",
    "Please open the file `docs/setup guide.md`.",
    "what does .gitignore contain?",
    "read a.txt and b.txt",
  ],
  templates: [
    `${SHOW} [me] [the] [(contents?|text)] [of] ${A_FILE} [out] [aloud]`,
    `${SHOW} [me] [the] [(contents?|text)] [of] ${A_FILE} and ${A_FILE.replace("{file}", "{other=file}")}`,
    `(what is|what's|what are) [(the contents of|in|inside|the content of)] ${A_FILE}`,
    `(what does|what do) ${A_FILE} (contain|say|hold|look like)`,
    `(tell me|show me) what ${A_FILE} (contains|says|holds)`,
    `(tell me|show me) what (is|'s|stands) (in|inside) ${A_FILE}`,
    "[the] (contents?|text) of [the] [file] {file}",
  ],
  *plan({ file = "", other }, conversation) {
    const first = yield* showFile(file, conversation);
    if (other === undefined) return first;
    const second = yield* showFile(other, conversation);
    const both = [first, second];
    const text = join(both.map((one) => one.text));
    const material = both.flatMap((one) => one.material ?? []);
    return { text, data: { text }, material };
  },
});

const firstLines = defineIntent<"number" | "file">({
  name: "first-lines",
  summary: "show the first lines of a file",
  tools,
  phrasings: [
    "show the first 10 lines of README.md",
    "first three lines of src/index.ts",
    "what are the first 5 lines in package.json?",
    "head -n 20 CHANGELOG.md",
    "read the top 2 lines of notes.txt",
    "what is the first line of LICENSE?",
  ],
  templates: [
    `[${SHOW_ME}] [the] (first|top|opening) [{number}] lines? (of|in|from) ${A_FILE}`,
    `(what is|what's) the (first|top|opening) line (of|in) ${A_FILE}`,
    "head [(-n {number}|-n{number}|-{number})] {file}",
    `[${SHOW_ME}] {number} lines (from|at) the (top|start|beginning) of ${A_FILE}`,
    `${SHOW} [me] [the] (beginning|start|top|head) of ${A_FILE}`,
  ],
  *plan({ number, file = "" }, conversation) {
    const limit = toCount(number) ?? defaultLines(conversation);
    const result = yield* readPath(file, { offset: 0, limit }, conversation);
    if (!result.ok) return refusal(result.tool, result.problem);
    return excerpt(result.path, `The first ${lines(result.lines.length)}`, result.lines);
  },
});

const lastLines = defineIntent<"number" | "file">({
  name: "last-lines",
  summary: "show the last lines of a file",
  tools,
  phrasings: [
    "show the last 10 lines of build.log",
    "last two lines of src/index.ts",
    "tail -n 5 CHANGELOG.md",
    "what is the last line of notes.txt?",
    "give me the final 3 lines in data.csv",
    "show me the end of server.log",
  ],
  templates: [
    `[${SHOW_ME}] [the] (last|final|bottom|closing) [{number}] lines? (of|in|from) ${A_FILE}`,
    `(what is|what's) the (last|final|bottom) line (of|in) ${A_FILE}`,
    "tail [(-n {number}|-n{number}|-{number})] {file}",
    `${SHOW} [me] [the] (end|bottom|tail) of ${A_FILE}`,
  ],
  *plan({ number, file = "" }, conversation) {
    const count = toCount(number) ?? defaultLines(conversation);
    const result = yield* readPath(file, {}, conversation);
    if (!result.ok) return refusal(result.tool, result.problem);
    const end = count === 0 ? [] : result.lines.slice(-count);
    return excerpt(result.path, `The last ${lines(end.length)}`, end);
  },
});

const lineRange = defineIntent<"from" | "to" | "file">({
  name: "line-range",
  summary: "show some lines of a file",
  tools,
  phrasings: [
    "show lines 10 to 20 of src/index.ts",
    "read lines 3-7 of package.json",
    "line 42 of src/loop.ts",
    "what is on line 7 of notes.md?",
    "print README.md from line 5 to line 9",
    "lines 1 through 4 in data.csv please",
  ],
  templates: [
    `[${SHOW_ME}] [the] lines? {from=number} [(to|through|until|till|and|-|–)] [line] {to=number} (of|in|from) ${A_FILE}`,
    `[${SHOW_ME}] [the] lines? {from=number}(-|–){to=number} (of|in|from) ${A_FILE}`,
    `[${SHOW_ME}] [the] line [number] {from=number} (of|in|from) ${A_FILE}`,
    `(what is|what's|what does it say) (on|at|in) line {from=number} (of|in) ${A_FILE}`,
    `${SHOW} [me] ${A_FILE} from line {from=number} (to|through|until|up to) [line] {to=number}`,
    `${SHOW} [me] ${A_FILE} lines? {from=number} (to|through|until|-) {to=number}`,
  ],
  *plan({ from, to, file = "" }, conversation) {
    const a = toCount(from) ?? 1;
    const b = toCount(to) ?? toCount(from) ?? 1;
    const start = Math.max(1, Math.min(a, b));
    const end = Math.max(1, a, b);
    const window = { offset: start - 1, limit: end - start + 1 };
    const result = yield* readPath(file, window, conversation);
    if (!result.ok) return refusal(result.tool, result.problem);
    const title = start === end ? `Line ${start}` : `Lines ${start} to ${end}`;
    return excerpt(result.path, title, result.lines);
  },
});

const aboutInFile = defineIntent<"file" | "text">({
  name: "about-in-file",
  summary: "say what a file says about something",
  tools,
  phrasings: [
    "what does README.md say about tests?",
    "what is said about 'error codes' in docs/api.md?",
    "tell me what CONTRIBUTING.md says about branches",
    "does package.json mention undici?",
    "what can I learn about caching from notes.md?",
    "show me what design.md has on retries",
  ],
  templates: [
    `what (does|do) ${A_FILE} (say|tell|have|write|state|mention) [(us|me)] (about|on|regarding|concerning) {text}`,
    `what (is|does it say|stands|is there) [(said|written|stated)] (about|on|regarding) {text} in ${A_FILE}`,
    `[(tell me|show me|find [out])] what ${A_FILE} (says|tells|has|states|writes) (about|on|regarding) {text}`,
    `(does|do) ${A_FILE} (mention|contain|have|say anything about|say something about|talk about) [the] [word] {text}`,
    `what can i (learn|find|read) about {text} (in|from) ${A_FILE}`,
    `(is|are) {text} mentioned in ${A_FILE}`,
  ],
  *plan({ file = "", text = "" }, conversation) {
    const result = yield* readPath(file, {}, conversation);
    if (!result.ok) return refusal(result.tool, result.problem);
    const passages = findPassages(result.lines, text);
    if (passages.length === 0) {
      return { text: `\`${result.path}\` says nothing about "${text}".`, data: { found: false } };
    }
    const shown = passages.slice(0, MAX_PASSAGES).map(writePassage);
    const more = passages.length - shown.length;
    const rest = more > 0 ? `… and ${plural(more, "more passage")}.` : undefined;
    const title = `\`${result.path}\` has ${plural(passages.length, "passage")} about "${text}":`;
    return { text: join([title, ...shown, rest]), data: { found: true, passages: shown } };
  },
});

const MAX_PASSAGES = 12;
const MAX_PASSAGE_LINES = 12;
const DEFAULT_LINES = 10;

function* showFile(file: string, conversation: EmbeddedConversation): PlanStep<IntentAnswer> {
  const result = yield* readPath(file, {}, conversation);
  if (!result.ok) return refusal(result.tool, result.problem);
  return excerpt(result.path, lines(lastNumber(result.lines)), result.lines);
}

function excerpt(path: string, title: string, shown: readonly NumberedLine[]): IntentAnswer {
  const text = shown.map((line) => line.text).join("\n");
  const data = { path, file: path, text, content: text, lines: shown.map((line) => line.text) };
  if (shown.length === 0)
    return { text: `\`${path}\` has no such lines: it is empty or ends before.`, data };
  return { text: `${title} of \`${path}\`:\n\n${writeFenced(shown)}`, data, material: [text] };
}

function lines(count: number): string {
  return plural(count, "line");
}

/**
 * "The first line" without a number is one line; "the first lines" and "head" are ten, like the program
 * `head`.
 */
function defaultLines({ asked }: EmbeddedConversation): number {
  return /\b(first|last|top|final|bottom|opening|closing)\s+line\b/i.test(asked.join(" "))
    ? 1
    : DEFAULT_LINES;
}

/**
 * Paragraphs with the phrase, or otherwise with all of its words. A heading also selects the paragraph
 * under it.
 */
function findPassages(
  all: readonly NumberedLine[],
  phrase: string,
): readonly (readonly NumberedLine[])[] {
  const paragraphs = toParagraphs(all);
  const exact = select(paragraphs, [phrase.toLowerCase()]);
  return exact.length > 0 ? exact : select(paragraphs, phrase.toLowerCase().split(/\s+/));
}

function select(
  paragraphs: readonly (readonly NumberedLine[])[],
  words: readonly string[],
): readonly (readonly NumberedLine[])[] {
  const chosen = new Map<number, readonly NumberedLine[]>();
  for (const [index, paragraph] of paragraphs.entries()) {
    const text = paragraph.map((line) => line.text).join(" ");
    if (!words.every((word) => text.toLowerCase().includes(word))) continue;
    chosen.set(index, aroundHits(paragraph, words));
    const below = paragraphs[index + 1];
    const isHeading = paragraph.length === 1 && /^#+\s/.test(text);
    if (isHeading && below) chosen.set(index + 1, below.slice(0, MAX_PASSAGE_LINES));
  }
  return [...chosen.values()];
}

/** The lines near a hit. Code has paragraphs of hundreds of lines, so a long one is not shown whole. */
function aroundHits(
  paragraph: readonly NumberedLine[],
  words: readonly string[],
): readonly NumberedLine[] {
  if (paragraph.length <= MAX_PASSAGE_LINES) return paragraph;
  const hits = paragraph.flatMap((line, at) =>
    words.some((word) => line.text.toLowerCase().includes(word)) ? [at] : [],
  );
  const near = paragraph.filter((_, at) => hits.some((hit) => Math.abs(hit - at) <= 1));
  return near.slice(0, MAX_PASSAGE_LINES);
}

function toParagraphs(all: readonly NumberedLine[]): NumberedLine[][] {
  const paragraphs: NumberedLine[][] = [[]];
  for (const line of all) {
    if (line.text.trim() === "") paragraphs.push([]);
    else paragraphs.at(-1)?.push(line);
  }
  return paragraphs.filter((paragraph) => paragraph.length > 0);
}

function writePassage(passage: readonly NumberedLine[]): string {
  const first = passage[0]?.number ?? 0;
  const last = lastNumber(passage);
  const where = first === last ? `Line ${first}` : `Lines ${first}-${last}`;
  return `${where}:\n${passage.map(({ text }) => `> ${text}`).join("\n")}`;
}

export const READING: readonly Intent[] = [aboutInFile, firstLines, lastLines, lineRange, readFile];
