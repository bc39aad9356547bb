/** What `shell` and `terminal` have in common: one command in two forms, and what they say of its end. */

import { Failure } from "../../base/failure.ts";
import { integer, optionalText, texts } from "../builtin-tool.ts";
import type { Ran } from "../sandbox/run-command.ts";

const MAX_SECONDS = 300;

/** The gate's limit lies above the longest a call may ask for: ending a command takes a moment too. */
export const CALL_LIMIT_MS = (MAX_SECONDS + 15) * 1000;

/** The two forms, of which a call takes one. */
export const COMMAND_FIELDS: {
  readonly command: ReturnType<typeof optionalText>;
  readonly argv: ReturnType<typeof texts>;
} = {
  command: optionalText("A line for sh."),
  argv: texts("The program and its arguments, taken as they are."),
};

export const TIMEOUT_FIELD: ReturnType<typeof integer> = integer(
  "Seconds after which it is stopped, with everything it started.",
  { minimum: 1, maximum: MAX_SECONDS, default: 30 },
);

/** The words to start. A line goes to `/bin/sh`, words go to no shell at all. */
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

/** Two different things to know: that it was stopped, and that it printed more than is shown. */
export function toNote({ timedOut, isCut }: Ran, seconds: number): { readonly note?: string } {
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
