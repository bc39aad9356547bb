/** The option of every command that reads or keeps the record. */

import type { Command } from "./command.ts";

export const STORE_OPTION = {
  store: {
    type: "string",
    value: "ADDRESS",
    summary: "Where the record is: a file or `postgres://…`",
  },
} as const satisfies Command["options"];
