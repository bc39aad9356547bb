/**
 * From the words of a command line to an exit code. A command's code is loaded when it is called, so
 * `--help` and `--version` load nothing but the tables.
 */

import { inspect } from "node:util";
import { systemClock } from "../base/clock.ts";
import { FAILURES, Failure, toFailure } from "../base/failure.ts";
import { createLog } from "../base/log.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import { clip, nearest } from "../base/text.ts";
import { VERSION } from "../version.ts";
import { parseArguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { renderCommandHelp, renderHelp } from "./help.ts";
import type { Io } from "./io.ts";
import { attachKeys } from "./open-keys.ts";

/** As people type it in other programs. */
const VERSION_WORDS: ReadonlySet<string> = new Set(["--version", "-v", "-V", "version"]);

/** Returns the exit code; `bin.ts` is the only file that ends the process. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (thrown) {
    return await report(thrown, io);
  }
}

/** Shows what was thrown as one line without secrets, and returns its exit code. */
export async function report(thrown: unknown, io: Io): Promise<number> {
  if (isBrokenPipe(thrown)) return 0;
  const failure = toFailure(thrown);
  const redact = createRedact(findSecrets(io.env));
  // A server's words may be in the message: nothing in them may move the cursor or add a line.
  const line = failure.message.replace(/\p{Cc}+/gu, " ").trim();
  await io.stderr.write(redact(`offshoot: ${line}\n`));
  const log = createLog("cli", {
    setting: io.env["OFFSHOOT_LOG"],
    clock: systemClock,
    redact,
    write: (text) => void io.stderr.write(text),
  });
  log.debug(inspect(failure));
  return FAILURES[failure.code].exit;
}

async function dispatch([first, ...rest]: readonly string[], io: Io): Promise<number> {
  if (first === undefined) return begin(io);
  if (first === "--help" || first === "-h") return print(io, renderHelp(toWidth(io)));
  if (VERSION_WORDS.has(first)) return print(io, `${VERSION}\n`);
  if (first === "help") return showHelp(rest, io);
  const command = findCommand(first);
  const call = parseArguments(first, command, rest);
  if (!call) return print(io, renderCommandHelp(first, command, toWidth(io)));
  if (command.keys) await attachKeys(io);
  const { run } = await command.load();
  // The table goes along for `completions`, which its row loads and so may not import it.
  const withTable = { ...call, commands: COMMANDS };
  return run(withTable, io);
}

/** `offshoot` alone: the chat, after the first hour where no model is set up; on a pipe the help. */
async function begin(io: Io): Promise<number> {
  await attachKeys(io);
  const { isSetUp, lookAround } = await import("./setup/look-around.ts");
  const isReady = await isSetUp(io);
  const terminal = isPerson(io) && !isReady ? io.openTerminal() : undefined;
  if (terminal) {
    const { setUpOnTerminal } = await import("./setup/setup.ts");
    const { how, words, interrupted } = await setUpOnTerminal(io, terminal);
    if (how === "left") return interrupted ? 130 : 0;
    return dispatch(["chat", ...(words === undefined ? [] : ["--", words])], io);
  }
  if (isPerson(io)) return dispatch(["chat"], io);
  await print(io, renderHelp(toWidth(io)));
  if (isReady) return 0;
  const { toPlainLines } = await import("./setup/setup-text.ts");
  return print(io, `\n${toPlainLines(await lookAround(io)).join("\n")}\n`);
}

/** Somebody at a terminal, who wants to begin and not to read. */
function isPerson({ stdin, stdout, env }: Io): boolean {
  return stdin.isTerminal && stdout.isTerminal && env["TERM"] !== "dumb";
}

async function showHelp([name]: readonly string[], io: Io): Promise<number> {
  if (name === undefined || name.startsWith("-")) return print(io, renderHelp(toWidth(io)));
  return print(io, renderCommandHelp(name, findCommand(name), toWidth(io)));
}

/** A file gets its lines whole. */
function toWidth({ stdout }: Io): number | undefined {
  return stdout.isTerminal ? stdout.columns : undefined;
}

async function print(io: Io, text: string): Promise<number> {
  await io.stdout.write(text);
  return 0;
}

function findCommand(name: string): Command {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return command;
  throw new Failure("invalid_request", `${describeUnknown(name)} See \`offshoot --help\`.`);
}

function describeUnknown(name: string): string {
  const shown = clip(name, 60);
  if (name.startsWith("-")) {
    const flag = name.replace(/^--?/, "").replace(/=.*/s, "");
    const owner = Object.keys(COMMANDS).find((key) =>
      Object.entries(COMMANDS[key]?.options ?? {}).some(
        ([long, { short }]) => long === flag || short === flag,
      ),
    );
    const hint = owner ? ` It stands behind its command: \`offshoot ${owner} ${shown}\`.` : "";
    return `Unknown flag \`${shown}\`.${hint}`;
  }
  const guess = nearest(name, [...Object.keys(COMMANDS), "help"]);
  if (guess !== undefined) return `There is no command \`${shown}\`. Did you mean \`${guess}\`?`;
  const isPrompt = /\s/.test(name.trim());
  const hint = isPrompt ? ` A prompt stands behind \`run\`: \`offshoot run "${shown}"\`.` : "";
  return `There is no command \`${shown}\`.${hint}`;
}

/**
 * `offshoot runs list | head -1`: the reader has what it wanted. A failure of ours that such an error has
 * caused is another thing: it may be the pipe of a program that we started.
 */
function isBrokenPipe(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EPIPE";
}
