/**
 * What a protocol face needs of whoever runs agents: start one, go on, look, stop. The command line's desk runs agents
 * of a folder with the user's own settings; a server's desk runs them for the tenant of a key.
 */

import type { JsonObject } from "../../base/json.ts";
import type { LoggedEvent, RunEnd } from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";

export interface ServedAgent {
  /** The name of the agent's file; empty for the main agent, which has none. */
  readonly name: string;
  readonly description: string;
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

export type RunNote = Pick<RunRecord, "id" | "title" | "created_at_ms" | "status">;

export interface Desk {
  readonly agents: readonly ServedAgent[];
  /** Rejects with the reason where nothing was started: an unknown agent, no money left. */
  start(agent: string, prompt: string): Promise<DeskRun>;
  /** Goes on with the conversation of a run that has ended; leaves a message for one that is at work. */
  goOn(id: string, message: string): Promise<DeskRun>;
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
