/** The rows of the commands for what is stored, in the table of commands: sessions, changes of files, the record. */

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
