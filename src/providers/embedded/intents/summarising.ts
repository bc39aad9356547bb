/** The intent that says what a file is about, by its own headings and first sentences. Nothing is rephrased. */

import { isJsonObject, tryParseJson } from "../../../base/json.ts";
import { clip, plural } from "../../../base/text.ts";
import type { NumberedLine } from "../tool-results.ts";
import { join, lastNumber, readPath, refusal } from "./file-steps.ts";
import { defineIntent, type Intent } from "./intent.ts";

const MAX_SECTIONS = 20;
const MAX_SENTENCE_CHARS = 200;

const summariseFile = defineIntent<"file" | "project" | "ask">({
  name: "summarise-file",
  summary: "summarise a file by its headings and first sentences",
  tools: ["read"],
  phrasings: [
    "summarise README.md",
    "what does this project do?",
    "give me a summary of docs/setup.md",
    "what is CONTRIBUTING.md about?",
    "summarize this project",
    "tl;dr README.md",
  ],
  templates: [
    "({ask=summarise}|outline|tl;?dr) [the] [file] {file}",
    "what is [the] [file] {file} about",
    "({ask=summarise}|describe|explain|outline) {project}",
    "what (does|is) {project} (do|about|for)",
    "(what is {project}|tell me about {project})",
  ],
  *plan({ file = "README.md" }, conversation) {
    const result = yield* readPath(file, {}, conversation);
    if (!result.ok) return refusal(result.tool, result.problem);
    const { path, lines } = result;
    const outline = toOutline(lines);
    const count = plural(lastNumber(lines), "line");
    if (outline.length === 0) {
      const text = `\`${path}\` (${count}) has no headings and no sentences to go by.`;
      return { text, data: { path, summary: "" } };
    }
    const rest = outline.length - MAX_SECTIONS;
    const shown = outline.slice(0, MAX_SECTIONS).join("\n");
    const more = rest > 0 ? `… and ${plural(rest, "more section")}.` : undefined;
    const text = join([
      `\`${path}\` (${count}), by its headings and first sentences:`,
      shown,
      more,
    ]);
    return { text, data: { path, file: path, summary: shown, headings: outline } };
  },
});

/** A line for each section. For a file without headings, its first sentence and its definitions. */
function toOutline(lines: readonly NumberedLine[]): readonly string[] {
  const texts = lines.map((line) => line.text);
  const document = tryParseJson(texts.join("\n"));
  if (isJsonObject(document)) return outlineObject(document);
  const sections = toSections(texts);
  if (sections.some(({ heading }) => heading !== "")) {
    return sections.flatMap(({ heading, body }) => {
      const sentence = firstSentence(body);
      if (heading === "" && sentence === "") return [];
      if (heading === "") return [`- ${sentence}`];
      return [sentence === "" ? `- ${heading}` : `- ${heading}: ${sentence}`];
    });
  }
  const sentence = firstSentence(texts);
  const defined = texts.flatMap((text) => DEFINITION.exec(text)?.[1] ?? []);
  const names = defined.map((name) => `- defines \`${name}\``);
  return [...(sentence === "" ? [] : [`- ${sentence}`]), ...names];
}

function outlineObject(document: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(document).map(([key, value]) => {
    if (typeof value === "object" && value !== null) {
      return `- ${key}: ${clip(Object.keys(value).join(", "), MAX_SENTENCE_CHARS)}`;
    }
    return `- ${key}: ${clip(String(value), MAX_SENTENCE_CHARS)}`;
  });
}

const DEFINITION =
  /^(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:pub\s+)?(?:function|class|interface|type|const|def|fn|func|struct|enum|trait)\s+\*?\s*([A-Za-z_]\w*)/;

interface Section {
  /** Empty for the text before the first heading. */
  readonly heading: string;
  readonly body: string[];
}

function toSections(texts: readonly string[]): readonly Section[] {
  const sections: Section[] = [{ heading: "", body: [] }];
  let isCode = false;
  for (const text of texts) {
    if (/^\s*(```|~~~)/.test(text)) {
      isCode = !isCode;
      continue;
    }
    if (isCode) continue;
    const [, heading] = /^#{1,4}\s+(.+?)\s*#*$/.exec(text) ?? [];
    if (heading === undefined) sections.at(-1)?.body.push(text);
    else sections.push({ heading, body: [] });
  }
  return sections;
}

/** Marks of comments and quotes around prose. */
const MARKS = /^\s*(?:\/\*\*?|\*\/|\*|\/\/+|#+!?|--|>|"""|''')?\s?/;
/** Tables, pictures, badges, markup and lists, which are not sentences. */
const NO_PROSE =
  /^\s*(?:\||!\[|\[!\[|<|[-*+]\s|\d+\.\s|import\b|export\b|from\b|package\b|[{}()[\]])/;

function firstSentence(body: readonly string[]): string {
  const paragraph: string[] = [];
  for (const line of body) {
    const text = NO_PROSE.test(line)
      ? ""
      : line
          .replace(MARKS, "")
          .replace(/\s*\*\/\s*$/, "")
          .trim();
    if (text === "" && paragraph.length > 0) break;
    if (text !== "") paragraph.push(text);
  }
  const whole = paragraph.join(" ");
  const [sentence = whole] = /^.*?[.!?](?=\s|$)/.exec(whole) ?? [];
  return /\p{L}/u.test(sentence) ? clip(sentence, MAX_SENTENCE_CHARS) : "";
}

export const SUMMARISING: readonly Intent[] = [summariseFile];
