/** The contract of what turns texts into vectors that are near where the texts mean the same. */

export interface Embedder {
  /** Names what makes the vectors: those of another one cannot be compared with them. */
  readonly model: string;
  /** One vector for each text, of length 1, in the order of the texts. Rejects with a `Failure`. */
  embed(texts: readonly string[], signal: AbortSignal, told?: OnTokens): Promise<Float32Array[]>;
  /** US dollars for so many tokens; undefined, or left out, where the price is not known. */
  costOf?(tokens: number): number | undefined;
}

/** Told of each request how many tokens the server counted, where it says so. */
export type OnTokens = (tokens: number) => void;

/** A model that clients ask for embeddings by its name. */
export interface EmbeddingModel {
  /** Whether tokens may stand in place of a text. */
  readonly takesTokens: boolean;
  /**
   * US dollars for so many tokens; undefined where the price is not known. Where there are several
   * deployments and none is named it is the most that one of them takes.
   */
  costOf(tokens: number, deployment?: string): number | undefined;
  /** One vector for each text, in their order, as the model gives it. Rejects with a `Failure`. */
  embed(
    request: Omit<EmbeddingRequest, "model">,
    call: EmbeddingCall,
  ): Promise<readonly (readonly number[])[]>;
}

export interface EmbeddingRequest {
  /** The vendor's own name of the model. */
  readonly model: string;
  /** Texts, or tokens where the model takes them. */
  readonly input: readonly (string | readonly number[])[];
  /** How long the vectors are to be; the model's own length where it is left out. */
  readonly dimensions?: number | undefined;
  readonly user?: string | undefined;
  /** What the vectors are for, in the vendor's words. */
  readonly inputType?: string | undefined;
}

export interface EmbeddingCall {
  readonly signal: AbortSignal;
  /**
   * Told what each part of the request took, as it comes: one that fails in its middle is paid as far as it
   * went. Tokens are undefined where the vendor does not count them; the deployment is named where there
   * are several.
   */
  readonly told?: ToldBatch | undefined;
}

export type ToldBatch = (
  batch: Pick<EmbeddingRequest, "input">,
  tokens: number | undefined,
  deployment?: string,
) => void;

/** The vector in its direction, with the length 1: the product of two is then how alike they are. */
export function toUnit(values: ArrayLike<number>): Float32Array {
  const vector = Float32Array.from(values);
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
