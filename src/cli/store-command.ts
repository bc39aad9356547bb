/** The row of `offshoot store` in the table of commands. */

import type { Command } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const STORE_COMMAND: Command = {
  summary: "Check, back up or shrink the record of runs, also while a server uses it",
  usage: "check | backup FILE | vacuum | migrate",
  options: {
    json: { type: "boolean", summary: "JSON instead of text" },
    ...STORE_OPTION,
  },
  subcommands: {
    check: "Read the whole file and report what is damaged; exit code 1 if anything is",
    backup: "Write a copy as of this moment to a new file",
    vacuum: "Give the room of deleted runs back to the disk; writers wait meanwhile",
    migrate: "Bring the tables up to this version, before servers are updated",
  },
  examples: [
    "offshoot store check",
    "offshoot store backup runs-$(date +%F).db",
    "offshoot store vacuum",
  ],
  load: () => import("./commands/store.ts"),
};
