/** The body of `POST /v1/embeddings` and its answer, as the published API has them. */

import { z } from "zod";
import { Failure } from "../base/failure.ts";
import { choose } from "./open.ts";
import { parseAs } from "./parse.ts";

/** Of the published API. */
const MAX_INPUTS = 2048;

const Text = z.string();
const Tokens = z.array(z.int().nonnegative()).min(1);
const Texts = z.array(Text).min(1).max(MAX_INPUTS);
const TokenLists = z.array(Tokens).min(1).max(MAX_INPUTS);

/** A text, a list of texts, a list of tokens, or a list of such lists. */
const EmbeddingInput = choose<string | string[] | number[] | number[][]>(
  (value) => {
    if (!Array.isArray(value)) return Text;
    if (Array.isArray(value[0])) return TokenLists;
    return typeof value[0] === "number" ? Tokens : Texts;
  },
  { among: [Text, Texts, Tokens, TokenLists] },
);

/** Fields that it does not know are refused by name: there is no place in the answer to tell of them. */
export const CreateEmbeddings = z.strictObject({
  /** Must be said: vectors of whichever model is the usual one today fit no others. */
  model: z.string().min(1),
  input: EmbeddingInput,
  dimensions: z.int().positive().nullable().optional(),
  encoding_format: z.enum(["float", "base64"]).nullable().optional(),
  user: z.string().nullable().optional(),
  /** What the vectors are for (`search_query`, `passage`), where a model wants to know it. */
  input_type: z.string().nullable().optional(),
});
export type CreateEmbeddings = z.infer<typeof CreateEmbeddings>;

/** One thing to embed. */
export type EmbeddingText = string | readonly number[];

export interface EmittedEmbeddings {
  readonly object: "list";
  readonly data: readonly EmittedEmbedding[];
  readonly model: string;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

interface EmittedEmbedding {
  readonly object: "embedding";
  readonly index: number;
  /** Numbers, or the base64 of 32-bit floats, little-endian. */
  readonly embedding: readonly number[] | string;
}

/** Rejects with `invalid_request`, by the name of the field. */
export function parseCreateEmbeddings(body: unknown): CreateEmbeddings {
  return parseAs(CreateEmbeddings, body, "request");
}

/** The things to embed, one entry each. An empty text is refused, as the API does. */
export function toEmbeddingTexts({ input }: CreateEmbeddings): readonly EmbeddingText[] {
  const texts = toList(input);
  const empty = texts.indexOf("");
  if (empty < 0) return texts;
  const param = Array.isArray(input) ? `input[${empty}]` : "input";
  throw new Failure("invalid_request", `\`${param}\` is an empty text.`, { param });
}

function toList(input: CreateEmbeddings["input"]): readonly EmbeddingText[] {
  if (typeof input === "string") return [input];
  return isTokens(input) ? [input] : input;
}

function isTokens(input: string[] | number[] | number[][]): input is number[] {
  return typeof input[0] === "number";
}
