/** The row of `offshoot undo` in the table of commands. */

import type { CliCommand } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const UNDO_COMMAND: CliCommand = {
  summary: "Restore the files that tools have changed",
  usage: "[RUN | TURN]",
  options: {
    list: {
      type: "boolean",
      summary: "List what can be undone in this folder, and change nothing",
    },
    "dry-run": { type: "boolean", summary: "Show what would be restored, and change nothing" },
    force: {
      type: "boolean",
      summary: "Also restore files that were changed since; skip what cannot be restored",
    },
    json: { type: "boolean", summary: "One JSON document" },
    ...STORE_OPTION,
  },
  examples: [
    "offshoot undo",
    "offshoot undo --dry-run",
    "offshoot undo last/parser-1.0",
    "offshoot undo 2",
    "offshoot undo run_01k…/undo-1",
  ],
  load: () => import("./commands/undo.ts"),
};
