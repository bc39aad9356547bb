/**
 * Plain requests as templates: `(list|show) [me] [all] {kind} files [in {dir}]`.
 *
 * Words stand for themselves (a `?` after a letter makes it optional), `(a|b)` is a choice, `[a]` may be
 * missing, and `{name}` or `{name=pattern}` is a slot of `SLOTS`. A template covers the whole text or
 * does not match, so an unknown word makes a request not understood rather than half understood.
 */

import { KIND_PATTERN } from "./file-kinds.ts";

export type Slots<Name extends string> = Readonly<Partial<Record<Name, string>>>;

const QUOTED = "\"[^\"]+\"|'[^']+'|`[^`]+`|“[^”]+”|‘[^’]+’";
const CHARACTER = "[\\p{L}\\p{N}_.@~+-]";
const KNOWN_FILE =
  "readme|licen[cs]e|makefile|dockerfile|changelog|contributing|notice|authors|gemfile|rakefile|procfile";
const FILE = [
  QUOTED,
  `(?:${CHARACTER}*/)*${CHARACTER}*[\\p{L}\\p{N}_@~+-]\\.[a-z]\\w{0,9}`,
  `(?:${CHARACTER}*/)+${CHARACTER}+`,
  "\\.[a-z][\\w.-]+",
  KNOWN_FILE,
].join("|");
const FOLDER_WORD = "(?:directory|folder|dir)";
const HERE = `(?:the|this|my|our)\\s+(?:(?:current|working|root|whole|entire)\\s+)?(?:${FOLDER_WORD}|project|repo|repository|workspace|codebase)|here|everywhere`;
const DIRECTORY = `${HERE}|(?:the\\s+)?(?:${FOLDER_WORD}\\s+)?(?:${QUOTED}|(?!(?:the|a|an|this|my|our)\\b)[\\p{L}\\p{N}_.@~+/-]+)(?:\\s+${FOLDER_WORD})?`;
const NUMBER_WORDS: readonly string[] =
  "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

/** What a slot may hold, as the source of a regular expression. */
const SLOTS: Readonly<Record<string, string>> = {
  /** Something that is surely a file: it has an extension or a slash, is quoted, or is well known. */
  file: FILE,
  dir: DIRECTORY,
  kind: KIND_PATTERN,
  glob: "\\*?\\.[a-z]\\w*",
  /** A file's name or a pattern for one. */
  name: `${QUOTED}|[^\\s"'\`,]+`,
  number: `\\d+|${NUMBER_WORDS.slice(1).join("|")}`,
  entries: `files?|director(?:y|ies)|(?:sub)?folders?|subdirector(?:y|ies)`,
  text: ".+?",
  quoted: QUOTED,
  /** A few words to look for; an article in front means that the words are about the text, not of it. */
  phrase: `${QUOTED}|(?!(?:the|a|an|my|your|all|any|every|some|me|out|files?)\\b)[^\\s"'\`]+(?:\\s+[^\\s"'\`]+){0,3}?`,
  thing: "[\\p{L}\\p{N}_-]+(?:\\s+[\\p{L}\\p{N}_-]+){0,3}?",
};

/** Building blocks of templates. */
export const LIST = "(list|show|display|print|name|enumerate|give me|show me|tell me|list out)";
export const MAYBE_IN_DIR = "[(here|(in|under|inside|within|from|below) {dir})]";

/** One request in three states: which of them a template sees is up to its intent. */
export interface Wording {
  /** Without the closing punctuation alone: courtesies may be the whole request. */
  readonly typed: string;
  /** Without the courtesies in front; the end is untouched, for words to be repeated exactly. */
  readonly kept: string;
  /** Without courtesies at both ends and without the closing punctuation. */
  readonly plain: string;
}

