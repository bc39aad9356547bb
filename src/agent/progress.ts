/** The state of a run while its loop turns. */

import type { Item } from "../protocol/items.ts";
import type { AnsweredBy, Continuation, StopDetail } from "../protocol/model-events.ts";
import type { Notice } from "../protocol/run-events.ts";
import { NO_USAGE, type Usage } from "../protocol/usage.ts";
import type { AbandonedTurns } from "./broken-answer.ts";
import { withReportWish } from "./report.ts";
import type { AgentTask } from "./task.ts";

/** Everything that a run has learned so far. Only the loop and its turns write it. */
export interface RunProgress {
  items: Item[];
  /** The task of the run, as it stands in `items`. */
  readonly task: readonly Item[];
  turns: number;
  toolCalls: number;
  usage: Usage;
  /** The vendor's count for the last turn, and the end of that turn's answer in `items`. */
  counted: { readonly usage: Usage; readonly items: number };
  /** Null as soon as one turn's price is unknown. */
  costUsd: number | null;
  /** The last finished turn's text, or that of the turn being written. */
  text: string;
  /** The beginning of an answer that the vendor paused; the next answer continues it. */
  paused: string | undefined;
  repairs: number;
  notices: Notice[];
  previous: { at: Continuation; covered: number } | undefined;
  /** Which of several deployments answered last. */
  by: AnsweredBy | undefined;
  /** Details from the vendor about the end of the last answer, beyond its reason. */
  stop: StopDetail | undefined;
  /** The last turn before which messages of people were looked for. */
  heard: number;
  /** True in the last turn, which may call nothing. */
  isReporting: boolean;
  /** Attempts of earlier processes that were not finished. */
  abandoned: AbandonedTurns;
  /** True once the log has its beginning; a run that was cancelled before gets it with its end. */
  hasBegun: boolean;
}

interface Starting {
  readonly task: AgentTask;
  readonly wishes?: { readonly before: readonly Item[] } | undefined;
  /** The earlier items of its session. */
  readonly before?: readonly Item[] | undefined;
}

export function createProgress({ task, wishes, before = [] }: Starting): RunProgress {
  const asked = withReportWish(task);
  return {
    items: [...(wishes?.before ?? before), ...asked],
    task: asked,
    turns: 0,
    toolCalls: 0,
    usage: NO_USAGE,
    counted: NOTHING_COUNTED,
    costUsd: 0,
    text: "",
    paused: undefined,
    repairs: 0,
    notices: [],
    previous: undefined,
    by: undefined,
    stop: undefined,
    heard: 0,
    isReporting: false,
    abandoned: new Map(),
    hasBegun: false,
  };
}

export const NOTHING_COUNTED: RunProgress["counted"] = { usage: NO_USAGE, items: 0 };
