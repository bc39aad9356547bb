/** Embeddings that the request's key pays for. */

import type { Payer } from "../../agent/payer.ts";
import type { Embedder } from "../../providers/embeddings/embedder.ts";

/** As in the estimate for model calls: fewer than ordinary text has. */
const CHARS_PER_TOKEN = 3;

export async function embedPaid(
  embedder: Embedder,
  { texts, signal }: { readonly texts: readonly string[]; readonly signal: AbortSignal },
  payer: Payer | undefined,
): Promise<Float32Array[]> {
  if (!payer) return await embedder.embed(texts, signal);
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  const toCost = (tokens: number): { tokens: number; usd: number | undefined } => ({
    tokens,
    usd: embedder.costOf?.(tokens),
  });
  return await payer.pay(toCost(Math.ceil(chars / CHARS_PER_TOKEN)), (used) =>
    embedder.embed(texts, signal, (tokens) => used(toCost(tokens))),
  );
}
