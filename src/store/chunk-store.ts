/**
 * Pieces of files that can be searched, by their words and by their embeddings. Every call names the
 * tenant and the vector store. Everything that can be long comes in pages or batches: whoever calls lets
 * others work in between. One suite holds for all implementations (`test/store/chunks-contract.ts`).
 */

export interface ChunkStore {
  /**
   * Writes chunks of a file, in place of those with their numbers; one transaction. `firstPart` is the
   * number of the first: two who write the same file at once leave it whole. With `run` it writes
   * nothing and returns false where the file's thing waits for another run, or for none.
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
  countWords(place: StorePlace, terms: readonly Term[]): Promise<WordCounts>;
  /** The embeddings that `model` made, page by page in a fixed order; give the last one's place to go on. */
  readVectors(page: VectorPage): Promise<StoredVector[]>;
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
  /** Null where there are no embeddings. */
  readonly embedding: { readonly vector: Float32Array; readonly model: string } | null;
}

/**
 * `word`: as a whole, or the beginning of one with `prefix`. `piece`: anywhere in the text, for
 * scripts that are written without spaces, which a search for words takes for one long word.
 */
export type Term =
  | { readonly kind: "word"; readonly text: string; readonly prefix: boolean }
  | { readonly kind: "piece"; readonly text: string };

export interface WordSearch extends StorePlace {
  readonly terms: readonly Term[];
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
