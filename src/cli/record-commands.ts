/** The rows of the commands for what is stored, in the table of commands: runs, sessions, changes of files, the record. */

import type { CliCommand } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const RUNS_COMMAND: CliCommand = {
  summary: "List, inspect, steer, approve, stop and resume runs",
  usage: "[list | waiting | cost [ID] | steer ID MESSAGE | SUBCOMMAND ID [CALL]]",
  options: {
    ...STORE_OPTION,
    json: {
      type: "boolean",
      only: ["list", "waiting", "show", "tree", "events", "cost", "replay", "why-denied"],
      summary: "as JSON",
    },
    limit: {
      type: "string",
      short: "n",
      value: "N",
      only: ["list", "cost"],
      summary: "how many runs (20)",
    },
    all: {
      type: "boolean",
      only: ["list"],
      summary: "also runs of subagents and of indexed files",
    },
    always: {
      type: "boolean",
      only: ["approve"],
      summary: "and do not ask about similar calls in this run",
    },
    tree: {
      type: "boolean",
      only: ["approve"],
      summary: "and do not ask about similar calls in its whole tree",
    },
    force: { type: "boolean", only: ["delete"], summary: "cancel it first if it still runs" },
    from: { type: "string", value: "NODE", only: ["replay"], summary: "the run that is changed" },
    with: {
      type: "string",
      value: "CHANGE",
      only: ["replay"],
      summary: "`prompt=TEXT`, its new prompt",
    },
    by: {
      type: "string",
      value: "KEY",
      choices: ["agent", "run", "model", "tool", "user", "session", "key", "tenant"],
      only: ["cost"],
      summary: "add up by (agent)",
    },
    day: {
      type: "string",
      value: "DAY",
      only: ["cost"],
      summary: "with --by key or tenant: `today` or `2030-12-31` (all days)",
    },
    format: {
      type: "string",
      value: "FORMAT",
      choices: ["md", "jsonl"],
      only: ["export"],
      summary: "a Markdown session, or the log as JSON lines (md)",
    },
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      choices: ["text", "json", "jsonl", "sse"],
      only: ["resume", "follow"],
      summary: "the form of standard output",
    },
    sse: { type: "boolean", only: ["follow"], summary: "the same as -o sse" },
    "from-now": {
      type: "boolean",
      only: ["follow"],
      summary: "leave out earlier events",
    },
  },
  subcommands: {
    list: "List the newest runs, one on each line",
    show: "Show one run: settings, turns, tool calls, ending",
    tree: "Show a run and its subagents: state, last action, tokens, cost",
    events: "Show what happened to the subagents of a tree, one event on each line",
    cost: "Show tokens, dollars and time of a tree, of the newest runs, or of a server's keys",
    export: "Write a run with its subagents as a document or as JSON lines",
    replay: "Run a recorded tree again without sending anything, or rerun what a change affects",
    "why-denied": "List the refused tool calls of a tree, with the rule that refused each",
    resume: "Resume a run whose process died",
    follow: "Watch a run of another process; Ctrl-C leaves it running",
    steer: "Leave a message that a run or a subagent reads before its next turn (- for stdin)",
    waiting: "List the tool calls of all runs that wait for a person's answer",
    approve: "Allow a tool call that waits for approval; `runs waiting` lists them",
    deny: "Refuse that tool call, with a reason for the model if you like; the run continues",
    cancel: "Stop a run or one subagent, with all below it; its work is kept",
    delete: "Remove a run and all its records; refused while it runs",
  },
  examples: [
    "offshoot runs list",
    "offshoot runs show run_01k…",
    "offshoot runs tree run_01k…",
    "offshoot runs events run_01k…",
    "offshoot runs cost --by model",
    "offshoot runs cost --by key --day today",
    "offshoot runs export run_01k… > session.md",
    "offshoot runs replay run_01k…",
    "offshoot runs why-denied run_01k…",
    "offshoot runs resume run_01k…",
    "offshoot runs follow last",
    'offshoot runs steer last/parser-1.0 "Leave the tests out"',
    "offshoot runs waiting",
    "offshoot runs approve last/parser-1.0 tool:3.1",
    'offshoot runs deny last/parser-1.0 tool:3.1 "Use the test folder"',
    "offshoot runs cancel last/parser-1.0",
    "offshoot runs delete run_01k… --force",
  ],
  operands: { kind: "runs", notFor: ["list", "waiting"] },
  keys: true,
  load: () => import("./commands/runs.ts"),
};

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
