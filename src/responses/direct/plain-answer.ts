/**
 * An answer that came whole and of which there is nothing to say but its messages and calls: the
 * response is made of it at once. The fold of events (`fold/event-writer.ts`) makes the same of it at
 * five times the cost; whatever is not so plain is its. Pure.
 */

import type { EmittedItem, EmittedResponse } from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type { AnsweredBy, EndReason, StopDetail } from "../../protocol/model-events.ts";
import type { RunEnd } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { WholeAnswer } from "../../providers/provider.ts";
import { toEmittedItem } from "../fold/emitted-item.ts";
import { tellIgnored } from "../fold/ignored.ts";
import { fillEnd, toResponseId } from "../fold/response-object.ts";
import type { ResponseSettings } from "../request/response-settings.ts";

export interface PlainAnswer {
  readonly items: readonly Item[];
  readonly reason: EndReason;
  readonly usage: Usage;
  /** The deployment that answered, if the model's name stands for several. */
  readonly by: AnsweredBy | undefined;
  /** The cost that the vendor reports. */
  readonly costUsd: number | undefined;
  /** Details from the vendor about the ending, beyond its reason. */
  readonly stop: StopDetail | undefined;
}

/** Undefined for any other. */
export function findPlainAnswer(
  { events, failure }: WholeAnswer,
  { include }: Pick<ResponseSettings, "include">,
): PlainAnswer | undefined {
  const end = events.at(-1);
  if (failure || include.length > 0 || end?.type !== "end" || end.reason === "pause") {
    return undefined;
  }
  const items: Item[] = [];
  for (const event of events) {
    if (event.type === "item_start" && !isPlain(event.item)) return undefined;
    if (event.type === "item_end") items.push(event.item);
  }
  const { reason, usage, cost_usd: costUsd, by, stop } = end;
  return { items, reason, usage, costUsd, by, stop };
}

/** An id that may change on the way, a thought that is shown or not: those are the fold's. */
function isPlain(item: Item): boolean {
  return (item.type === "message" || item.type === "function_call") && item.id === undefined;
}

interface Known {
  readonly runId: string;
  readonly beganMs: number;
  readonly end: RunEnd;
  /** The fields of the request that were left out. */
  readonly ignored: readonly string[];
}

/** `response` is what is known of it before it was answered; it is filled in here. */
export function fillPlainResponse(
  response: EmittedResponse,
  { items }: Pick<PlainAnswer, "items">,
  { runId, beganMs, end, ignored }: Known,
): void {
  const output = items.map((item, outputIndex): EmittedItem => {
    return toEmittedItem(item, { runId, outputIndex, status: "completed", include: NOTHING });
  });
  response.id = toResponseId(runId);
  response.created_at = Math.floor(beganMs / 1000);
  if (ignored.length > 0) tellIgnored(response, response.metadata, ignored);
  fillEnd(response, end, output);
}

const NOTHING: ReadonlySet<string> = new Set();
