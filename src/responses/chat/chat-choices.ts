/**
 * Several choices of one chat completion (`n`): each is a response of its own, a few at once. A vendor that knows `n`
 * bills the prompt once; here each choice is requested, reserved and counted separately, for every vendor.
 */

import { mapTogether } from "../../base/async.ts";
import type { EmittedEvent, EmittedResponse } from "../../protocol/emitted.ts";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.ts";
import type { LiveResponse } from "../follow/live-response.ts";
import type { CompletionChunk } from "./chat-chunk.ts";
import {
  type ChatCompletion,
  type ChatHead,
  type CompletionChoice,
  toChatCompletion,
  toChatUsage,
} from "./chat-completion.ts";
import { type ChatWriter, createChatWriter } from "./chat-writer.ts";
import type { ChatAnswerOptions } from "./parse-chat.ts";

/** The most model calls of one request at once, if its key may have as many. */
const AT_ONCE = 8;

export interface AskedChoices {
  readonly count: number;
  /** How many model calls the client may have in progress at once; undefined for any number. */
  readonly concurrent: number | undefined;
  readonly answer: ChatAnswerOptions;
  /** Fields of the request that were left out. */
  readonly ignored: readonly string[];
  /** Adds those fields to the response. */
  readonly tell: (response: EmittedResponse) => EmittedResponse;
  /** Starts the response of one choice. */
  readonly begin: () => Promise<LiveResponse>;
  /**
   * Stores a stream that has ended well, before it ends for the client. Undefined if it is not stored.
   */
  readonly keep?: ((completion: ChatCompletion) => Promise<unknown>) | undefined;
}

/** Resolves with all of them, or rejects with the failure of the first that failed. */
export async function completeChoices(
  { count, concurrent, answer: { calls }, begin, tell }: AskedChoices,
  signal: AbortSignal,
): Promise<ChatCompletion> {
  const places = Array.from({ length: count }, (_, index) => index);
  const responses = await mapTogether(
    places,
    { limit: toLimit(concurrent), signal },
    async (_, whole) => {
      return await (await begin()).response(whole);
    },
  );
  return joinChoices(
    responses.map((response) => toChatCompletion(tell(response), { calls })),
    responses,
  );
}

function toLimit(concurrent = AT_ONCE): number {
  return Math.max(1, Math.min(AT_ONCE, concurrent));
}

function joinChoices(
  completions: readonly ChatCompletion[],
  responses: readonly EmittedResponse[],
): ChatCompletion {
  const [first, ...rest] = completions;
  if (!first) throw new RangeError("There is at least one choice.");
  const usage = responses.reduce((sum, one) => addUsage(sum, one.usage ?? NO_USAGE), NO_USAGE);
  const choices = [first, ...rest].flatMap((one, index) =>
    one.choices.map((choice) => ({ ...choice, index })),
  );
  return { ...first, choices, usage: toChatUsage(usage) };
}

/**
 * The frames of all choices as they come. If one breaks off, its error is the last frame, and the others end. Leaving
 * the loop ends all.
 */
export async function* streamChoices(
  asked: AskedChoices,
  { signal, onBegin }: { readonly signal: AbortSignal; onBegin(live: LiveResponse): void },
): AsyncGenerator<readonly string[]> {
  let head: ChatHead | undefined;
  let usage = NO_USAGE;
  const toChoice = (index: number): CompletionChoice => ({
    index,
    toHead: (own) => {
      head ??= own;
      return head;
    },
    onUsage: (used) => {
      usage = addUsage(usage, used);
    },
  });
  const stop = new AbortController();
  const whole = AbortSignal.any([signal, stop.signal]);
  const ended: EmittedResponse[] = [];
  const sources = Array.from(
    { length: asked.count },
    (_, index) =>
      async function* () {
        const live = await asked.begin();
        onBegin(live);
        yield* writeChoice(noteEnded(live.events(whole), ended, index), asked, toChoice(index));
      },
  );
  for await (const { frames, isLast } of mergeSources(sources, {
    stop,
    limit: toLimit(asked.concurrent),
  })) {
    if (frames.length > 0) yield frames;
    if (isLast) return;
  }
  if (asked.answer.includeUsage && head) yield [toUsageChunk(head, usage)];
  if (asked.keep && head) await asked.keep({ ...joinEnded(ended, asked), ...head });
}

