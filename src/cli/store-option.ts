/** The flags of commands that read, write or work on the record. */

import { ENGINES } from "../engine/engines.ts";
import type { CliCommand } from "./command.ts";

/** For every command that reads or writes the record. */
export const STORE_OPTION = {
  store: {
    type: "string",
    value: "ADDRESS",
    summary: "Where the record is: a file or `postgres://…`",
  },
} as const satisfies CliCommand["options"];

/** For commands that execute runs. */
export const ENGINE_OPTION = {
  engine: {
    type: "string",
    value: "NAME",
    choices: ENGINES,
    summary: "Engine for the runs of a Postgres record (own)",
  },
} as const satisfies CliCommand["options"];
