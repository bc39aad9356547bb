/**
 * Searches vector stores: always by words, by meaning if there are embeddings, and by both at once with weights. A
 * chunk's score is the weighted mean of its two, each of 0 to 1; of several questions the best score counts.
 */

import type { Payer } from "../../agent/payer.ts";
import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { parseAs } from "../../protocol/parse.ts";
import type { FoundChunk, Nearest, StorePlace } from "../../store/chunk-store.ts";
import type { Thing } from "../../store/shelf.ts";
import type { FileAttributes, Filter } from "./filters.ts";
import {
  findPayer,
  findStore,
  type KeptStoreFile,
  readStoreFile,
  readStoreFiles,
  type VectorParts,
} from "./kept-store.ts";
import { findNearest } from "./nearest.ts";
import { embedPaid } from "./paid-embedding.ts";
import { parseWish, SearchRequest, type SearchWish } from "./search-request.ts";
import { scoreText, toTerms, weighTerms } from "./search-terms.ts";
import { isExpired, touchStore } from "./stores.ts";
import type { VectorBlock } from "./vector-memory.ts";

export interface SearchHit {
  readonly vectorStoreId: string;
  readonly fileId: string;
  readonly filename: string;
  readonly score: number;
  readonly attributes: FileAttributes;
  readonly text: string;
}

/** The most chunks found by words, before the best of them are taken. */
const MAX_WORD_HITS = 200;

export interface SearchPage {
  readonly object: "vector_store.search_results.page";
  readonly search_query: readonly string[];
  readonly data: readonly {
    readonly file_id: string;
    readonly filename: string;
    readonly score: number;
    readonly attributes: FileAttributes;
    readonly content: readonly { readonly type: "text"; readonly text: string }[];
  }[];
  readonly has_more: false;
  readonly next_page: null;
}

/** The API's own, if a request does not say. */
const USUAL_RESULTS = 10;

export async function searchStore(
  parts: VectorParts,
  tenant: string,
  { store, body }: { readonly store: string; readonly body: unknown },
  signal: AbortSignal,
): Promise<SearchPage> {
  const { query } = parseAs(SearchRequest, body, "request");
  const queries = typeof query === "string" ? [query] : query;
  const wish = parseWish(body, queries, USUAL_RESULTS);
  const searching = { signal, payer: findPayer(parts, parts.keyId) };
  const hits = await searchStores(parts, { tenant, stores: [store] }, wish, searching);
  return {
    object: "vector_store.search_results.page",
    search_query: queries,
    data: hits.map(({ fileId, filename, score, attributes, text }) => ({
      file_id: fileId,
      filename,
      score,
      attributes,
      content: [{ type: "text", text }],
    })),
    has_more: false,
    next_page: null,
  };
}

interface Among {
  readonly tenant: string;
  readonly stores: readonly string[];
}

export interface StoreSearchOptions {
  readonly signal: AbortSignal;
  /** Pays for the embeddings of the questions. */
  readonly payer?: Payer | undefined;
}

/** The best first. Rejects with `not_found` if a store does not exist or has expired. */
export async function searchStores(
  parts: VectorParts,
  { tenant, stores }: Among,
  wish: SearchWish,
  { signal, payer }: StoreSearchOptions,
): Promise<SearchHit[]> {
  const things = await findStores(parts, { tenant, stores });
  const vectors = await embedQueries(parts, wish, { signal, payer });
  const hits: SearchHit[] = [];
  for (const thing of things) {
    await touchStore(parts, thing);
    hits.push(...(await searchOne(parts, thing, wish, vectors)));
  }
  return hits.sort((a, b) => b.score - a.score).slice(0, wish.maxResults);
}

/** Rejects with `not_found`, as a search would. */
export async function findStores(parts: VectorParts, { tenant, stores }: Among): Promise<Thing[]> {
  const things: Thing[] = [];
  for (const id of new Set(stores)) {
    const thing = await findStore(parts, tenant, id);
    if (isExpired(thing, parts.clock.now())) {
      const message = `The vector store \`${clip(id, 80)}\` has expired.`;
      throw new Failure("not_found", message, { param: "vector_store_id" });
    }
    things.push(thing);
  }
  return things;
}

async function embedQueries(
  { embedder }: VectorParts,
  { queries, weights }: SearchWish,
  { signal, payer }: StoreSearchOptions,
): Promise<readonly Float32Array[]> {
  if (!embedder || weights.embedding === 0) return [];
  return await embedPaid(embedder, { texts: queries, signal }, payer);
}

