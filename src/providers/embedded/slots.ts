/**
 * The slots of templates: the form of a file, a directory, a kind or a number in a request, and how each is
 * converted to a value.
 */

import { KIND_PATTERN } from "./file-kinds.ts";

const QUOTED = "\"[^\"]+\"|'[^']+'|`[^`]+`|“[^”]+”|‘[^’]+’";
/**
 * Defined by the characters that a path cannot have: with sets of all letters the first request took 77 ms,
 * not 26.
 */
const CHARACTER = "[^\\s\"'`,;:?!()<>|/]";
const KNOWN_FILE =
  "readme|licen[cs]e|makefile|dockerfile|changelog|contributing|notice|authors|gemfile|rakefile|procfile";
const FILE = [
  QUOTED,
  `(?:${CHARACTER}*/)*${CHARACTER}*[^\\s"'\`,;:?!()<>|/.]\\.[a-z]\\w{0,9}`,
  `(?:${CHARACTER}*/)+${CHARACTER}+`,
  "\\.[a-z][\\w.-]+",
  KNOWN_FILE,
].join("|");
const FOLDER_WORD = "(?:directory|folder|dir)";
const HERE = `(?:the|this|my|our)\\s+(?:(?:current|working|root|whole|entire)\\s+)?(?:${FOLDER_WORD}|project|repo|repository|workspace|codebase)|here|everywhere`;
const FOLDER = `(?:${QUOTED}|(?!(?:the|a|an|this|my|our)\\b)[^\\s"'\`,;:?!()<>|]+)`;
const DIRECTORY = [
  HERE,
  `the\\s+${FOLDER_WORD}\\s+${FOLDER}`,
  `the\\s+${FOLDER}\\s+${FOLDER_WORD}`,
  `(?:${FOLDER_WORD}\\s+)?${FOLDER}(?:\\s+${FOLDER_WORD})?`,
].join("|");
const NUMBER_WORDS: readonly string[] =
  "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

const ANSWERS =
  "(?:them|these|those|everything|it\\s+all|(?:all\\s+)?(?:of\\s+)?(?:the|their)\\s+(?:results?|numbers?|counts?|answers?|findings?|sums?))";
const WORD = "[^\\s\"'`,;:?!.()=]+";

/** The possible contents of a slot, as the source of a regular expression. */
export const SLOTS: Readonly<Record<string, string>> = {
  /** A word that is certainly a file: it has an extension or a slash, is quoted, or is well known. */
  file: FILE,
  dir: DIRECTORY,
  kind: KIND_PATTERN,
  glob: "\\*\\.[a-z]\\w*",
  /** A file's name or a pattern for one. */
  name: `${QUOTED}|[^\\s"'\`,]+`,
  number: `\\d+|${NUMBER_WORDS.slice(1).join("|")}`,
  entries: `files?|director(?:y|ies)|(?:sub)?folders?|subdirector(?:y|ies)`,
  text: ".+?",
  quoted: QUOTED,
  /** A few words to look for. After an article, the words are about the text and not part of it. */
  phrase: `(?!(?:the|a|an|my|your|all|any|every|some|me|out|files?)\\b)[^\\s"'\`]+(?:\\s+[^\\s"'\`]+){0,3}?`,
  /** A text of several lines between fences. */
  block: "```[^`\\n]*\\n.*?\\n?```",
  /** A file or a folder. */
  path: `${QUOTED}|[^\\s"'\`,;:?!()<>|]+`,
  pattern: `${QUOTED}|[^\\s"'\`,]*[*?{][^\\s"'\`]*`,
  url: "[\"'`]?https?://[^\\s\"'<>`]+[\"'`]?",
  tool: "[\"'`]?[a-z][\\w.-]*[\"'`]?",
  json: "\\{.*\\}",
  none: "empty",
  each: "each",
  leave: "(?:good)?bye|quit|exit|see you",
  todo: "todos?|fixmes?",
  /** Git commands that only read. */
  git: "status|log|diff|show|branch|blame|remote|shortlog",
  git_status: "status",
  git_changed: "(?:has |have |is )?changed",
  git_changes: "changes",
  git_branch: "branch",
  git_last: "(?:last|latest|most recent|newest)\\s+(?:git\\s+)?commit",
  git_history: "(?:git )?(?:log|history)",
  git_commits: "commits",
  git_diff: "diff",
  test_command:
    "npm (?:run )?test|yarn test|pnpm test|cargo test|go test(?: \\./\\.\\.\\.)?|make test|pytest",
  project: "(?:this|the|my|our) (?:project|repo|repository|codebase|code base|code)",
  summarise:
    "(?:summari[sz]e|sum up|(?:(?:give me|write|make|tell me) )?(?:a|the) (?:short )?summary of)",
  subagents: "sub-?agents?",
  delegate: "[\"'`]?(?:parallel_|call_)?subagent[\"'`]?",
  /** Words after a request to several subagents: their answers are numbers, to be added up. */
  sum: `(?:(?:and|then|finally)\\s+)*(?:(?:add|sum|total)(?:\\s+up|\\s+together)?\\s+${ANSWERS}(?:\\s+(?:all|up|together))*|(?:add|sum)\\s+up|(?:tell|give|show|compute|calculate|report)\\s+(?:me\\s+)?the\\s+(?:total|sum))`,
  /** The same, if their answers are only to be listed. */
  gather: `(?:(?:and|then|finally)\\s+)*(?:(?:list|show|tell|give|report|print|collect|gather)\\s+(?:me\\s+)?(?:${ANSWERS}|what\\s+they\\s+(?:say|said|find|found)))`,
  owner: "my|our|your|the",
  my: "my",
  me: "i",
  thing: `${WORD}(?:\\s+${WORD}){0,3}?`,
};

export function unquote(text: string): string {
  return new RegExp(`^(?:${QUOTED})$`, "su").test(text) ? text.slice(1, -1) : text;
}

/** The lines between the fences of a `block` slot. */
export function withoutFence(block: string): string {
  return block.replace(/^```[^`\n]*\n/, "").replace(/\n?```$/, "");
}

/** The directory that a `dir` slot names; `.` if it is missing or means "here". */
export function toDirectory(slot: string | undefined): string {
  if (slot === undefined || new RegExp(`^(?:${HERE})$`, "iu").test(slot)) return ".";
  const bare = slot
    .replace(/^the\s+/i, "")
    .replace(new RegExp(`^${FOLDER_WORD}\\s+|\\s+${FOLDER_WORD}$`, "gi"), "");
  const path = unquote(bare);
  return path.length > 1 ? path.replace(/\/+$/, "") : path;
}

/** True if a text is certainly the path of a file and not of a directory. */
export function isFilePath(text: string): boolean {
  return /[^/.]\.[a-z]\w{0,9}$/i.test(text) || new RegExp(`^(?:${KNOWN_FILE})$`, "i").test(text);
}

export function toCount(slot: string | undefined): number | undefined {
  if (slot === undefined) return undefined;
  const word = NUMBER_WORDS.indexOf(slot.toLowerCase());
  return word >= 0 ? word : Number(slot);
}
