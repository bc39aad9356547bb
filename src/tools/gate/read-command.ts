/**
 * Reads from the words of a command what it would run: every simple command in it, also after `env`,
 * `timeout`, `sh -c` and similar, so that a rule about `rm` finds it anywhere.
 *
 * If any part is uncertain, the whole is not readable, and the rules assume the worst. This reads words,
 * not programs: the sandbox limits what a script does when it runs.
 */

import { readGit } from "../commands/git-command.ts";
import { hasInlineCode, isListedProgram } from "../commands/inline-code.ts";
import { isPlainProgram } from "../commands/plain-programs.ts";
import { staysInRepository } from "../commands/repository.ts";
import { isReserved, readShell } from "../commands/shell-text.ts";
import { isWrapper, unwrap } from "../commands/wrappers.ts";

export interface CommandReading {
  /** The outer commands and the inner ones. */
  readonly commands: readonly (readonly string[])[];
  /** The files that the shell itself would read and write. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly isReadable: boolean;
  /** The commands whose program is in no list: it may start any of its words. */
  readonly unlisted: readonly (readonly string[])[];
  /** True if programs that obey a repository's settings stay in the repository in which they are started. */
  readonly staysInRepository: boolean;
}

type Reading = Omit<CommandReading, "unlisted" | "staysInRepository">;

type GivenCommand = { readonly argv: readonly string[] } | { readonly shell: string };

/** The deepest nesting that people need. */
const MAX_DEPTH = 8;

/** A longer text is a program, and is not read. */
const MAX_CHARS = 100_000;

export function readCommand(command: GivenCommand): CommandReading {
  const reading = readGiven(command);
  const { commands } = reading;
  return {
    ...reading,
    unlisted: commands.filter(([program = ""]) => !isListed(bareName(program))),
    staysInRepository: staysInRepository(commands),
  };
}

function isListed(name: string): boolean {
  return isPlainProgram(name) || isListedProgram(name) || isWrapper(name);
}

/** File systems without case also run `RM`. */
function bareName(program: string): string {
  return (program.split("/").at(-1) ?? "").toLowerCase();
}

function readGiven(command: GivenCommand): Reading {
  if ("shell" in command) return readText(command.shell, 0);
  const chars = command.argv.reduce((sum, word) => sum + word.length + 1, 0);
  return chars > MAX_CHARS ? { ...NONE, isReadable: false } : readWords(command.argv, 0);
}

function readText(text: string, depth: number): Reading {
  if (text.length > MAX_CHARS) return { ...NONE, isReadable: false };
  const { commands, ...shell } = readShell(text);
  return join([{ ...shell, commands: [] }, ...commands.map((words) => readWords(words, depth))]);
}

function readWords(words: readonly string[], depth: number): Reading {
  const [program = ""] = words;
  const name = bareName(program);
  if (!isCertain(program) || name === "" || depth > MAX_DEPTH) {
    return { ...NONE, commands: [words], isReadable: false };
  }
  const others = name === "git" ? [[program, ...readGit(words.slice(1))]] : [];
  const lower = program.endsWith(name) ? [] : [[name, ...words.slice(1)]];
  const inner = unwrap(name, words);
  return join([
    { ...NONE, commands: [words, ...others, ...lower] },
    { ...NONE, isReadable: inner.isReadable && !hasInlineCode(name, words) },
    ...inner.commands.map((one) => readWords(one, depth + 1)),
    ...inner.scripts.map((one) => readText(one, depth + 1)),
  ]);
}

/**
 * True if a word can only be the program of that name: not a pattern or a placeholder, which another
 * program fills in, not a keyword, and not an option or a variable.
 */
function isCertain(program: string): boolean {
  if (program === "[") return true;
  return !/[*?[\]{}=\s]|^[-~]/.test(program) && !isReserved(program);
}

const NONE: Reading = { commands: [], reads: [], writes: [], isReadable: true };

function join(readings: readonly Reading[]): Reading {
  const keys = new Set<string>();
  const commands = readings
    .flatMap((one) => one.commands)
    .filter((words) => {
      const key = JSON.stringify(words);
      return keys.has(key) ? false : Boolean(keys.add(key));
    });
  return {
    commands,
    reads: readings.flatMap(({ reads }) => reads),
    writes: readings.flatMap(({ writes }) => writes),
    isReadable: readings.every(({ isReadable }) => isReadable),
  };
}
