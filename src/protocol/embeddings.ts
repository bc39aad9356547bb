/** The body of `POST /v1/embeddings` and its answer, as the published API has them. */

import { z } from "zod";
import { Failure } from "../base/failure.ts";
import { choose } from "./open.ts";
import { parseAs } from "./parse.ts";

/** A limit of the published API. */
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

/**
 * The body of a request for embeddings. Unknown fields are refused by name: the answer has no place to
 * report them.
 */
export const CreateEmbeddings = z.strictObject({
  /** Required: vectors of today's default model would not fit those of another one. */
  model: z.string().min(1),
  input: EmbeddingInput,
  dimensions: z.int().positive().nullable().optional(),
  encoding_format: z.enum(["float", "base64"]).nullable().optional(),
  user: z.string().nullable().optional(),
  /** The purpose of the vectors (`search_query`, `passage`), if the model needs to know. */
  input_type: z.string().nullable().optional(),
});
export type CreateEmbeddings = z.infer<typeof CreateEmbeddings>;

/** One text to embed, as text or as tokens. */
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

/** Rejects with `invalid_request` and the name of the field. */
export function parseCreateEmbeddings(body: unknown): CreateEmbeddings {
  return parseAs(CreateEmbeddings, body, "request");
}

/** The texts to embed, one entry each. An empty text is refused, as the API does. */
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
