/**
 * A stored response of which no client knows anything before there is output: one whose client waits for the whole
 * answer, or the beginning of a stream. So nothing is written before, and an answer that comes soon is written down with
 * its run, its log and its ending in one transaction, at a third of what a run costs that is followed (bench/stored.ts).
 * The log is the same.
 *
 * If the model takes its time, the answer is more than text, or the client leaves, the response becomes a run like any
 * other, which takes over the call that was made: then it is in lists, can be cancelled, and survives. A stream becomes
 * one as soon as its output pauses.
 */

import { encodeTask } from "../../agent/task.ts";
import { WAIT_OVER } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EmittedEvent, EmittedResponse } from "../../protocol/emitted.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import type { WholeAnswer } from "../../providers/provider.ts";
import type { NewThing } from "../../store/shelf.ts";
import { createEventWriter } from "../fold/event-writer.ts";
import type { Events, LiveResponse } from "../follow/live-response.ts";
import { RESPONSE_BODY } from "../kept/kept-response.ts";
import type { AskedResponse } from "../request/asked-response.ts";
import { type AboutEnded, type EndedResponse, toEndedRun } from "./ended-run.ts";
import type { HandedCall } from "./handed-calls.ts";
import type { Settle } from "./response-money.ts";

export interface SoonParts extends AboutEnded {
  readonly title: string;
  /** What is put on the shelf with its run. */
  readonly things: readonly NewThing[];
  readonly call: HandedCall;
  readonly clock: Clock;
  readonly engine: Engine;
  readonly settle: Settle | undefined;
  /** Makes a run of it, which takes the call over. */
  begin(): Promise<LiveResponse>;
}

/** What a client of a model that takes longer waits for anyway; sooner would be two transactions for most answers. */
const SOON_MS = 2000;

/** What comes at once comes without a pause as long as this; a model that thinks of each word does not. */
const LOOK_MS = 4;
/** A client of a fast model sees the first word later by so many looks at most. */
const MOST_LOOKS = 5;

export function createSoonResponse(parts: SoonParts): LiveResponse {
  return new SoonResponse(parts);
}

class SoonResponse implements LiveResponse {
  readonly id: string;
  readonly asked: AskedResponse;
  readonly #parts: SoonParts;
  readonly #beganMs: number;
  #live: Promise<LiveResponse> | undefined;
  #run: LiveResponse | undefined;

  constructor(parts: SoonParts) {
    this.id = parts.id;
    this.asked = parts.asked;
    this.#parts = parts;
    this.#beganMs = parts.clock.now();
  }

  injected(): ReturnType<LiveResponse["injected"]> {
    return this.#run?.injected() ?? [];
  }

  failure(): ReturnType<LiveResponse["failure"]> {
    return this.#run?.failure();
  }

  async *events(signal?: AbortSignal): Events {
    const written = this.asked.stream ? await this.#writeSoon(signal) : undefined;
    if (written) yield toEmitted(written.outcome.events);
    else yield* (await this.#begin()).events(signal);
  }

  async end(): Promise<void> {
    await (await this.#begin()).end?.();
  }

  async response(signal?: AbortSignal): Promise<EmittedResponse> {
    const written = await this.#writeSoon(signal);
    if (written) return written.response;
    return await (await this.#begin()).response(signal);
  }

  #begin(): Promise<LiveResponse> {
    this.#live ??= this.#parts.begin().then((run) => {
      this.#run = run;
      return run;
    });
    return this.#live;
  }

  /** Undefined where it has to be a run. */
  async #writeSoon(signal: AbortSignal | undefined): Promise<EndedResponse | undefined> {
    const { call, clock } = this.#parts;
    const answer = await waitSoon(call, { clock, isStreamed: this.asked.stream }, signal);
    if (!answer) return undefined;
    try {
      return await this.#write(answer);
    } catch {
      // The record may be locked or full, or has it and could not say so: the run with this id finds out, and says it.
      return undefined;
    }
  }

  async #write(answer: WholeAnswer): Promise<EndedResponse | undefined> {
    const { runId, title, planned, engine, settle, things, call, clock } = this.#parts;
    const times = { beganMs: this.#beganMs, endMs: clock.now() };
    const run = toEndedRun(this.#parts, { answer, notices: call.notices, ...times });
    if (!run) return undefined;
    const { tenant, key_id } = planned.wish;
    const booked = key_id === null ? undefined : settle?.(key_id, run.charged, runId);
    const options = { id: runId, title, tenant, things, createdAtMs: this.#beganMs };
    const { settles, onEnded } = booked ?? {};
    const outcome = { settles, onEnded, ...run.outcome };
    await engine.noteEnded(RESPONSE_BODY, encodeTask(planned.task), options, outcome);
    return run;
  }
}

/** The events of a log, as a client that followed it would have got them. */
function toEmitted(log: readonly RunEvent[]): readonly EmittedEvent[] {
  const writer = createEventWriter();
  return log.flatMap((event) => writer.write(event));
}

/** Undefined if it takes longer, fails, or the client no longer waits for it. */
async function waitSoon(
  call: HandedCall,
  { clock, isStreamed }: { readonly clock: Clock; readonly isStreamed: boolean },
  signal: AbortSignal | undefined,
): Promise<WholeAnswer | undefined> {
  const over = new AbortController();
  const stop = (): void => over.abort(WAIT_OVER);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const late = isStreamed
    ? untilPause(call, clock, over.signal)
    : clock.sleep(SOON_MS, over.signal);
  try {
    return await Promise.race([call.answer, late.then(nothing, nothing)]);
  } catch {
    // The run that takes the call over says why.
    return undefined;
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

/** Resolves when a stream that has begun brings nothing for a while, or has brought enough; after `SOON_MS` at the latest. */
async function untilPause(call: HandedCall, clock: Clock, signal: AbortSignal): Promise<void> {
  await Promise.race([call.begun, clock.sleep(SOON_MS, signal)]);
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const heard = call.heard();
    await clock.sleep(LOOK_MS, signal);
    if (call.heard() === heard) return;
  }
}

function nothing(): undefined {}
