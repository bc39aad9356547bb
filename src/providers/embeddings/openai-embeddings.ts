/** Embeddings over the `/embeddings` call that OpenAI, most vendors and most local servers have. */

import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import type { Redact } from "../../base/redact.ts";
import { MODEL_RETRY, type RetryPolicy, retry } from "../../base/retry.ts";
import { cutToChars } from "../../base/text.ts";
import { askServer } from "../http/server-request.ts";
import type { Timeouts, Transport } from "../http/transport.ts";
import { redactFailure, toHttpFailure } from "../provider-failure.ts";
import { type Embedder, type OnTokens, toUnit } from "./embedder.ts";

export interface EmbeddingsOptions {
  /** Opened when the first text is to be embedded. */
  readonly transport: () => Promise<Transport>;
  /** Up to and without `/embeddings`: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** How long the vectors are; undefined for the model's own length. */
  readonly dimensions?: number | undefined;
  readonly key?: string | undefined;
  readonly clock: Clock;
  /** 0 to 1; spreads the waits before another try. */
  readonly random: () => number;
  readonly redact: Redact;
  readonly retry?: RetryPolicy | undefined;
  /** What so many tokens cost; undefined where nobody knows. */
  readonly costOf?: ((tokens: number) => number | undefined) | undefined;
}

/** Answers of so many long vectors stay within what is read of one. */
const MAX_BATCH = 32;
/** No embedding model reads more; most refuse a text that is too long, and all cut or blur it. */
const MAX_CHARS = 24_000;
/** Local servers embed one text after the other, on a processor. */
const TIMEOUTS: Timeouts = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000 };

export function createOpenAiEmbedder(options: EmbeddingsOptions): Embedder {
  const { model, dimensions, clock, random, redact } = options;
  return {
    model: dimensions === undefined ? model : `${model}/${dimensions}`,
    costOf: (tokens) => options.costOf?.(tokens),
    async embed(texts, signal, told) {
      const vectors: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += MAX_BATCH) {
        const batch = texts.slice(from, from + MAX_BATCH);
        const retrying = { policy: options.retry ?? MODEL_RETRY, clock, random, signal };
        const found = await retry(
          () => askOnce(options, { texts: batch, told }, signal),
          () => ({
            ...retrying,
            onRetry: () => {},
          }),
        ).catch((thrown: unknown) => {
          throw redactFailure(thrown, redact);
        });
        vectors.push(...found);
      }
      return vectors;
    },
  };
}

async function askOnce(
  { transport, baseUrl, model, dimensions, key }: EmbeddingsOptions,
  { texts, told }: { readonly texts: readonly string[]; readonly told: OnTokens | undefined },
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const answer = await askServer({
    transport: await transport(),
    url: `${baseUrl.replace(/\/+$/, "")}/embeddings`,
    body: {
      model,
      // An empty text is refused by most.
      input: texts.map((text) => cutToChars(text, MAX_CHARS) || " "),
      encoding_format: "float",
      ...(dimensions === undefined ? {} : { dimensions }),
    },
    signal,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    timeouts: TIMEOUTS,
    maxBytes: "transport",
  });
  if (answer.status >= 300) throw toHttpFailure("The embedding server", answer);
  const tokens = readTokens(answer.json);
  if (tokens !== undefined) told?.(tokens);
  const vectors = readVectors(answer.json, texts.length);
  if (vectors) return vectors;
  const message = "The embedding server did not answer with one vector for each text.";
  throw new Failure("provider_broke_protocol", message);
}

function readTokens(json: Json | undefined): number | undefined {
  const usage = isJsonObject(json) ? json["usage"] : undefined;
  if (!isJsonObject(usage)) return undefined;
  const tokens = usage["total_tokens"] ?? usage["prompt_tokens"];
  return typeof tokens === "number" && tokens > 0 ? tokens : undefined;
}

/** They say their places, and need not come in order. Undefined where one is missing. */
function readVectors(json: Json | undefined, count: number): Float32Array[] | undefined {
  const data = isJsonObject(json) ? json["data"] : undefined;
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors = new Array<Float32Array | undefined>(count);
  for (const [at, entry] of data.entries()) {
    if (!isJsonObject(entry) || !Array.isArray(entry["embedding"])) return undefined;
    const values = entry["embedding"] as readonly Json[];
    if (values.length === 0 || values.some((one) => typeof one !== "number")) return undefined;
    const place = typeof entry["index"] === "number" ? entry["index"] : at;
    vectors[place] = toUnit(values as readonly number[]);
  }
  const found = vectors.filter((vector) => vector !== undefined);
  return found.length === count ? found : undefined;
}
