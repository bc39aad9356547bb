/** The flags of `run` that say which session it belongs to and what its model is told, and what they ask for. */

import { Failure } from "../base/failure.ts";
import type { SessionWish } from "../runtime/sessions/session.ts";
import type { Command, Options } from "./command.ts";

export const SESSION_OPTIONS = {
  continue: {
    type: "boolean",
    short: "c",
    summary: "Go on with the session that was last used in this folder",
  },
  session: {
    type: "string",
    value: "SESSION",
    complete: "sessions",
    summary: "Go on with this one: `conv_…`, `run_…`, `resp_…` or `last`",
  },
  fork: {
    type: "boolean",
    optional: /^\d+$/,
    value: "TURN",
    summary: "Go on in a copy of it, at its end or after this turn",
  },
} as const satisfies Command["options"];

export const PROMPT_OPTIONS = {
  "system-file": {
    type: "string",
    value: "FILE",
    summary: "Tell the model this in place of the base prompt",
  },
  bare: {
    type: "boolean",
    summary: "Tell the model nothing but what `--system` says",
  },
  "no-project-notes": { type: "boolean", summary: "Do not read AGENTS.md" },
  "no-skills": { type: "boolean", summary: "Offer no skills" },
} as const satisfies Command["options"];

/** `new` where none is named. Undefined where no record is kept, which then has none to go on with. */
export function toSessionWish(
  options: Options,
  { isRecorded }: { readonly isRecorded: boolean },
): SessionWish | undefined {
  const { continue: goesOn, session, fork } = options;
  if (goesOn && session !== undefined) {
    throw new Failure("invalid_request", "Give either -c or --session, not both.");
  }
  const isNamed = goesOn || session !== undefined || fork !== undefined;
  if (!isNamed) return isRecorded ? "new" : undefined;
  if (!isRecorded) {
    const flag = goesOn ? "-c" : session === undefined ? "--fork" : "--session";
    const message = `${flag} needs the record of runs, which is switched off here (\`--no-store\`, or the setting \`store\`).`;
    throw new Failure("invalid_request", message, { param: "session" });
  }
  const id = typeof session === "string" ? session : "last";
  if (fork === undefined) return id;
  return { id, fork: fork === true ? true : Number(fork) };
}
