/**
 * `POST /v1/embeddings` as a function: finds the model of a request, pays for it and asks it. Nothing is stored.
 */

import { createAccount } from "../../agent/account.ts";
import { type Cost, createPayer, type Payer } from "../../agent/payer.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import {
  type CreateEmbeddings,
  type EmbeddingText,
  type EmittedEmbeddings,
  parseCreateEmbeddings,
  toEmbeddingTexts,
} from "../../protocol/embeddings.ts";
import type { EmbeddingModel, EmbeddingRequest } from "../../providers/embeddings/embedder.ts";
import type { ModelTarget } from "../models/model-target.ts";
import { checkAllowed, checkName } from "../request/check-model.ts";
import type { Caller } from "../tenant/caller.ts";

export interface EmbeddingsApi {
  /** Rejects a request that is invalid, not allowed or not paid for, before anything is sent. */
  create(body: unknown, caller: Caller, signal: AbortSignal): Promise<MadeEmbeddings>;
}

export interface MadeEmbeddings {
  /** Names the request in logs. */
  readonly id: string;
  readonly body: EmittedEmbeddings;
}

export interface EmbeddingsParts {
  /** The model of a name. Rejects an unknown name. */
  readonly route: (name: string) => ModelTarget;
  readonly open: (target: ModelTarget) => Promise<EmbeddingModel>;
  /** Pays for a key's requests. */
  readonly payerOf?: ((keyId: string) => Payer) | undefined;
  /** Called with the usage of a request, for the server's metrics and the request's log line. */
  readonly observe?: ((id: string, used: UsedEmbeddings) => void) | undefined;
}

export interface UsedEmbeddings {
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
}

/** Fewer than ordinary text has, as in the estimate for model calls. */
const CHARS_PER_TOKEN = 3;

export function createEmbeddingsApi(parts: EmbeddingsParts): EmbeddingsApi {
  return {
    async create(body, caller, signal) {
      const asked = parseCreateEmbeddings(body);
      const input = toEmbeddingTexts(asked);
      checkName(asked.model);
      const target = parts.route(asked.model);
      checkAllowed(asked.model, caller);
      const model = await parts.open(target);
      if (!model.takesTokens) checkTexts(input, target);
      const { vectors, tokens, usd } = await embedPaid(model, toRequest(asked, input), {
        payers: toPayers(parts, caller),
        signal,
      });
      const id = makeId("emb");
      const used = { input_tokens: tokens, output_tokens: 0, cost_usd: usd ?? null };
      parts.observe?.(id, { model: target.model, ...used });
      if (asked.dimensions) checkLength(vectors, asked.dimensions, target);
      return { id, body: toAnswer(asked, { vectors, tokens, model: target.model }) };
    },
  };
}

type Request = Omit<EmbeddingRequest, "model">;

function toRequest(
  { dimensions, user, input_type }: CreateEmbeddings,
  input: readonly EmbeddingText[],
): Request {
  return {
    input,
    dimensions: dimensions ?? undefined,
    user: user ?? undefined,
    inputType: input_type ?? undefined,
  };
}

function checkTexts(input: readonly EmbeddingText[], { model }: ModelTarget): void {
  if (input.every((text) => typeof text === "string")) return;
  const message = `\`${model}\` takes texts alone. Send the text in place of its tokens (LangChain: \`check_embedding_ctx_length=False\`).`;
  throw new Failure("invalid_request", message, { param: "input" });
}

/** First the limit on one request of the caller, then the remaining budget of its key. */
function toPayers({ payerOf }: EmbeddingsParts, { keyId, limits }: Caller): readonly Payer[] {
  const own = createPayer(createAccount(limits));
  return keyId === null || !payerOf ? [own] : [own, payerOf(keyId)];
}

interface Paying {
  readonly payers: readonly Payer[];
  readonly signal: AbortSignal;
}

interface Embedded {
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number;
  /** Undefined if a price is not known. */
  readonly usd: number | undefined;
}

async function embedPaid(
  model: EmbeddingModel,
  request: Request,
  { payers, signal }: Paying,
): Promise<Embedded> {
  const toCost = (tokens: number, deployment?: string): Cost => {
    return { tokens, usd: model.costOf(tokens, deployment) };
  };
  const most = toCost(estimateTokens(request.input));
  const all: Cost[] = [];
  const ask = (used: (cost: Cost) => void): Promise<Embedded["vectors"]> =>
    model.embed(request, {
      signal,
      told(batch, counted = estimateTokens(batch.input), deployment) {
        const cost = toCost(counted, deployment);
        all.push(cost);
        used(cost);
      },
    });
  // Each payer reserves the possible cost, and is then told the real one.
  const payAll = payers.reduceRight<typeof ask>(
    (inner, payer) => (used) =>
      payer.pay(most, (usedHere) =>
        inner((cost) => {
          usedHere(cost);
          used(cost);
        }),
      ),
    ask,
  );
  const vectors = await payAll(() => {});
  return { vectors, ...addUp(all) };
}

function addUp(costs: readonly Cost[]): Pick<Embedded, "tokens" | "usd"> {
  const isKnown = costs.every(({ usd }) => usd !== undefined);
  return {
    tokens: costs.reduce((sum, { tokens }) => sum + tokens, 0),
    usd: isKnown ? costs.reduce((sum, { usd = 0 }) => sum + usd, 0) : undefined,
  };
}

function estimateTokens(input: readonly EmbeddingText[]): number {
  return input.reduce(
    (sum, text) => sum + (typeof text === "string" ? estimateText(text) : text.length),
    0,
  );
}

function estimateText(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** A server that does not know `dimensions` silently returns vectors of its own length. */
function checkLength(
  vectors: Embedded["vectors"],
  dimensions: number,
  { model }: ModelTarget,
): void {
  const wrong = vectors.find(({ length }) => length !== dimensions);
  if (!wrong) return;
  const message = `\`${model}\` gives vectors of ${wrong.length} numbers, not of ${dimensions}. Leave \`dimensions\` out, or choose another model.`;
  throw new Failure("invalid_request", message, { param: "dimensions" });
}

function toAnswer(
  { encoding_format }: CreateEmbeddings,
  { vectors, tokens, model }: Omit<Embedded, "usd"> & { readonly model: string },
): EmittedEmbeddings {
  const show = encoding_format === "base64" ? toBase64 : (vector: readonly number[]) => vector;
  return {
    object: "list",
    data: vectors.map((vector, index) => {
      return { object: "embedding", index, embedding: show(vector) };
    }),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** 32-bit floats, little-endian on every machine. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString("base64");
}
