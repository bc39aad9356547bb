/**
 * Turns the words of a command line into an exit code. A command's code is loaded when it is called, so `--help` and
 * `--version` load only the tables.
 */

import { inspect } from "node:util";
import { systemClock } from "../base/clock.ts";
import { FAILURES, Failure, toFailure } from "../base/failure.ts";
import { createLog } from "../base/log.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import { clip, nearest } from "../base/text.ts";
import { VERSION } from "../version.ts";
import { parseArguments } from "./arguments.ts";
import type { CliCommand } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { renderCommandHelp, renderHelp } from "./help.ts";
import type { Io } from "./io.ts";
import { attachKeys } from "./open-keys.ts";

/** Forms that people know from other programs. */
const VERSION_WORDS: ReadonlySet<string> = new Set(["--version", "-v", "-V", "version"]);

/** Resolves with the exit code; `bin.ts` is the only file that ends the process. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (thrown) {
    return await report(thrown, io);
  }
}

/** Prints a failure as one line without secrets, and resolves with its exit code. */
export async function report(thrown: unknown, io: Io): Promise<number> {
  if (isBrokenPipe(thrown)) return 0;
  const failure = toFailure(thrown);
  const redact = createRedact(findSecrets(io.env));
  // The message may contain a server's words: they must not move the cursor or add a line.
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
  // `completions` gets the table here, because the table loads that command and so it cannot import the table.
  const withTable = { ...call, commands: COMMANDS };
  return run(withTable, io);
}

/** `offshoot` alone: the chat, after the setup if no model is set up; on a pipe the help. */
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

/** True if a person at a terminal wants to begin, and not to read. */
function isPerson({ stdin, stdout, env }: Io): boolean {
  return stdin.isTerminal && stdout.isTerminal && env["TERM"] !== "dumb";
}

async function showHelp([name]: readonly string[], io: Io): Promise<number> {
  if (name === undefined || name.startsWith("-")) return print(io, renderHelp(toWidth(io)));
  return print(io, renderCommandHelp(name, findCommand(name), toWidth(io)));
}

/** Lines for a file are not broken. */
function toWidth({ stdout }: Io): number | undefined {
  return stdout.isTerminal ? stdout.columns : undefined;
}

async function print(io: Io, text: string): Promise<number> {
  await io.stdout.write(text);
  return 0;
}

function findCommand(name: string): CliCommand {
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
    const hint = owner ? ` It goes after its command: \`offshoot ${owner} ${shown}\`.` : "";
    return `Unknown flag \`${shown}\`.${hint}`;
  }
  const guess = nearest(name, [...Object.keys(COMMANDS), "help"]);
  if (guess !== undefined) return `Unknown command \`${shown}\`. Did you mean \`${guess}\`?`;
  const isPrompt = /\s/.test(name.trim());
  const hint = isPrompt ? ` A prompt goes after \`run\`: \`offshoot run "${shown}"\`.` : "";
  return `Unknown command \`${shown}\`.${hint}`;
}

/**
 * `offshoot runs list | head -1`: the reader has what it wanted. A failure of ours that such an error has caused is
 * different: it may be the pipe of a program that we started.
 */
function isBrokenPipe(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EPIPE";
}
