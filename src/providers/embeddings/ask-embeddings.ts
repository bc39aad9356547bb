/**
 * Asks a vendor for embeddings: in batches that its form accepts, a few in parallel, each signed and
 * retried like a request to a model.
 */

import { mapTogether } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import type { Redact } from "../../base/redact.ts";
import { MODEL_RETRY, type RetryPolicy, retry } from "../../base/retry.ts";
import { toMisshapen } from "../broken-answer.ts";
import type { Timeouts } from "../http/http-answer.ts";
import type { Sign } from "../http/http-provider.ts";
import { askServer, type ServerAnswer } from "../http/server-request.ts";
import type { Transport } from "../http/transport.ts";
import { redactFailure, toModelFailure } from "../provider-failure.ts";
import type { EmbeddingCall, EmbeddingRequest } from "./embedder.ts";
import type { EmbeddingForm, EmbeddingVectors } from "./embedding-form.ts";

export interface EmbeddingServer {
  /** The name in failures. */
  readonly who: string;
  readonly form: EmbeddingForm;
  /** Opened when the first text is embedded. */
  readonly transport: () => Promise<Transport>;
  readonly baseUrl: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Creates the headers that authorize a request. */
  readonly sign?: Sign | undefined;
  readonly clock: Clock;
  /** Between 0 and 1; spreads the waits before retries. */
  readonly random: () => number;
  readonly redact: Redact;
  readonly retry?: RetryPolicy | undefined;
  /** How many batches are in flight at once; a few if missing. */
  readonly atOnce?: number | undefined;
}

/** Local servers embed one text after the other, on a processor. */
const TIMEOUTS: Timeouts = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000 };
/** Enough for a form that takes one text at a time. */
const AT_ONCE = 4;

/**
 * All vectors, in the order of the texts. If one batch fails, no other is started, and those in flight are
 * cancelled.
 */
export async function askEmbeddings(
  server: EmbeddingServer,
  request: EmbeddingRequest,
  { signal, told }: EmbeddingCall,
): Promise<readonly (readonly number[])[]> {
  const { form, atOnce = AT_ONCE } = server;
  const batches = toBatches(form, request);
  const answers = await mapTogether(batches, { limit: atOnce, signal }, async (batch, whole) => {
    let isRead = false;
    const onRead = (now: boolean): void => {
      isRead = now;
    };
    try {
      const { vectors, tokens } = await askBatch(server, batch, { signal: whole, onRead });
      told?.(batch, tokens);
      return vectors;
    } catch (thrown) {
      // The vendor charges for a request that was cancelled after it had been read.
      if (isRead && whole.aborted) told?.(batch, undefined);
      throw thrown;
    }
  });
  return answers.flat();
}

function toBatches({ maxBatch }: EmbeddingForm, request: EmbeddingRequest): EmbeddingRequest[] {
  const { input } = request;
  const count = Math.ceil(input.length / maxBatch);
  return Array.from({ length: count }, (_, at) => {
    return { ...request, input: input.slice(at * maxBatch, (at + 1) * maxBatch) };
  });
}

interface Sending {
  readonly signal: AbortSignal;
  /** Called when the vendor gets the batch, and when it refuses it. */
  readonly onRead: (now: boolean) => void;
}

async function askBatch(
  server: EmbeddingServer,
  batch: EmbeddingRequest,
  sending: Sending,
): Promise<EmbeddingVectors> {
  const { signal } = sending;
  const { clock, random, redact, retry: policy = MODEL_RETRY } = server;
  try {
    return await retry(
      () => askOnce(server, batch, sending),
      () => ({ policy, clock, random, signal, onRetry: () => sending.onRead(false) }),
    );
  } catch (thrown) {
    throw redactFailure(thrown, redact);
  }
}

async function askOnce(
  server: EmbeddingServer,
  batch: EmbeddingRequest,
  sending: Sending,
): Promise<EmbeddingVectors> {
  const { who, form } = server;
  const answer = await send(server, batch, sending);
  if (answer.status >= 300) {
    sending.onRead(false);
    throw toModelFailure(who, answer);
  }
  const read = form.read(answer.json, batch);
  if (read) return read;
  const message = `${who} did not answer with one vector for each text.`;
  throw toMisshapen(message);
}

async function send(
  { transport, form, baseUrl, headers = {}, sign }: EmbeddingServer,
  batch: EmbeddingRequest,
  { signal, onRead }: Sending,
): Promise<ServerAnswer> {
  const url = `${baseUrl.replace(/\/+$/, "")}${form.path(batch)}`;
  const body = form.encode(batch);
  const said = { "content-type": "application/json", accept: "application/json", ...headers };
  // Signed with the same text that `askServer` sends.
  const unsigned = {
    method: "POST" as const,
    url,
    headers: said,
    body: JSON.stringify(body),
    signal,
  };
  const signed = await sign?.(unsigned);
  const open = await transport();
  onRead(!signal.aborted);
  return await askServer({
    transport: open,
    url,
    body,
    signal,
    timeouts: TIMEOUTS,
    maxBytes: "transport",
    headers: { ...said, ...signed },
  });
}
