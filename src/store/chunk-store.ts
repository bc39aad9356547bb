/**
 * Pieces of files that can be searched, by their words and by their embeddings. Every call names the tenant and the
 * vector store. Everything that can be long comes in pages or batches, so that a caller lets others work in between.
 * One suite tests all implementations (`test/store/chunks-contract.ts`).
 */

export interface ChunkStore {
  /**
   * Writes chunks of a file, replacing those with the same numbers; one transaction. `firstPart` is the number of the
   * first: two processes that write the same file at the same time leave it whole. With `run` it writes nothing and
   * returns false if the file's thing waits for another run, or for none.
   */
  put(
    place: FilePlace,
    firstPart: number,
    chunks: readonly NewChunk[],
    run?: string,
  ): Promise<boolean>;
  /** Removes the chunks of a file with this number and higher ones; 0 for all. */
  trim(place: FilePlace, fromPart: number): Promise<void>;
  deleteStore(place: StorePlace): Promise<void>;
  /** The chunks that have some of the words, the best first; any text is safe as a word. */
  findByWords(search: WordSearch): Promise<FoundChunk[]>;
  /** In how many chunks each word is, and how many chunks there are. */
  countWords(place: StorePlace, terms: readonly SearchTerm[]): Promise<WordCounts>;
  /** The embeddings that `model` made, page by page in a fixed order; pass the last one's place to continue. */
  readVectors(page: VectorPage): Promise<StoredVector[]>;
  /**
   * The chunks whose embeddings are most like a vector, found by the database. Undefined if it cannot find them: the
   * caller then reads the vectors and compares them. The result may lack a few of the best; the likeness of a found
   * chunk is exact.
   */
  findNearest(search: VectorSearch): Promise<Nearest | undefined>;
  getChunk(place: StorePlace, id: number): Promise<FoundChunk | undefined>;
  close(): Promise<void>;
}

export interface StorePlace {
  readonly tenant: string;
  readonly store: string;
}

export interface FilePlace extends StorePlace {
  readonly file: string;
}

export interface NewChunk {
  readonly text: string;
  /** Null without embeddings. */
  readonly embedding: { readonly vector: Float32Array; readonly model: string } | null;
}

/**
 * `word`: as a whole, or the beginning of one with `prefix`. `piece`: anywhere in the text, for scripts without
 * spaces, in which a search for words takes a sentence for one long word.
 */
export type SearchTerm =
  | { readonly kind: "word"; readonly text: string; readonly prefix: boolean }
  | { readonly kind: "piece"; readonly text: string };

export interface WordSearch extends StorePlace {
  readonly terms: readonly SearchTerm[];
  /** The weight of each term: a rare word says more. A store that counts words itself needs none. */
  readonly weights: readonly number[];
  /** Only chunks of these files; undefined for all. */
  readonly files: readonly string[] | undefined;
  readonly limit: number;
}

export interface WordCounts {
  readonly total: number;
  /** One for each term. */
  readonly counts: readonly number[];
}

export interface FoundChunk {
  readonly id: number;
  readonly file: string;
  readonly part: number;
  readonly text: string;
}

export interface VectorPage extends StorePlace {
  readonly model: string;
  readonly files: readonly string[] | undefined;
  readonly after: Pick<StoredVector, "file" | "part"> | undefined;
  readonly limit: number;
}

export interface StoredVector {
  readonly id: number;
  readonly file: string;
  readonly part: number;
  readonly vector: Float32Array;
}

export interface VectorSearch extends StorePlace {
  readonly model: string;
  /** The vector to compare with, of length 1, as all embeddings are. */
  readonly vector: Float32Array;
  /** Only chunks of these files; undefined for all. */
  readonly files: readonly string[] | undefined;
  /** No chunks of these files. */
  readonly except: readonly string[];
  /** How many of the best are wanted. */
  readonly count: number;
  /** Chunks whose likeness is wanted however alike they are; they are reported apart from the best. */
  readonly names: readonly number[];
}

export interface Near {
  readonly id: number;
  /** The product of two vectors of length 1, and 0 for opposite directions. */
  readonly likeness: number;
}

/** How alike the embedding that begins at `from` is. At most 1: sums of floats may be slightly higher. */
export function toLikeness(floats: Float32Array, from: number, vector: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += (floats[from + at] ?? 0) * (vector[at] ?? 0);
  return Math.min(1, Math.max(0, sum));
}

export interface Nearest {
  /** The best first; of equals the one with the lower number. */
  readonly best: readonly Near[];
  /** The likeness of the chunks that were asked for by their numbers. */
  readonly named: ReadonlyMap<number, number>;
}
