/** The flags of `run` that choose its session and the prompt of its model, and their values. */

import { Failure } from "../base/failure.ts";
import type { SessionWish } from "../runtime/sessions/session.ts";
import type { CliCommand, Options } from "./command.ts";

export const SESSION_OPTIONS = {
  continue: {
    type: "boolean",
    short: "c",
    summary: "Continue the session that was last used in this folder",
  },
  session: {
    type: "string",
    value: "SESSION",
    complete: "sessions",
    summary: "Continue this session: `conv_…`, `run_…`, `resp_…` or `last`",
  },
  fork: {
    type: "boolean",
    optional: /^\d+$/,
    value: "TURN",
    summary: "Continue in a copy of it, from its end or after this turn",
  },
} as const satisfies CliCommand["options"];

export const PROMPT_OPTIONS = {
  "system-file": {
    type: "string",
    value: "FILE",
    summary: "Send this text in place of the base prompt",
  },
  bare: {
    type: "boolean",
    summary: "Send no instructions except those of `--system`",
  },
  "no-project-notes": { type: "boolean", summary: "Do not read AGENTS.md" },
  "no-skills": { type: "boolean", summary: "Offer no skills" },
} as const satisfies CliCommand["options"];

/**
 * `new` if no session is named. Undefined without a record, which then has no session to continue.
 */
export function toSessionWish(
  options: Options,
  { isRecorded }: { readonly isRecorded: boolean },
): SessionWish | undefined {
  const { continue: isContinued, session, fork } = options;
  if (isContinued && session !== undefined) {
    throw new Failure("invalid_request", "Give either -c or --session, not both.");
  }
  const isNamed = isContinued || session !== undefined || fork !== undefined;
  if (!isNamed) return isRecorded ? "new" : undefined;
  if (!isRecorded) {
    const flag = isContinued ? "-c" : session === undefined ? "--fork" : "--session";
    const message = `${flag} needs the record of runs, which is switched off here (\`--no-store\`, or the setting \`store\`).`;
    throw new Failure("invalid_request", message, { param: "session" });
  }
  const id = typeof session === "string" ? session : "last";
  if (fork === undefined) return id;
  return { id, fork: fork === true ? true : Number(fork) };
}
