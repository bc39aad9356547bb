/** What a run has come to know while its loop turns. */

import type { Item } from "../protocol/items.ts";
import type { AnsweredBy, Continuation, StopDetail } from "../protocol/model-events.ts";
import type { Notice } from "../protocol/run-events.ts";
import { NO_USAGE, type Usage } from "../protocol/usage.ts";
import type { AbandonedTurns } from "./broken-answer.ts";
import { withReportWish } from "./report.ts";
import type { AgentTask } from "./task.ts";

/** Everything a run has come to know. Only the loop and its turns write it. */
export interface Progress {
  items: Item[];
  /** What it was asked, as it stands in `items`. */
  readonly task: readonly Item[];
  turns: number;
  toolCalls: number;
  usage: Usage;
  /** What the vendor counted of the last turn, and where that turn's answer ends in `items`. */
  counted: { readonly usage: Usage; readonly items: number };
  /** Null as soon as one turn's price is unknown. */
  costUsd: number | null;
  /** The last finished turn's text, or that of the turn being written. */
  text: string;
  /** What an answer has said that the vendor paused, and that the next one goes on with. */
  paused: string | undefined;
  repairs: number;
  notices: Notice[];
  previous: { at: Continuation; covered: number } | undefined;
  /** Who answered last of several deployments. */
  by: AnsweredBy | undefined;
  /** What the vendor said of the last answer's ending beyond its reason. */
  stop: StopDetail | undefined;
  /** The last turn that was preceded by a look at what people said meanwhile. */
  heard: number;
  /** Whether the turn is the last one, which may call nothing. */
  isReporting: boolean;
  /** What processes before this one have asked in vain. */
  abandoned: AbandonedTurns;
  /** Whether the log has its beginning; a run that was cancelled before gets it with its end. */
  hasBegun: boolean;
}

interface Starting {
  readonly task: AgentTask;
  readonly wishes?: { readonly before: readonly Item[] } | undefined;
  /** What its session holds before it. */
  readonly before?: readonly Item[] | undefined;
}

export function createProgress({ task, wishes, before = [] }: Starting): Progress {
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

export const NOTHING_COUNTED: Progress["counted"] = { usage: NO_USAGE, items: 0 };
