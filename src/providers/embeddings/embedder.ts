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

/** The vector in its direction, with the length 1: the product of two is then how alike they are. */
export function toUnit(values: ArrayLike<number>): Float32Array {
  const vector = Float32Array.from(values);
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
