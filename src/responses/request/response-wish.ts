/**
 * What a request of the Responses API asks beyond an agent's task, as it is written down with the run.
 * Secrets in tools (headers of MCP servers) are sealed before they get here.
 */

import type { JsonObject } from "../../base/json.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { ModelOptions, Reasoning } from "../../providers/provider.ts";
import type { ResponseSettings } from "./response-settings.ts";

export interface ResponseWish extends ResponseSettings {
  readonly tenant: string;
  /** The key that is charged for it; null where none was asked for. */
  readonly key_id: string | null;
  /** As the client spells them, sealed. */
  readonly tools: readonly Tool[];
  readonly top_p: number | null;
  readonly parallel_tool_calls: boolean | null;
  readonly reasoning: Reasoning;
  readonly options: ModelOptions;
  /** Fields that no parameter has, for the vendor to know; null, or left out by older ones, for none. */
  readonly extras?: JsonObject | null | undefined;
  /** The response whose conversation this one goes on with. */
  readonly previous_response_id: string | null;
  /** The conversation this one goes on with, and how far it had come when it was asked for. */
  readonly conversation: { readonly id: string; readonly position: number } | null;
  readonly background: boolean;
  readonly store: boolean;
  readonly truncation: "auto" | "disabled";
  readonly compact_threshold: number | null;
  /** Asks for the conversation in short, and for no answer. */
  readonly is_compaction: boolean;
  readonly multi_agent: TeamWish | null;
  /** Whether nobody watches the answer being written. */
  readonly whole: boolean;
  /** What this server's own tools a client may use at most. */
  readonly catalogue: readonly string[];
  /** The hosted kinds of tools that it may use, as globs; null, or left out by older ones, for all. */
  readonly kinds?: readonly string[] | null | undefined;
}

/** A team of agents that answers together. */
export interface TeamWish {
  /** How many of them work at once, but for the first. */
  readonly max_concurrent: number;
  /** Which of them a run is; the first where it is left out. */
  readonly name?: string | undefined;
  /** The request's instructions, which hold for all of them. */
  readonly instructions?: string | null | undefined;
  /** The last number of the first's log whose answers of the client a run begins with. */
  readonly heard?: number | undefined;
}

export function encodeWish(wish: ResponseWish): JsonObject {
  return wish as unknown as JsonObject;
}

/** What this package wrote is taken at its word. */
export function readWish(written: JsonObject): ResponseWish {
  return written as unknown as ResponseWish;
}
