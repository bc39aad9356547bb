/** Embeddings over the `/embeddings` call of OpenAI, most vendors and most local servers. */

import type { Clock } from "../../base/clock.ts";
import type { Redact } from "../../base/redact.ts";
import type { RetryPolicy } from "../../base/retry.ts";
import { cutToChars } from "../../base/text.ts";
import type { Transport } from "../http/transport.ts";
import { askEmbeddings, type EmbeddingServer } from "./ask-embeddings.ts";
import { type Embedder, toUnit } from "./embedder.ts";
import { OPENAI_FORM } from "./openai-form.ts";

export interface EmbeddingsOptions {
  /** Opened when the first text is embedded. */
  readonly transport: () => Promise<Transport>;
  /** The base URL up to `/embeddings`: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** The length of the vectors; undefined for the model's own length. */
  readonly dimensions?: number | undefined;
  readonly key?: string | undefined;
  readonly clock: Clock;
  /** Between 0 and 1; spreads the waits before retries. */
  readonly random: () => number;
  readonly redact: Redact;
  readonly retry?: RetryPolicy | undefined;
  /** The cost of that many tokens; undefined if it is not known. */
  readonly costOf?: ((tokens: number) => number | undefined) | undefined;
}

/** A few of a file's many chunks at a time: local servers embed one after the other. */
const MAX_BATCH = 32;
/** The longest text. No embedding model reads more; most refuse a longer text, and all cut or blur it. */
const MAX_CHARS = 24_000;

export function createOpenAiEmbedder(options: EmbeddingsOptions): Embedder {
  const { model, dimensions, key, costOf, ...rest } = options;
  const server: EmbeddingServer = {
    ...rest,
    who: "The embedding server",
    form: { ...OPENAI_FORM, maxBatch: MAX_BATCH },
    atOnce: 1,
    sign: () => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  return {
    model: dimensions === undefined ? model : `${model}/${dimensions}`,
    costOf: (tokens) => costOf?.(tokens),
    async embed(texts, signal, told) {
      // Most servers refuse an empty text.
      const input = texts.map((text) => cutToChars(text, MAX_CHARS) || " ");
      const request = { model, dimensions, input };
      const vectors = await askEmbeddings(server, request, {
        signal,
        told: (_, tokens) => {
          if (tokens !== undefined) told?.(tokens);
        },
      });
      return vectors.map(toUnit);
    },
  };
}
