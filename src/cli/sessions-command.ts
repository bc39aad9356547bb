/** The row of `offshoot sessions` in the table of commands. */

import type { CliCommand } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const SESSIONS_COMMAND: CliCommand = {
  summary: "List, search, show, rename, export and delete sessions",
  usage: "[list | rename SESSION TITLE | SUBCOMMAND SESSION]",
  options: {
    ...STORE_OPTION,
    json: { type: "boolean", only: ["list", "show"], summary: "as JSON" },
    limit: {
      type: "string",
      short: "n",
      value: "N",
      only: ["list"],
      summary: "how many sessions (20)",
    },
    folder: {
      type: "string",
      value: "DIR",
      only: ["list"],
      summary: "only those used in this folder; `.` for this one",
    },
    day: {
      type: "string",
      value: "DAY",
      only: ["list"],
      summary: "only those used on this day: `today` or `2030-12-31`",
    },
    search: {
      type: "string",
      value: "TEXT",
      only: ["list"],
      summary: "only those whose title, prompts or answers contain this",
    },
    format: {
      type: "string",
      value: "FORMAT",
      choices: ["md", "jsonl"],
      only: ["export"],
      summary: "a Markdown document, or the items as JSON lines (md)",
    },
  },
  subcommands: {
    list: "List sessions, the last used first",
    show: "Show one session: its folder, its runs and its turns",
    rename: "Give a session another title",
    export: "Write all that was said as a document or as JSON lines",
    delete: "Delete a session with its runs; refused while one of them is at work",
  },
  examples: [
    "offshoot sessions list --folder .",
    'offshoot sessions list --search "parser" --day today',
    "offshoot sessions show last",
    'offshoot sessions rename last "The parser"',
    "offshoot sessions export last > session.md",
    "offshoot sessions delete conv_01k…",
  ],
  operands: { kind: "sessions", notFor: ["list"] },
  load: () => import("./commands/sessions.ts"),
};
