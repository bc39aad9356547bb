/** One step of a run as the API shows it, as types: a model call with its exact request, a tool call, a summary. */

import type { Json, JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type { Clipped } from "../record/views.ts";

export type StepView = TurnStep | CallStep | CompactionStep;

interface Step {
  readonly object: "run.step";
  readonly run_id: string;
  /** The number of the event that opened it. */
  readonly seq: number;
  readonly started_at_ms: number;
  /** Null while it is open, and for one that was interrupted. */
  readonly ended_at_ms: number | null;
  /** The texts that were left out because they are large: `?path=` gives them in pieces. */
  readonly clipped: readonly Clipped[];
}

/** A model call. */
export interface TurnStep extends Step {
  readonly kind: "turn";
  readonly turn: number;
  /**
   * The model call as a request of the Responses API, whichever API its vendor speaks: instructions, the
   * whole conversation, tools and parameters. Put together from the record.
   */
  readonly request: JsonObject;
  /** The content of the session or chain before the run: `none`, in `request.input`, or deleted since. */
  readonly before: "none" | "included" | "deleted";
  /** The items of its answer, also those of an interrupted answer. */
  readonly output: readonly Item[];
  /** Why the answer ended; null if it did not. */
  readonly reason: string | null;
  readonly usage: JsonObject | null;
  readonly cost_usd: number | null;
  /** Which deployment answered, if the model's name stands for several. */
  readonly by: JsonObject | null;
  /** Retries, waits, parameters that were left out. */
  readonly notices: readonly { readonly code: string; readonly message: string }[];
}

/** A tool call. */
export interface CallStep extends Step {
  readonly kind: "call";
  readonly call_id: string;
  readonly name: string;
  /** The arguments as the model wrote them: JSON as text. */
  readonly arguments: string;
  /** The question to a person; null if no person was asked. */
  readonly question: JsonObject | null;
  /** One decision, and another if a guard stopped a call that was allowed. */
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
  /** The meaning of `by`, for a person. */
  readonly about: string;
  readonly rule: string | null;
  /** The file or flag that the rule is from. */
  readonly source: string | null;
  readonly reason: string;
  readonly sandbox: string;
  readonly hook: string | null;
  readonly at_ms: number;
}

/** A summary that replaced a part of the conversation. */
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

/** The change of a file by a call. */
export interface ChangeView {
  readonly run_id: string;
  /** The event that opened the call. */
  readonly seq: number;
  readonly call_id: string;
  readonly tool: string;
  /** Relative to the folder of the run. */
  readonly path: string;
  readonly what: "created" | "changed" | "deleted" | "unfinished";
  readonly before: Json;
  /** Null if the call was interrupted. */
  readonly after: Json;
  /** A unified diff, if the record has both contents; otherwise null, and `note` says why. */
  readonly diff: string | null;
  readonly note: string | null;
  readonly at_ms: number;
}
