/**
 * The desk is what a protocol needs of the code that runs agents: start a run, continue one, look, stop. The command
 * line's desk runs the agents of a folder with the user's own settings. A server's desk runs them for the tenant of a
 * key.
 */

import type { JsonObject } from "../../base/json.ts";
import type { LoggedEvent, RunEnd } from "../../protocol/run-events.ts";

export interface ServedAgent {
  /** The name of the agent's file; empty for the main agent, which has no file. */
  readonly name: string;
  readonly description: string;
  /** The schema of the document that the agent takes besides its prompt, if it takes one. */
  readonly inputSchema?: JsonObject | undefined;
  /** The schema of the document that the agent answers with, if it answers with one. */
  readonly outputSchema: JsonObject | undefined;
}

export interface DeskRun {
  readonly id: string;
  follow(signal?: AbortSignal): AsyncGenerator<readonly LoggedEvent[]>;
  hasEnded(): Promise<boolean>;
  /** Resolves with the ending, whichever it is. Does not reject for a run that failed. */
  result(): Promise<RunEnd>;
  cancel(): Promise<void>;
}

/** Facts of a call that are not its words. */
export interface DeskCall {
  /** The number of our MCP servers that the call has passed. */
  readonly depth: number;
  /** The name of the call, the same when it is sent again; undefined if it has no lasting name. */
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

/** Prompts that a server keeps for its clients. */
export interface DeskPrompts {
  list(): Promise<readonly PromptNote[]>;
  /** Fills in the prompt's text. Rejects with `not_found`, and if a value is missing. */
  fill(name: string, given: Readonly<Record<string, string>>): Promise<string>;
}

export interface Desk {
  readonly agents: readonly ServedAgent[];
  readonly prompts: DeskPrompts;
  /** Rejects with the reason if nothing was started: an unknown agent, no budget left. */
  start(agent: string, prompt: string, call: DeskCall): Promise<DeskRun>;
  /**
   * Continues the conversation of a run that has ended; leaves a message for one that is at work.
   */
  continueRun(id: string, message: string, call: DeskCall): Promise<DeskRun>;
  /** Rejects with `not_found` for runs of other callers. */
  find(id: string): Promise<DeskRun>;
  /** Sorted by age, the newest first. */
  list(limit: number): Promise<readonly RunNote[]>;
  /** The run and all runs below it as Markdown. */
  toMarkdown(id: string): Promise<string>;
  /** The run's log, one event on each line. */
  toLines(id: string): Promise<string>;
  /** Cancels the runs that were started here and are still at work, and closes what it opened. */
  close(): Promise<void>;
}
