/** The row of `offshoot store` in the table of commands. */

import type { CliCommand } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const STORE_COMMAND: CliCommand = {
  summary: "Check, back up, shrink or move the record of runs",
  usage: "check | backup FILE | vacuum | migrate | copy --to ADDRESS",
  options: {
    json: { type: "boolean", summary: "JSON instead of text" },
    ...STORE_OPTION,
    to: {
      type: "string",
      value: "ADDRESS",
      only: ["copy"],
      summary: "the empty database; an address with a password: `OFFSHOOT_STORE_TO`",
    },
  },
  subcommands: {
    check: "Read the whole file and report what is damaged; exit code 1 if anything is",
    backup: "Write a copy of the present state to a new file",
    vacuum: "Return the space of deleted runs to the disk; writers wait meanwhile",
    migrate: "Bring the tables up to this version, before servers are updated",
    copy: "Copy a SQLite record to an empty Postgres and compare both; exit code 1 if they differ",
  },
  examples: [
    "offshoot store check",
    "offshoot store backup runs-$(date +%F).db",
    "offshoot store vacuum",
    "offshoot store copy --to postgres://offshoot@db.example/offshoot",
  ],
  load: () => import("./commands/store.ts"),
};
