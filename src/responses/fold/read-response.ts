/** Reads responses from the logs of their runs: one fold, live or a year later. */

import { Failure, toFailure } from "../../base/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import type { EmittedEvent, EmittedResponse } from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import { createEventWriter, type EventWriter } from "./event-writer.ts";
import type { PlacedItem } from "./given-items.ts";
import type { Showing } from "./item-view.ts";

/**
 * The response as far as its run has come; undefined if the run does not exist, or it has no events yet.
 */
export async function readResponse(
  engine: Pick<Engine, "record">,
  runId: string,
  showing: Showing,
): Promise<EmittedResponse | undefined> {
  const writer = createEventWriter(showing);
  await writeLog(engine, runId, writer);
  return writer.response();
}

/**
 * The complete output of a response, and what the client answered meanwhile; undefined as above.
 */
export async function readSaid(engine: Engine, runId: string): Promise<Item[] | undefined> {
  const writer = createEventWriter({ everything: true });
  await writeLog(engine, runId, writer);
  return writer.response() && writer.said();
}

async function writeLog(
  { record }: Pick<Engine, "record">,
  runId: string,
  writer: EventWriter,
): Promise<void> {
  for await (const page of readLog(record, runId))
    for (const { event } of page) writer.write(event);
}

interface Following extends Showing {
  readonly after: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the failure of a response that had no output before, or whose log cannot be read any further.
   */
  readonly onFailed?: ((failure: Failure) => void) | undefined;
  /** Called with what the client answered meanwhile, when the response has ended. */
  readonly onGiven?: ((items: readonly PlacedItem[]) => void) | undefined;
}

/**
 * The events with a number greater than `after`, live until the response has ended, in batches. If the log cannot be
 * read any further, the last batch says so and ends the stream.
 */
export async function* followResponse(
  engine: Engine,
  runId: string,
  { after, signal, onFailed, onGiven, ...showing }: Following,
): AsyncGenerator<readonly EmittedEvent[]> {
  const writer = createEventWriter(showing);
  try {
    yield* tellEvents(engine.follow(runId, -1, signal), writer, { after, onFailed, onGiven });
  } catch (thrown) {
    // The client is gone, or has got nothing yet: then the failure is not an event of the stream.
    const isLeft = signal?.aborted && !(signal.reason instanceof Failure);
    const events = isLeft ? [] : writer.fail(toFailure(thrown));
    if (events.length === 0) throw thrown;
    onFailed?.(toFailure(thrown));
    yield events;
  }
}

async function* tellEvents(
  log: AsyncIterable<readonly LoggedEvent[]>,
  writer: EventWriter,
  { after, onFailed, onGiven }: Pick<Following, "after" | "onFailed" | "onGiven">,
): AsyncGenerator<readonly EmittedEvent[]> {
  let hasSaid = false;
  for await (const batch of log) {
    const events = writeBatch(writer, batch, after);
    const end = batch.at(-1)?.event;
    hasSaid ||= events.some(isSaid);
    if (end?.type === "run_end" && end.error && !hasSaid) {
      const { code, message, param } = end.error;
      onFailed?.(new Failure(code, message, { param }));
    }
    if (end?.type === "run_end") onGiven?.(writer.given());
    if (events.length > 0) yield events;
  }
}

/** The list of tools is not part of an answer either: a request may fail while it is fetched. */
function isSaid(event: EmittedEvent): boolean {
  if (FRAME.has(event.type) || event.type.startsWith("response.mcp_list_tools.")) return false;
  return !("item" in event && event.item.type === "mcp_list_tools");
}

/** Events around an answer that are not part of it. */
const FRAME: ReadonlySet<string> = new Set([
  "response.created",
  "response.queued",
  "response.in_progress",
  "response.failed",
  "response.incomplete",
  "error",
]);

function writeBatch(
  writer: EventWriter,
  batch: readonly LoggedEvent[],
  after: number,
): EmittedEvent[] {
  const events: EmittedEvent[] = [];
  for (const { event } of batch) {
    for (const written of writer.write(event)) {
      if (written.sequence_number > after) events.push(written);
    }
  }
  return events;
}
