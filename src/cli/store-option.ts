/** The options of commands that read, keep or work on the record. */

import { ENGINES } from "../engine/engines.ts";
import type { Command } from "./command.ts";

/** Of every command that reads or keeps it. */
export const STORE_OPTION = {
  store: {
    type: "string",
    value: "ADDRESS",
    summary: "Where the record is: a file or `postgres://…`",
  },
} as const satisfies Command["options"];

/** Of commands that run something. */
export const ENGINE_OPTION = {
  engine: {
    type: "string",
    value: "NAME",
    choices: ENGINES,
    summary: "What runs the runs of a Postgres record (own)",
  },
} as const satisfies Command["options"];
