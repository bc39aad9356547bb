/**
 * Model calls that were made before their runs began: a run takes the call in progress in place of its first one.
 * Only within one process: a process that takes such a run over makes the call again, as for any call of a dead
 * process.
 */

import { toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { Notice } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelCall, ModelRequest, Provider, WholeAnswer } from "../../providers/provider.ts";

type Told = Omit<Notice, "type">;

type Batch = readonly ModelEvent[];

/** A model call in progress, with all of its output so far. */
export interface HandedCall {
  /** Settles when the call has ended, unless `tell` was called before. */
  readonly answer: Promise<WholeAnswer>;
  readonly notices: readonly Told[];
  /** Resolves with the first output, which of a whole answer is all of it, or with the end. */
  readonly begun: Promise<void>;
  /** How many batches have come. */
  heard(): number;
  /** All output, past and future. Once: nothing of it comes to `answer` afterwards. */
  tell(): AsyncIterable<Batch>;
  /** Passes all notices, past and future, to `call`; ends with its signal. */
  join(call: ModelCall): void;
  /** Ends it if it is still in progress. */
  stop(): void;
}

export interface AskedModel {
  readonly request: ModelRequest;
  readonly run: string;
  readonly owner: string;
}

/** Asks a model for a whole answer. */
export type AskModel = NonNullable<Provider["answer"]>;

export function makeCall(ask: AskModel, asking: AskedModel): HandedCall {
  const { call, join: joinLine, ...rest } = createLine(asking);
  const answer = ask(asking.request, call);
  let count = 0;
  const hasCome = (): void => void count++;
  const ended = answer.then(hasCome, hasCome);
  async function* tell(): AsyncGenerator<Batch> {
    const { events, failure } = await answer;
    yield events;
    if (failure) throw failure;
  }
  const join = (joining: ModelCall): void => joinLine(joining, ended);
  return { answer, begun: ended, heard: () => count, tell, join, ...rest };
}

/** Makes a call whose answer is streamed. */
export function makeStreamedCall(ask: Provider["stream"], asking: AskedModel): HandedCall {
  const { call, join: joinLine, ...rest } = createLine(asking);
  const { ended, ...reading } = hearStream(ask(asking.request, call));
  const join = (joining: ModelCall): void => joinLine(joining, ended);
  return { join, ...rest, ...reading };
}

/**
 * How much of a stream is read ahead of the run that takes it, in characters. So a model that floods costs a megabyte
 * before its run begins, and not all that it can send meanwhile.
 */
const MOST_CHARS = 256 * 1024;
/** What an event takes beside its text, about. */
const EVENT_CHARS = 64;

function sizeOf(batch: Batch): number {
  const sum = (chars: number, event: ModelEvent): number =>
    chars + EVENT_CHARS + ("delta" in event ? event.delta.length : 0);
  return batch.reduce(sum, 0);
}

/** Reads a stream from its beginning, before it is known who wants it. */
function hearStream(
  stream: AsyncIterable<Batch>,
): Pick<HandedCall, "answer" | "begun" | "heard" | "tell"> & { readonly ended: Promise<void> } {
  const batches = stream[Symbol.asyncIterator]();
  const heard: Batch[] = [];
  let chars = 0;
  let isTaken = false;
  let reading = batches.next();
  const begun = reading.then(nothing, nothing);
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  /** Stops as soon as `tell` is called, which continues with the read in progress. Never settles then. */
  async function hear(): Promise<WholeAnswer> {
    try {
      for (let next = await reading; !isTaken && !next.done; next = await reading) {
        heard.push(next.value);
        chars += sizeOf(next.value);
        if (chars >= MOST_CHARS) return await never();
        reading = batches.next();
      }
    } catch (thrown) {
      if (!isTaken) end();
      throw thrown;
    }
    if (isTaken) return await never();
    end();
    return { events: heard.flat(), failure: undefined };
  }

  async function* tell(): AsyncGenerator<Batch> {
    isTaken = true;
    // The last read is among what was heard, and none is in progress.
    const isFull = chars >= MOST_CHARS;
    try {
      // What was passed on is not kept: an answer may be as large as the memory that a server has for it.
      for (let next = heard.shift(); next; next = heard.shift()) yield next;
      if (isFull) reading = batches.next();
      for (let next = await reading; !next.done; next = await batches.next()) yield next.value;
    } finally {
      end();
      await batches.return?.();
    }
  }

  const answer = hear();
  // The run that takes the call finds the same failure.
  answer.catch(() => {});
  return { answer, begun, heard: () => heard.length, tell, ended };
}

/** One for each call: a promise that all calls share would keep them all. */
function never(): Promise<never> {
  return new Promise(() => {});
}

function nothing(): void {}

/** The notices of a call beside its answer, kept for callers that join it. */
function createLine({ run, owner }: AskedModel) {
  const stop = new AbortController();
  const notices: Told[] = [];
  let joined: ModelCall | undefined;
  let sent: { readonly to: string | undefined } | undefined;
  let counted: Usage | undefined;
  const call: ModelCall = {
    signal: stop.signal,
    run,
    owner,
    notice(told) {
      notices.push(told);
      joined?.notice?.(told);
    },
    onSend(to) {
      sent = { to };
      joined?.onSend?.(to);
    },
    onUsage(usage) {
      counted = usage;
      joined?.onUsage?.(usage);
    },
  };
  return {
    call,
    notices,
    stop: () => stop.abort(new Failure("cancelled", "Cancelled.")),
    join(joining: ModelCall, ended: Promise<void>) {
      joined = joining;
      for (const told of notices) joining.notice?.(told);
      if (sent) joining.onSend?.(sent.to);
      if (counted) joining.onUsage?.(counted);
      const { signal } = joining;
      const onAbort = (): void => stop.abort(toAbortFailure(signal));
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
      void ended.then(() => signal.removeEventListener("abort", onAbort));
    },
  };
}

/** By the ids of their runs. The code that adds an entry also begins the run. */
export type HandedCalls = Map<string, HandedCall>;

/** The model, whose first answer is that of the call. */
export function takeHanded<T extends { readonly provider: Provider }>(
  model: T,
  calls: HandedCalls,
  runId: string,
): T {
  const { provider } = model;
  let handed = calls.get(runId);
  if (!handed) return model;
  calls.delete(runId);
  const stream: Provider["stream"] = async function* (request, call) {
    const made = handed;
    handed = undefined;
    if (!made) return yield* provider.stream(request, call);
    made.join(call);
    yield* made.tell();
  };
  return { ...model, provider: { ...provider, stream } };
}
