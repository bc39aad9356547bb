/** What the API tells of one step of a run, as types: a model call with its exact request, a tool call, a summary. */

import type { Json, JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { Clipped } from "../record/views.ts";

export type StepView = TurnStep | CallStep | CompactionStep;

interface Step {
  readonly object: "run.step";
  readonly run_id: string;
  /** Of the event that opened it. */
  readonly seq: number;
  readonly started_at_ms: number;
  /** Null while it is open, and for one that was interrupted. */
  readonly ended_at_ms: number | null;
  /** What was left out because it is large: `?path=` gives it in pieces. */
  readonly clipped: readonly Clipped[];
}

/** A model call. */
export interface TurnStep extends Step {
  readonly kind: "turn";
  readonly turn: number;
  /**
   * What the model was asked, as a request of the Responses API, whichever API its vendor speaks: instructions, the whole
   * conversation, tools and parameters. Put together from the record.
   */
  readonly request: JsonObject;
  /** What the session or chain held before the run: `none`, in `request.input`, or deleted since. */
  readonly before: "none" | "included" | "deleted";
  /** The items that it answered with, those of an interrupted answer too. */
  readonly output: readonly Item[];
  /** Why the answer ended; null where it did not. */
  readonly reason: string | null;
  readonly usage: JsonObject | null;
  readonly cost_usd: number | null;
  /** Who answered, where the model's name stands for several. */
  readonly by: JsonObject | null;
  /** Retries, waits, parameters that were left out. */
  readonly notices: readonly { readonly code: string; readonly message: string }[];
}

/** A tool call. */
export interface CallStep extends Step {
  readonly kind: "call";
  readonly call_id: string;
  readonly name: string;
  /** As the model wrote them: JSON as text. */
  readonly arguments: string;
  /** What a person was asked; null where nobody was. */
  readonly question: JsonObject | null;
  /** One, and another where a guard stopped what was let in. */
  readonly decisions: readonly DecisionView[];
  /** How many programs it started. */
  readonly processes: number;
  readonly changes: readonly ChangeView[];
  /** The item that went back to the model; null while it runs. */
  readonly output: Item | null;
  readonly failed: boolean;
}

export interface DecisionView {
  readonly verdict: "allow" | "deny";
  /** `rule`, `person`, `effect`, … */
  readonly by: string;
  /** What that means, for a person. */
  readonly about: string;
  readonly rule: string | null;
  /** Where that rule stands. */
  readonly source: string | null;
  readonly reason: string;
  readonly sandbox: string;
  readonly hook: string | null;
  readonly at_ms: number;
}

/** A summary that took the place of a part of the conversation. */
export interface CompactionStep extends Step {
  readonly kind: "compaction";
  readonly turn: number;
  readonly summary: string;
  readonly items: number;
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly usage: JsonObject;
  readonly cost_usd: number | null;
}

/** What a call did to a file. */
export interface ChangeView {
  readonly run_id: string;
  /** The event that opened the call. */
  readonly seq: number;
  readonly call_id: string;
  readonly tool: string;
  /** From the folder of the run. */
  readonly path: string;
  readonly what: "created" | "changed" | "deleted" | "unfinished";
  readonly before: Json;
  /** Null where the call was interrupted. */
  readonly after: Json;
  /** A unified diff, where the record has both contents; else null, and `note` says why. */
  readonly diff: string | null;
  readonly note: string | null;
  readonly at_ms: number;
}
