/**
 * The contract of an embedder: it turns texts into vectors that are near each other if the texts mean the
 * same.
 */

export interface Embedder {
  /** The name of the model. Vectors of different models cannot be compared. */
  readonly model: string;
  /** One vector for each text, of length 1, in the order of the texts. Rejects with a `Failure`. */
  embed(texts: readonly string[], signal: AbortSignal, told?: OnTokens): Promise<Float32Array[]>;
  /** US dollars for that many tokens; undefined, or missing, if the price is not known. */
  costOf?(tokens: number): number | undefined;
}

/** Called for each request with the number of tokens that the server counted, if it reports one. */
export type OnTokens = (tokens: number) => void;

/** A model that clients ask for embeddings by its name. */
export interface EmbeddingModel {
  /** True if tokens may be sent in place of a text. */
  readonly takesTokens: boolean;
  /**
   * US dollars for that many tokens; undefined if the price is not known. For several deployments and no
   * name, the highest price of them.
   */
  costOf(tokens: number, deployment?: string): number | undefined;
  /** One vector for each text, in their order, unchanged from the model. Rejects with a `Failure`. */
  embed(
    request: Omit<EmbeddingRequest, "model">,
    call: EmbeddingCall,
  ): Promise<readonly (readonly number[])[]>;
}

export interface EmbeddingRequest {
  /** The vendor's own name of the model. */
  readonly model: string;
  /** Texts, or tokens if the model accepts them. */
  readonly input: readonly (string | readonly number[])[];
  /** The length of the vectors; the model's own length if missing. */
  readonly dimensions?: number | undefined;
  readonly user?: string | undefined;
  /** The use of the vectors, in the vendor's words. */
  readonly inputType?: string | undefined;
}

export interface EmbeddingCall {
  readonly signal: AbortSignal;
  /**
   * Called with the tokens of each part of the request as its answer arrives: a request that fails in the
   * middle is paid up to that point. Tokens are undefined if the vendor does not count them; the deployment
   * is named if there are several.
   */
  readonly told?: ToldBatch | undefined;
}

export type ToldBatch = (
  batch: Pick<EmbeddingRequest, "input">,
  tokens: number | undefined,
  deployment?: string,
) => void;

/** Scales a vector to length 1. The product of two such vectors says how similar they are. */
export function toUnit(values: ArrayLike<number>): Float32Array {
  const vector = Float32Array.from(values);
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
