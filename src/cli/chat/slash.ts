/** The slash commands of a chat, as data: help and completion are made from these rows. */

import { nearest } from "../../base/text.ts";

export interface SlashCommand {
  readonly usage: string;
  readonly summary: string;
  /** True if it may be given while a run is at work. */
  readonly isAnytime: boolean;
}

export const SLASH_COMMANDS = {
  model: { usage: "[VENDOR/MODEL]", summary: "Show or change the model", isAnytime: false },
  think: { usage: "[on | off]", summary: "Ask the model to reason, and show it", isAnytime: false },
  tools: {
    usage: "[LIST | none | usual]",
    summary: "Show or change the tools it may use",
    isAnytime: false,
  },
  cost: { usage: "", summary: "What this session has used, by model", isAnytime: true },
  tree: { usage: "", summary: "The last run and its subagents", isAnytime: true },
  agents: { usage: "", summary: "The agents that it may delegate to", isAnytime: true },
  queue: { usage: "TEXT", summary: "Say this after the run (Tab does the same)", isAnytime: true },
  fork: {
    usage: "[TURN]",
    summary: "Continue in a copy of the session, from a turn",
    isAnytime: false,
  },
  rewind: {
    usage: "[TURN [force | talk]]",
    summary: "Go back to a turn, with the files; the old session stays",
    isAnytime: false,
  },
  resume: { usage: "[ID]", summary: "Continue another session of this folder", isAnytime: false },
  new: { usage: "", summary: "Begin a new session", isAnytime: false },
  compact: { usage: "", summary: "Continue with a summary of the session", isAnytime: false },
  export: { usage: "[FILE]", summary: "Write the session as Markdown", isAnytime: false },
  help: { usage: "", summary: "These commands, and the keys", isAnytime: true },
  quit: { usage: "", summary: "Leave (Ctrl-D does the same)", isAnytime: true },
} as const satisfies Readonly<Record<string, SlashCommand>>;

export type SlashName = keyof typeof SLASH_COMMANDS;

export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Enter", "send; while a run is at work: steer it at its next step"],
  ["Tab", "while a run is at work: queue the words for after it; else complete"],
  ["Esc", "stop the run, and get back words that it did not read yet"],
  ["Ctrl-C", "stop the run; twice: leave"],
  ["Alt-Enter, Ctrl-J, \\ Enter", "a line break"],
  ["↑ ↓", "lines, then the history; Ctrl-R searches it"],
  ["Ctrl-G", "write in $EDITOR, with all pastes written out"],
  ["Ctrl-O", "unfold a paste"],
  [
    "Ctrl-K, Ctrl-U, Ctrl-W, Ctrl-Y, Alt-Y",
    "kill to the end, the start, the word; put back, another one",
  ],
  ["Ctrl-_, Alt-_", "undo, redo"],
  ["@", "a file of the folder; a picture or PDF is sent as such"],
  ["!command", "run a command of yours; its output goes with your next words"],
];

export interface SlashCall {
  readonly name: SlashName;
  readonly rest: string;
}

/** Names that other programs have for these commands. */
const ELSEWHERE: Readonly<Record<string, SlashName>> = {
  undo: "rewind",
  revert: "rewind",
  clear: "new",
  continue: "resume",
  branch: "fork",
  usage: "cost",
};

/** Undefined if the words are not a command; a text if the command is unknown. */
export function readSlash(text: string): SlashCall | string | undefined {
  const [, name, rest = ""] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (name === undefined) return undefined;
  if (name === "exit") return { name: "quit", rest: "" };
  if (Object.hasOwn(SLASH_COMMANDS, name)) return { name: name as SlashName, rest: rest.trim() };
  const near = ELSEWHERE[name] ?? nearest(name, Object.keys(SLASH_COMMANDS));
  const hint = near === undefined ? "/help lists the commands." : `Did you mean /${near}?`;
  return `Unknown command /${name}. ${hint}`;
}
