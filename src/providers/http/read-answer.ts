/**
 * Reads the answer of a model's server as it comes: a stream, one document, or something that is neither, such as
 * a web page, which is named in the failure.
 */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { dropAbsurdCost } from "../models/told-cost.ts";
import type { ModelCall, ModelRequest, WholeAnswer } from "../provider.ts";
import type { Decoder, Quirks, Wire } from "../wire.ts";
import { isDocument, readDocument } from "./document.ts";
import type { HttpAnswer } from "./http-answer.ts";

export type EventBatch = readonly ModelEvent[];

interface Asked {
  /** The vendor's name, for messages. */
  readonly vendor: string;
  readonly wire: Wire;
  readonly quirks: Quirks;
}

interface Call {
  readonly request: ModelRequest;
  readonly call: ModelCall;
}

/** One batch for each read of the network. Ends when the decoder says that the answer is complete. */
export async function* readBatches(
  { vendor, wire, quirks }: Asked,
  { request, call }: Call,
  answer: HttpAnswer,
): AsyncGenerator<EventBatch, void> {
  const decoder = wire.decoder(request, quirks);
  if (isDocument(answer)) return yield* tellWhole(await readDocument(answer, decoder, call));
  if (isPage(answer)) throw await toPageFailure(vendor, answer);

  let batch: ModelEvent[] = [];
  let isWhole = false;
  let beginning: Uint8Array | undefined;
  let isAnswer = false;
  const reader = wire.createReader((data) => decoder.read(data, batch));
  try {
    for await (const chunk of answer.chunks) {
      if (!isAnswer) beginning ??= chunk;
      reader.push(chunk);
      if (batch.length === 0) continue;
      isAnswer = true;
      // A stream may stay open for long, and a chunk keeps up to 64 KiB of memory.
      beginning = undefined;
      const full = batch;
      batch = [];
      yield dropAbsurdCost(full, call);
    }
    reader.end();
    endDecoder(decoder, batch, () =>
      isAnswer ? undefined : toStrangeFailure(vendor, answer, beginning),
    );
    isWhole = true;
  } catch (thrown) {
    // Events before the failure count, however the reads were split.
    if (batch.length > 0) yield batch;
    throw thrown;
  } finally {
    // Reached as well when the reader stops early.
    if (!isWhole && decoder.usage) call.onUsage?.(decoder.usage);
  }
  if (batch.length > 0) yield dropAbsurdCost(batch, call);
}

async function* tellWhole({ events, failure }: WholeAnswer): AsyncGenerator<EventBatch, void> {
  if (events.length > 0) yield events;
  if (failure) throw failure;
}

function isPage({ headers }: HttpAnswer): boolean {
  return headers["content-type"]?.startsWith("text/html") === true;
}

async function toPageFailure(vendor: string, answer: HttpAnswer): Promise<Failure> {
  await answer.chunks.return();
  return new Failure(
    "provider_broke_protocol",
    `${vendor} answered with a web page instead of a stream. Check the URL: it must be an API's base.`,
  );
}

/** `explain`: a failure that says more than that of the decoder, if there is one. */
function endDecoder(decoder: Decoder, out: ModelEvent[], explain: () => Failure | undefined): void {
  try {
    decoder.end(out);
  } catch (thrown) {
    throw explain() ?? thrown;
  }
}

/** The types that the wires read as streams. */
const STREAM_TYPE = /event-?stream|ndjson|json-?lines|jsonl/;

/**
 * For an answer of which nothing could be read: its type and its beginning say more than that a stream broke.
 * Undefined if the server says that it is a stream.
 */
function toStrangeFailure(
  vendor: string,
  { headers }: HttpAnswer,
  beginning: Uint8Array | undefined,
): Failure | undefined {
  const type = headers["content-type"];
  if (type !== undefined && STREAM_TYPE.test(type)) return undefined;
  const named = type === undefined ? "without a content-type" : `with \`${clip(type, 60)}\``;
  const text = new TextDecoder().decode(beginning?.subarray(0, 400)).replace(/\s+/g, " ").trim();
  const shown = text === "" ? "It is empty." : `It begins with \`${clip(text, 80)}\`.`;
  return new Failure(
    "provider_broke_protocol",
    `${vendor} answered ${named}, and not with a stream. ${shown} The server must send \`text/event-stream\`, or \`application/json\` for one document.`,
  );
}
