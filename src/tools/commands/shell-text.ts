/**
 * A text for a shell, read without running it: its simple commands, and the files that it redirects to and
 * from. If only running it would tell more (expansions, functions, here-documents), the text is not
 * readable; the recognized commands are returned anyway.
 */

export interface ShellText {
  /** The words of each simple command, without quotes. */
  readonly commands: readonly (readonly string[])[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** True if these are certainly all of the commands. */
  readonly isReadable: boolean;
}

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

export function readShell(given: string): ShellText {
  const text = joinLines(given);
  const scan: Scan = { text: text ?? given, at: 0, isReadable: !given.includes("\0") };
  if (text === undefined) spoil(scan);
  const commands: string[][] = [];
  const files = { reads: [] as string[], writes: [] as string[] };
  let words: Word[] = [];
  let mayEndAt: number | undefined;

  const endCommand = (): void => {
    const command = toCommand(words, scan);
    if (command.length > 0) commands.push(command);
    if (mayEndAt !== undefined && words.length > mayEndAt) spoil(scan);
    words = [];
    mayEndAt = undefined;
  };
  for (let token = nextToken(scan); token; token = nextToken(scan)) {
    if (token.kind === "word") words.push(token);
    else if (token.kind === "redirect") {
      redirect(token.operator, scan, files);
      // In a shell without `&>`, the command ends at `&` and another begins.
      if (token.operator.startsWith("&")) mayEndAt ??= words.length;
    } else {
      // An opening bracket after a word makes a function or a list.
      if (token.operator === "(" && words.some(({ bare }) => !SKIPPED.has(bare))) spoil(scan);
      endCommand();
    }
  }
  endCommand();
  return { commands, ...files, isReadable: scan.isReadable };
}

const PIECE = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^'"\\#\s;&|()<>]+|[\s\S]/y;

/**
 * The text with its continued lines joined, which the shell does first, even inside an operator or a
 * keyword. Undefined if shells may differ on what continues.
 */
function joinLines(text: string): string | undefined {
  if (!text.includes("\\\n")) return text;
  const scan: Scan = { text, at: 0, isReadable: true };
  let joined = "";
  let isBetween = true;
  for (;;) {
    const comment = isBetween ? take(COMMENT, scan) : undefined;
    if (comment?.endsWith("\\")) return undefined;
    const piece = comment ?? take(PIECE, scan);
    if (piece === undefined) return joined;
    if (piece === "\\\n") continue;
    const isDouble = piece.length > 1 && piece.startsWith('"');
    joined += isDouble
      ? piece.replace(/\\([\s\S])/g, (pair) => (pair === "\\\n" ? "" : pair))
      : piece;
    isBetween = /^[\s;&|()<>]$/.test(piece);
  }
}

interface Scan {
  readonly text: string;
  at: number;
  isReadable: boolean;
}

interface Word {
  readonly kind: "word";
  readonly text: string;
  /** The text with every quoted character as NUL: the part that the shell still interprets. */
  readonly bare: string;
}

type Token = Word | { readonly kind: "redirect" | "control"; readonly operator: string };

function spoil(scan: Scan): void {
  scan.isReadable = false;
}

/** True if the shell gives a word a meaning of its own at the beginning of a command. */
export function isReserved(word: string): boolean {
  return SKIPPED.has(word) || OPAQUE.has(word);
}

/** Keywords before a command. */
const SKIPPED: ReadonlySet<string> = new Set(
  "! { } if then elif else fi do done while until".split(" "),
);

/** Keywords that begin a construct whose commands cannot be recognized here. */
const OPAQUE: ReadonlySet<string> = new Set(
  "for case esac select function coproc in [[ foreach repeat".split(" "),
);

function toCommand(words: readonly Word[], scan: Scan): string[] {
  const first = words.findIndex(({ bare }) => !SKIPPED.has(bare));
  const rest = first < 0 ? [] : words.slice(first);
  const start = rest.findIndex(({ bare }) => !isAssignment(bare));
  const assigned = start < 0 ? rest : rest.slice(0, start);
  if (!assigned.every(({ text }) => isHarmlessAssignment(text))) spoil(scan);
  const [program, ...others] = start < 0 ? [] : rest.slice(start);
  if (!program) return [];
  if (OPAQUE.has(program.bare) || isGlob(program.bare)) spoil(scan);
  if (others.some(({ bare }) => isGlob(bare) && !namesFiles(bare, program.text))) spoil(scan);
  // `if x {` is a block in some shells.
  if (others.some(({ bare }) => bare === "{")) spoil(scan);
  return [program, ...others].map(({ text }) => text);
}

/** These run nothing, whatever their options. */
const HARMLESS: ReadonlySet<string> = new Set(
  "ls cat head tail wc stat file du grep diff cmp cp mv rm touch chmod echo".split(" "),
);

/**
 * True if a pattern can only become names of files. `*` alone may become a subcommand, and a pattern at the
 * beginning of a word an option: a file can be named `--to-command=x`.
 */
function namesFiles(bare: string, program: string): boolean {
  return /[./]/.test(bare) && (/^[^-*?[]/.test(bare) || HARMLESS.has(program));
}

function isGlob(bare: string): boolean {
  const opening = bare.indexOf("[");
  return /[*?]/.test(bare) || (opening >= 0 && bare.lastIndexOf("]") > opening + 1);
}

interface Files {
  readonly reads: string[];
  readonly writes: string[];
}

function redirect(operator: string, scan: Scan, { reads, writes }: Files): void {
  const target = nextToken(scan);
  if (target?.kind !== "word" || operator.startsWith("<<") || isGlob(target.bare)) {
    spoil(scan);
    return;
  }
  // `2>&1` and `<&-` name no file.
  if (operator.endsWith("&") && /^(?:\d+-?|-)$/.test(target.text)) return;
  if (target.text === "/dev/null") return;
  if (operator !== "<") writes.push(target.text);
  if (operator.startsWith("<")) reads.push(target.text);
}

const CONTROL = /\n|;;&?|;&|;|&&|&(?!>)|\|\||\|&|\||\(|\)/y;
const REDIRECT = /\d*(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)|&>>|&>/y;
const BLANK = /[ \t]+/y;
const COMMENT = /#[^\n]*/y;
const SUBSTITUTION = /[<>]\(/y;

function nextToken(scan: Scan): Token | undefined {
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
function take(pattern: RegExp, scan: Scan): string | undefined {
  pattern.lastIndex = scan.at;
  const found = pattern.exec(scan.text)?.[0];
  scan.at += found?.length ?? 0;
  return found;
}

const PLAIN = /[^ \t\n;&|<>()'"\\$`]+/y;

function readWord(scan: Scan): Word {
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
function readQuoted(scan: Scan): string | undefined {
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

function readSingle(scan: Scan): string {
  const end = scan.text.indexOf("'", scan.at + 1);
  if (end < 0) return readToEnd(scan);
  const inside = scan.text.slice(scan.at + 1, end);
  scan.at = end + 1;
  return inside;
}

const DOUBLE = /"((?:[^"\\]|\\[\s\S])*)"/y;

function readDouble(scan: Scan): string {
  const found = take(DOUBLE, scan);
  if (found === undefined) return readToEnd(scan);
  const inside = found.slice(1, -1);
  const active = inside.replace(/\\[\s\S]/g, "");
  if (/`|\$[\w{([*@#?$!-]/.test(active)) spoil(scan);
  return inside.replace(/\\([$`"\\\n])/g, (_, sign: string) => (sign === "\n" ? "" : sign));
}

function readEscaped(scan: Scan): string {
  const next = scan.text[scan.at + 1];
  if (next === undefined) return readToEnd(scan);
  scan.at += 2;
  return next === "\n" ? "" : next;
}

/** Reads a quote without its end: the shell would wait for more. */
function readToEnd(scan: Scan): string {
  const rest = scan.text.slice(scan.at + 1);
  scan.at = scan.text.length;
  spoil(scan);
  return rest;
}

function isExpansion(text: string, at: number): boolean {
  return /[\w{([*@#?$!'"-]/.test(text[at] ?? "");
}
