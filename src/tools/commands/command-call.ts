/** The common parts of `shell` and `terminal`: the two forms of a command, and the note about how it ended. */

import { Failure } from "../../base/failure.ts";
import { integer, optionalText, texts } from "../builtin-tool.ts";
import type { RanCommand } from "../sandbox/run-command.ts";

const MAX_SECONDS = 300;

/**
 * The gate's limit is above the longest time that a call may ask for, because ending a command takes a
 * moment too.
 */
export const CALL_LIMIT_MS = (MAX_SECONDS + 15) * 1000;

/** The two forms. A call must use one of them. */
export const COMMAND_FIELDS: {
  readonly command: ReturnType<typeof optionalText>;
  readonly argv: ReturnType<typeof texts>;
} = {
  command: optionalText("A line for sh."),
  argv: texts("The program and its arguments, taken as they are."),
};

export const TIMEOUT_FIELD: ReturnType<typeof integer> = integer(
  "Seconds after which the command is stopped, with everything it started.",
  { minimum: 1, maximum: MAX_SECONDS, default: 30 },
);

/** The words to start. A line goes to `/bin/sh`; words go to no shell. */
export function toWords(
  command: string | undefined,
  argv: readonly string[] | undefined,
): readonly [string, ...string[]] {
  if ((command === undefined) === (argv === undefined)) {
    throw new Failure("invalid_request", "Give either `command` or `argv`, and not both.");
  }
  if (command !== undefined) return ["/bin/sh", "-c", requireText("command", command)];
  const [program, ...words] = argv ?? [];
  words.forEach(refuseNul);
  return [requireText("argv", program ?? ""), ...words];
}

/** Notes that the command was stopped, or that it printed more than is shown. */
export function toNote(
  { timedOut, isCut }: RanCommand,
  seconds: number,
): { readonly note?: string } {
  const notes = [
    ...(timedOut ? [`Stopped after ${seconds} s, with everything it had started`] : []),
    ...(isCut ? ["Output was truncated"] : []),
  ];
  return notes.length > 0 ? { note: notes.join(". ") } : {};
}

function requireText(name: string, text: string): string {
  refuseNul(text);
  if (text.trim() !== "") return text;
  throw new Failure("invalid_request", `\`${name}\` must name a command.`);
}

function refuseNul(text: string): void {
  if (text.includes("\0")) throw new Failure("invalid_request", "A command has no NUL character.");
}
