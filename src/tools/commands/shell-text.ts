/**
 * A text for a shell, read without running it: its simple commands, and the files that it redirects to and
 * from. If only running it would tell more (expansions, functions, here-documents), the text is not
 * readable; the recognized commands are returned anyway.
 */

import {
  COMMENT,
  isAssignment,
  isHarmlessAssignment,
  nextToken,
  type ShellScan,
  spoil,
  take,
  type Word,
} from "./shell-tokens.ts";

export interface ShellText {
  /** The words of each simple command, without quotes. */
  readonly commands: readonly (readonly string[])[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** True if these are certainly all of the commands. */
  readonly isReadable: boolean;
}

export function readShell(given: string): ShellText {
  const text = joinLines(given);
  const scan: ShellScan = { text: text ?? given, at: 0, isReadable: !given.includes("\0") };
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
  const scan: ShellScan = { text, at: 0, isReadable: true };
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

function toCommand(words: readonly Word[], scan: ShellScan): string[] {
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

function redirect(operator: string, scan: ShellScan, { reads, writes }: Files): void {
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