async function searchOne(
  parts: VectorParts,
  { tenant, id: store }: Thing,
  wish: SearchWish,
  vectors: readonly Float32Array[],
): Promise<SearchHit[]> {
  const { files, unfinished } = await readFiles(parts, { tenant, store }, wish.filter);
  const place: Place = {
    tenant,
    store,
    files: wish.filter ? [...files.keys()] : undefined,
    unfinished,
    searched: [...files.values()],
  };
  const best = new Map<number, { score: number; chunk: FoundChunk | undefined }>();
  for (const [at, query] of wish.queries.entries()) {
    const scored = await scoreQuery(parts, place, { query, vector: vectors[at], wish });
    for (const [id, { score, chunk }] of scored) {
      if (score > (best.get(id)?.score ?? 0)) best.set(id, { score, chunk });
    }
  }
  const taken = [...best]
    .filter(([, { score }]) => score >= wish.scoreThreshold)
    .sort(([a, { score }], [b, { score: other }]) => other - score || a - b)
    .slice(0, wish.maxResults);
  const hits: SearchHit[] = [];
  for (const [id, { score, chunk }] of taken) {
    const found = chunk ?? (await parts.chunks.getChunk({ tenant, store }, id));
    const kept = found && files.get(found.file);
    if (found && kept) hits.push(toHit(store, found, kept, score));
  }
  return hits;
}

interface ReadFiles {
  /** The files that match the filter, by their ids. */
  readonly files: ReadonlyMap<string, KeptStoreFile>;
  /** Files that are still being indexed: some of their chunks may be stored. */
  readonly unfinished: readonly string[];
}

async function readFiles(
  { shelf }: VectorParts,
  { tenant, store }: StorePlace,
  filter: Filter | undefined,
): Promise<ReadFiles> {
  const files = new Map<string, KeptStoreFile>();
  const unfinished: string[] = [];
  for await (const thing of readStoreFiles(shelf, tenant, store)) {
    const kept = readStoreFile(thing);
    if (kept.status === "in_progress") unfinished.push(kept.file_id);
    if (kept.status === "completed" && (!filter || filter(kept.attributes))) {
      files.set(kept.file_id, kept);
    }
  }
  return { files, unfinished };
}

interface Question {
  readonly query: string;
  readonly vector: Float32Array | undefined;
  readonly wish: SearchWish;
}

type Scored = Map<number, { score: number; chunk: FoundChunk | undefined }>;

interface Place extends StorePlace {
  /** Only these files, by their ids; undefined for all. */
  readonly files: readonly string[] | undefined;
  readonly unfinished: readonly string[];
  readonly searched: Iterable<KeptStoreFile>;
}

/** Chunks with its words, and as many of the nearest others as can be among the results. */
async function scoreQuery(
  parts: VectorParts,
  place: Place,
  { query, vector, wish: { weights, maxResults } }: Question,
): Promise<Scored> {
  const { chunks, embedder } = parts;
  // Without a vector only words count, whatever their weight.
  const embeddingWeight = vector ? weights.embedding : 0;
  const textWeight = vector ? weights.text : 1;
  const sum = embeddingWeight + textWeight;
  const scored: Scored = new Map();
  const terms = textWeight > 0 ? toTerms(query) : [];
  if (terms.length > 0) {
    const counts = await chunks.countWords(place, terms);
    const weights = weighTerms(terms, counts);
    const found = await chunks.findByWords({ ...place, terms, weights, limit: MAX_WORD_HITS });
    for (const chunk of found) {
      const score = (textWeight * scoreText(chunk.text, terms, counts)) / sum;
      scored.set(chunk.id, { score, chunk });
    }
  }
  if (!vector || !embedder) return scored;
  const asked = { model: embedder.model, vector, count: maxResults, names: scored };
  const { best, named } = await findNearestChunks(parts, place, asked);
  const add = (id: number, likeness: number): void => {
    const known = scored.get(id);
    const score = (known?.score ?? 0) + (embeddingWeight * likeness) / sum;
    scored.set(id, { score, chunk: known?.chunk });
  };
  for (const [id, likeness] of named) add(id, likeness);
  for (const { id, likeness } of best) add(id, likeness);
  return scored;
}

interface AskedNearest {
  readonly model: string;
  readonly vector: Float32Array;
  readonly count: number;
  readonly names: ReadonlyMap<number, unknown>;
}

/** By the database if it can, else by comparing the vectors here. */
async function findNearestChunks(
  parts: VectorParts,
  place: Place,
  { model, vector, count, names }: AskedNearest,
): Promise<Nearest> {
  const { tenant, store, files, unfinished } = place;
  const found = await parts.chunks.findNearest({
    tenant,
    store,
    model,
    vector,
    files,
    except: unfinished,
    count,
    names: [...names.keys()],
  });
  return found ?? (await findNearest(readBlocks(parts, place, model), { vector, count, names }));
}

async function* readBlocks(
  { vectors }: VectorParts,
  { tenant, store, searched }: Place,
  model: string,
): AsyncGenerator<VectorBlock> {
  const read = vectors.search({ tenant, store }, model);
  for (const file of searched) yield await read(file);
}

function toHit(store: string, chunk: FoundChunk, file: KeptStoreFile, score: number): SearchHit {
  return {
    vectorStoreId: store,
    fileId: chunk.file,
    filename: file.filename,
    score: Math.round(score * 1e4) / 1e4,
    attributes: file.attributes,
    text: chunk.text,
  };
}
