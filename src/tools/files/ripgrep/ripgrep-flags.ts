/**
 * The flags of ripgrep that a model may use: those that filter and those that change how text is compared.
 * All others are refused, because some run programs (`--pre`, `--hostname-bin`), follow links or read files
 * from anywhere (`--file`, `--ignore-file`).
 */

import { Failure } from "../../../base/failure.ts";

export interface FlagTable {
  readonly plain: ReadonlySet<string>;
  readonly valued: ReadonlySet<string>;
  /** The tool's own defaults: accepted, and not passed on. */
  readonly idle: ReadonlySet<string>;
}

const LIST_PLAIN = ["--hidden", "-.", "--no-ignore", "-u"];
const LIST_VALUED = [
  ...["--max-depth", "-d", "-g", "--glob", "--iglob"],
  ...["-t", "--type", "-T", "--type-not", "--max-filesize"],
];

export const LIST_FLAGS: FlagTable = {
  plain: new Set(LIST_PLAIN),
  valued: new Set(LIST_VALUED),
  idle: new Set(),
};

export const SEARCH_FLAGS: FlagTable = {
  plain: new Set([
    ...LIST_PLAIN,
    ...["-i", "--ignore-case", "-s", "--case-sensitive", "-S", "--smart-case"],
    ...["-w", "--word-regexp", "-x", "--line-regexp", "-F", "--fixed-strings"],
    ...["-v", "--invert-match", "-o", "--only-matching", "-U", "--multiline"],
    ...["--multiline-dotall", "-l", "--files-with-matches"],
  ]),
  valued: new Set([
    ...LIST_VALUED,
    ...["-A", "--after-context", "-B", "--before-context", "-C", "--context"],
    ...["-m", "--max-count"],
  ]),
  idle: new Set(["-n", "--line-number", "-H", "--with-filename", "--no-heading", "-r"]),
};

/** The flags in a text, split like a shell does, without any expansion. */
export function parseFlags(given: string, table: FlagTable): string[] {
  const words = toWords(given).flatMap((word) => toSingleFlags(word, table));
  const flags: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const [, flag = "", attached] = /^([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (table.idle.has(word)) continue;
    if (table.plain.has(word)) flags.push(word);
    else if (table.valued.has(flag)) flags.push(flag, toValue(flag, attached ?? words[++at]));
    else throw new Failure("forbidden", `\`${word}\` is not allowed in extra_args.`);
  }
  return flags;
}

/** Separates joined flags: `-in` is `-i -n`, and `-C2` is `-C 2`. */
function toSingleFlags(word: string, { plain, valued, idle }: FlagTable): string[] {
  const [, flag = "", value = ""] = /^(-[A-Za-z])([^=].*)$/s.exec(word) ?? [];
  if (valued.has(flag)) return [flag, value];
  const flags = [flag, ...[...value].map((letter) => `-${letter}`)];
  return flags.every((one) => plain.has(one) || idle.has(one)) ? flags : [word];
}

function toWords(given: string): string[] {
  const words = given.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));
}

function toValue(flag: string, word: string | undefined): string {
  if (word !== undefined) return word;
  throw new Failure("invalid_request", `\`${flag}\` in extra_args needs a value.`);
}