const COURTESIES =
  /^(?:please|kindly|hey|hi|hello|ok|okay|so|now|then|just|first|next|finally|also|and|(?:can|could|would|will) you|i(?: wan|'d like| would like| need) (?:you )?to|i want (?:you )?to|let's|go ahead and|i want to know|i wonder|do you know)\b[,:]?\s+/i;
const THANKS = /[\s,]+(?:please|thanks|thank you|for me|right now|now)$/i;

export function toWording(text: string): Wording {
  const kept = stripAll(text.trim(), COURTESIES);
  return { typed: stripEnd(text.trim()), kept, plain: stripAll(stripAll(stripEnd(kept), THANKS), COURTESIES) };
}

/** Reads a template once; the function it gives matches texts against it. */
export function compileTemplate(template: string): (text: string) => Record<string, string> | undefined {
  const names: string[] = [];
  let at = 0;
  const pattern = new RegExp(`^${choice("")}$`, "isu");

  return (text) => {
    const match = pattern.exec(text);
    if (!match) return undefined;
    const found: Record<string, string> = {};
    for (const [index, name] of names.entries()) {
      const value = match[index + 1];
      if (value !== undefined) found[name] ??= unquote(value.trim());
    }
    return found;
  };

  /** Sequences separated by `|`, up to the closing bracket. */
  function choice(end: string): string {
    const sequences = [sequence(end)];
    while (template[at] === "|") {
      at++;
      sequences.push(sequence(end));
    }
    at++;
    return `(?:${sequences.join("|")})`;
  }

  function sequence(end: string): string {
    let source = "";
    // Before the first word that must be there, the gap belongs to the optional part in front of it.
    let leading = true;
    while (at < template.length && template[at] !== "|" && template[at] !== end) {
      const gap = skipSpaces() ? GAP : "";
      if (at === template.length || template[at] === "|" || template[at] === end) break;
      const optional = template[at] === "[";
      const part = element();
      if (leading) source += optional ? `(?:${part}${GAP})?` : part;
      else source += optional ? `(?:${gap}${part})?` : `${gap}${part}`;
      leading &&= optional;
    }
    return source;
  }

  /** Parts without a space between them match without one: `{from}-{to}`. */
  function skipSpaces(): boolean {
    const start = at;
    while (template[at] === " ") at++;
    return at > start;
  }

  function element(): string {
    const first = template[at];
    if (first === "(" || first === "[") {
      at++;
      return choice(first === "(" ? ")" : "]");
    }
    const word = /\{[^}]*\}|[^\s()[\]|{}]+/y;
    word.lastIndex = at;
    const [text = ""] = word.exec(template) ?? [];
    at += text.length;
    return text.startsWith("{") ? slot(text.slice(1, -1)) : text;
  }

  function slot(text: string): string {
    const [name = "", kind = name] = text.split("=");
    names.push(name);
    return `(${SLOTS[kind] ?? SLOTS["text"]})`;
  }
}

/** Between two parts: white space, or a comma or colon with or without it. */
const GAP = "(?:\\s*[,:;!]\\s*|\\s+)";

export function unquote(text: string): string {
  return new RegExp(`^(?:${QUOTED})$`, "su").test(text) ? text.slice(1, -1) : text;
}

/** The directory a `dir` slot names; `.` when it is missing or means "here". */
export function toDirectory(slot: string | undefined): string {
  if (slot === undefined || new RegExp(`^(?:${HERE})$`, "iu").test(slot)) return ".";
  const bare = slot
    .replace(new RegExp(`^the\\s+`, "i"), "")
    .replace(new RegExp(`^${FOLDER_WORD}\\s+|\\s+${FOLDER_WORD}$`, "gi"), "");
  const path = unquote(bare);
  return path.length > 1 ? path.replace(/\/+$/, "") : path;
}

/** Whether a text is surely a file's path, and no directory's. */
export function isFilePath(text: string): boolean {
  return /[^/.]\.[a-z]\w{0,9}$/i.test(text) || new RegExp(`^(?:${KNOWN_FILE})$`, "i").test(text);
}

export function toCount(slot: string | undefined): number | undefined {
  if (slot === undefined) return undefined;
  const word = NUMBER_WORDS.indexOf(slot.toLowerCase());
  return word >= 0 ? word : Number(slot);
}

/** Cuts a text into sentences and steps: "read a.md. Then count the files in src". */
export function splitSentences(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\s*[;\n]\s*|,?\s+(?:and\s+)?then\s+/i)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

function stripAll(text: string, part: RegExp): string {
  const rest = text.replace(part, "").trim();
  return rest === "" || rest === text ? text : stripAll(rest, part);
}

/** `read a.md.` loses its full stop; `list the files in ..` keeps both of its dots. */
function stripEnd(text: string): string {
  return text.replace(/[?!\s]+$/, "").replace(/(?<=[\p{L}\p{N}_)"'`”’])\.$/u, "");
}
