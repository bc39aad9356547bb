/**
 * Reads an answer that is one JSON document, because the client does not stream or the server cannot. If it
 * is larger than the limit, the part that arrived is emitted, as for a stream.
 */

import { closeJson } from "../../base/close-json.ts";
import { toFailure } from "../../base/failure.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { dropAbsurdCost } from "../models/told-cost.ts";
import type { ModelCall, WholeAnswer } from "../provider.ts";
import type { Decoder } from "../wire.ts";
import type { HttpAnswer } from "./http-answer.ts";
import { TextJoiner } from "./text-joiner.ts";

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
    // After any other failure nothing is emitted, so that the request can be retried.
    if (failure.code !== "answer_too_large") throw failure;
    return { events: decodeCut(text.joinCut(), decoder, call), failure };
  }
  const events: ModelEvent[] = [];
  decoder.read(text.join(), events);
  decoder.end(events);
  return { events: dropAbsurdCost(events, call), failure: undefined };
}

/**
 * Decodes the beginning of a document. All of its items stay open: a document may have the fields of a
 * message in any order, so it is not known which item is incomplete.
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
    // The missing rest is expected. The failure of the whole answer says so.
  }
  const end = events.find((event) => event.type === "end");
  const usage = end?.usage ?? decoder.usage;
  if (usage) onUsage?.(usage);
  return events.filter(({ type }) => type !== "item_end" && type !== "end");
}
