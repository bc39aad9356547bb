/**
 * What a protocol face needs of whoever runs agents: start one, go on, look, stop. The command line's desk runs agents
 * of a folder with the user's own settings; a server's desk runs them for the tenant of a key.
 */

import type { JsonObject } from "../../base/json.ts";
import type { LoggedEvent, RunEnd } from "../../protocol/run-events.ts";

export interface ServedAgent {
  /** The name of the agent's file; empty for the main agent, which has none. */
  readonly name: string;
  readonly description: string;
  /** The document that it takes beside its prompt, where it takes one. */
  readonly inputSchema?: JsonObject | undefined;
  /** The document that it answers with, where it answers with one. */
  readonly outputSchema: JsonObject | undefined;
}

export interface DeskRun {
  readonly id: string;
  follow(signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]>;
  hasEnded(): Promise<boolean>;
  /** The ending, whichever it is; never rejects for a run that failed. */
  result(): Promise<RunEnd>;
  cancel(): Promise<void>;
}

/** What a call says beside its words. */
export interface DeskCall {
  /** How many MCP servers of ours stand above the caller. */
  readonly depth: number;
  /** The name of the call, the same when it is sent again; undefined where it has none that lasts. */
  readonly name: string | undefined;
}

export interface RunNote {
  readonly id: string;
  readonly title: string;
  readonly status: string;
}

export interface PromptNote {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}

/** Prompts that somebody keeps for others to use. */
export interface DeskPrompts {
  list(): Promise<readonly PromptNote[]>;
  /** The text, filled in. Rejects with `not_found`, and for what is missing. */
  fill(name: string, given: Readonly<Record<string, string>>): Promise<string>;
}

export interface Desk {
  readonly agents: readonly ServedAgent[];
  readonly prompts: DeskPrompts;
  /** Rejects with the reason where nothing was started: an unknown agent, no money left. */
  start(agent: string, prompt: string, call: DeskCall): Promise<DeskRun>;
  /** Goes on with the conversation of a run that has ended; leaves a message for one that is at work. */
  goOn(id: string, message: string, call: DeskCall): Promise<DeskRun>;
  /** Rejects with `not_found` for runs that are not this caller's. */
  find(id: string): Promise<DeskRun>;
  /** The newest first. */
  list(limit: number): Promise<readonly RunNote[]>;
  /** The run and all below it as Markdown. */
  toMarkdown(id: string): Promise<string>;
  /** Its log, an event for each line. */
  toLines(id: string): Promise<string>;
  /** Cancels what was started here and is still at work, and closes what it opened. */
  close(): Promise<void>;
}
