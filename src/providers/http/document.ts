/**
 * An answer that is one JSON document, because nobody watches it being written or because its server does not
 * stream. One that is larger than the limit is told as far as it came, as a stream is.
 */

import { closeJson } from "../../base/close-json.ts";
import { toFailure } from "../../base/failure.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { ModelCall, WholeAnswer } from "../provider.ts";
import { dropAbsurdCost } from "../told-cost.ts";
import type { Decoder } from "../wire.ts";
import { TextJoiner } from "./text-joiner.ts";
import type { HttpAnswer } from "./transport.ts";

export function isDocument({ headers }: HttpAnswer): boolean {
  return headers["content-type"]?.startsWith("application/json") === true;
}

export async function readDocument(
  answer: HttpAnswer,
  decoder: Decoder,
  call: Pick<ModelCall, "notice" | "onUsage">,
): Promise<WholeAnswer> {
  const text = new TextJoiner();
  try {
    await answer.readAll((chunk) => text.push(chunk));
  } catch (thrown) {
    const failure = toFailure(thrown);
    // Of any other failure nothing is given on, so that the document can be asked for again.
    if (failure.code !== "answer_too_large") throw failure;
    return { events: decodeCut(text.joinCut(), decoder, call), failure };
  }
  const events: ModelEvent[] = [];
  decoder.read(text.join(), events);
  decoder.end(events);
  return { events: dropAbsurdCost(events, call), failure: undefined };
}

/**
 * What the beginning of a document says. All of its items stay open: which of them was cut is not known,
 * because a document may tell the fields of a message in any order.
 */
export function decodeCut(
  text: string,
  decoder: Decoder,
  { onUsage }: Pick<ModelCall, "onUsage">,
): readonly ModelEvent[] {
  const events: ModelEvent[] = [];
  try {
    decoder.read(closeJson(text) ?? "", events);
    decoder.end(events);
  } catch {
    // What it lacks to be an answer was cut off: the failure of the whole says so.
  }
  const end = events.find((event) => event.type === "end");
  const usage = end?.usage ?? decoder.usage;
  if (usage) onUsage?.(usage);
  return events.filter(({ type }) => type !== "item_end" && type !== "end");
}
