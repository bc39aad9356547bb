/** `offshoot sessions` as data. */

import type { Command } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const SESSIONS_COMMAND: Command = {
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
      summary: "those used in this folder alone; `.` for this one",
    },
    day: {
      type: "string",
      value: "DAY",
      only: ["list"],
      summary: "those used on this day alone: `today` or `2030-12-31`",
    },
    search: {
      type: "string",
      value: "TEXT",
      only: ["list"],
      summary: "those whose title, prompts or answers contain this",
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
    list: "The sessions last used, one a line",
    show: "One session: its folder, its runs and its turns",
    rename: "Give it another title",
    export: "All that was said, as a document or as JSON lines",
    delete: "Remove it with its runs; refused while one of them is at work",
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