function joinEnded(
  ended: readonly EmittedResponse[],
  { answer: { calls }, tell }: AskedChoices,
): ChatCompletion {
  return joinChoices(
    ended.map((response) => toChatCompletion(tell(response), { calls })),
    ended,
  );
}

async function* noteEnded(
  events: AsyncIterable<readonly EmittedEvent[]>,
  ended: EmittedResponse[],
  index: number,
): AsyncGenerator<readonly EmittedEvent[]> {
  for await (const batch of events) {
    const response = findEnded(batch);
    if (response) ended[index] = response;
    yield batch;
  }
}

/** The response that a batch of events ends with; undefined if it has not ended, or failed. */
export function findEnded(batch: readonly EmittedEvent[]): EmittedResponse | undefined {
  for (const event of batch) {
    if (event.type === "response.completed" || event.type === "response.incomplete") {
      return event.response;
    }
  }
  return undefined;
}

/** The last chunk of a stream: the usage of all choices. */
function toUsageChunk(head: ChatHead, usage: Usage): string {
  const last = { choices: [], usage: toChatUsage(usage) };
  const chunk: CompletionChunk = { ...head, object: "chat.completion.chunk", ...last };
  return JSON.stringify(chunk);
}

interface Written {
  readonly frames: readonly string[];
  /** True if nothing may follow. */
  readonly isLast: boolean;
}

async function* writeChoice(
  events: AsyncIterable<readonly EmittedEvent[]>,
  { answer, ignored }: AskedChoices,
  choice: CompletionChoice,
): AsyncGenerator<Written> {
  let writer: ChatWriter | undefined;
  for await (const batch of events) {
    const known = writer ?? createChatWriter({ model: modelOf(batch), ...answer, ignored, choice });
    writer = known;
    const frames = batch.flatMap((event) => known.write(event));
    yield { frames, isLast: known.isBroken() };
  }
}

/** The model of the first batch, which begins with the response. */
export function modelOf([first]: readonly EmittedEvent[]): string {
  return first && "response" in first ? first.response.model : "";
}

type Source = () => AsyncGenerator<Written>;

/**
 * Yields what the sources yield, as it comes; a few are read at once. However it ends, all of them have ended then.
 */
async function* mergeSources(
  sources: readonly Source[],
  { stop, limit }: { readonly stop: AbortController; readonly limit: number },
): AsyncGenerator<Written> {
  const waiting = [...sources];
  const open = new Map<AsyncGenerator<Written>, Promise<Step>>();
  const read = (source: AsyncGenerator<Written>): void => {
    open.set(
      source,
      source.next().then((result) => ({ source, result })),
    );
  };
  try {
    for (;;) {
      while (open.size < limit && waiting.length > 0) {
        const next = waiting.shift();
        if (next) read(next());
      }
      if (open.size === 0) return;
      const { source, result } = await Promise.race(open.values());
      if (result.done) {
        open.delete(source);
        continue;
      }
      read(source);
      yield result.value;
    }
  } finally {
    stop.abort();
    await endAll(open);
  }
}

interface Step {
  readonly source: AsyncGenerator<Written>;
  readonly result: IteratorResult<Written>;
}

/** Waits for the next step of each first: its signal has told it to end. */
async function endAll(open: ReadonlyMap<AsyncGenerator<Written>, Promise<Step>>): Promise<void> {
  await Promise.allSettled([...open.values()]);
  await Promise.allSettled([...open.keys()].map((source) => source.return(undefined)));
}
