/**
 * Reads the next token of a command line: words with their quotes, control operators, redirections. What a shell
 * would expand is marked, never guessed.
 */

/** Variables that change how output is shown, and not what is run. */
const HARMLESS_VARIABLE =
  /^(?:LANG|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CI|DEBUG|NODE_ENV)=/;

export function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(word);
}

/** True if a variable for a command cannot change what it runs, unlike `PATH` and `LD_PRELOAD`. */
export function isHarmlessAssignment(word: string): boolean {
  return HARMLESS_VARIABLE.test(word);
}

export interface ShellScan {
  readonly text: string;
  at: number;
  isReadable: boolean;
}

export interface Word {
  readonly kind: "word";
  readonly text: string;
  /** The text with every quoted character as NUL: the part that the shell still interprets. */
  readonly bare: string;
}

type Token = Word | { readonly kind: "redirect" | "control"; readonly operator: string };

export function spoil(scan: ShellScan): void {
  scan.isReadable = false;
}

const CONTROL = /\n|;;&?|;&|;|&&|&(?!>)|\|\||\|&|\||\(|\)/y;
const REDIRECT = /\d*(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)|&>>|&>/y;
const BLANK = /[ \t]+/y;
export const COMMENT = /#[^\n]*/y;
const SUBSTITUTION = /[<>]\(/y;

export function nextToken(scan: ShellScan): Token | undefined {
  take(BLANK, scan);
  take(COMMENT, scan);
  if (scan.at >= scan.text.length) return undefined;
  if (take(SUBSTITUTION, scan) !== undefined) {
    spoil(scan);
    return { kind: "control", operator: "<(" };
  }
  const operator = take(REDIRECT, scan);
  if (operator !== undefined) {
    return { kind: "redirect", operator: operator.replace(/^\d+/, "") };
  }
  const control = take(CONTROL, scan);
  return control === undefined ? readWord(scan) : { kind: "control", operator: control };
}

/** Returns the match of the pattern at this position, and moves after it. */
export function take(pattern: RegExp, scan: ShellScan): string | undefined {
  pattern.lastIndex = scan.at;
  const found = pattern.exec(scan.text)?.[0];
  scan.at += found?.length ?? 0;
  return found;
}

const PLAIN = /[^ \t\n;&|<>()'"\\$`]+/y;

function readWord(scan: ShellScan): Word {
  let text = "";
  let bare = "";
  for (;;) {
    const plain = take(PLAIN, scan);
    if (plain !== undefined) {
      text += plain;
      bare += plain;
      continue;
    }
    const quoted = readQuoted(scan);
    if (quoted === undefined) break;
    text += quoted;
    // Empty quotes are a word too.
    bare += "\0".repeat(Math.max(1, quoted.length));
  }
  const hasBraces = bare.includes("{") && bare.includes("}") && /,|\.\./.test(bare);
  // `~` becomes a home folder at the beginning of a word and of a value.
  const hasHome = bare.startsWith("~") || (isAssignment(bare) && /[=:]~/.test(bare));
  if (hasBraces || hasHome) spoil(scan);
  return { kind: "word", text, bare };
}

/** The next piece that is quoted, escaped or expanded; undefined at the end of the word. */
function readQuoted(scan: ShellScan): string | undefined {
  const { text } = scan;
  const sign = text[scan.at];
  if (sign === "'") return readSingle(scan);
  if (sign === '"') return readDouble(scan);
  if (sign === "\\") return readEscaped(scan);
  if (sign !== "$" && sign !== "`") return undefined;
  scan.at++;
  if (sign === "`" || isExpansion(text, scan.at)) spoil(scan);
  return sign;
}

function readSingle(scan: ShellScan): string {
  const end = scan.text.indexOf("'", scan.at + 1);
  if (end < 0) return readToEnd(scan);
  const inside = scan.text.slice(scan.at + 1, end);
  scan.at = end + 1;
  return inside;
}

const DOUBLE = /"((?:[^"\\]|\\[\s\S])*)"/y;

function readDouble(scan: ShellScan): string {
  const found = take(DOUBLE, scan);
  if (found === undefined) return readToEnd(scan);
  const inside = found.slice(1, -1);
  const active = inside.replace(/\\[\s\S]/g, "");
  if (/`|\$[\w{([*@#?$!-]/.test(active)) spoil(scan);
  return inside.replace(/\\([$`"\\\n])/g, (_, sign: string) => (sign === "\n" ? "" : sign));
}

function readEscaped(scan: ShellScan): string {
  const next = scan.text[scan.at + 1];
  if (next === undefined) return readToEnd(scan);
  scan.at += 2;
  return next === "\n" ? "" : next;
}

/** Reads a quote without its end: the shell would wait for more. */
function readToEnd(scan: ShellScan): string {
  const rest = scan.text.slice(scan.at + 1);
  scan.at = scan.text.length;
  spoil(scan);
  return rest;
}

function isExpansion(text: string, at: number): boolean {
  return /[\w{([*@#?$!'"-]/.test(text[at] ?? "");
}
