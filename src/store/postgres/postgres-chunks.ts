/**
 * Chunks in the table `chunks`: words by `tsvector`, embeddings by pgvector if the database has its table
 * (`vector-table.ts`). The words are cut here and not by a configuration of the server: without case and accents, in
 * any language, as in the other stores.
 *
 * `ts_rank` knows how often a word is in a text and how long the text is, but not how rare the word is. So each word
 * is ranked by itself and multiplied by its weight, which together is what bm25 does.
 */

import type {
  ChunkStore,
  FilePlace,
  FoundChunk,
  Nearest,
  NewChunk,
  SearchTerm,
  StoredVector,
  StorePlace,
  VectorPage,
  VectorSearch,
  WordCounts,
  WordSearch,
} from "../chunk-store.ts";
import { once } from "../once.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import type { PostgresDatabase, Queries } from "./postgres-database.ts";
import type { PostgresRow, PostgresValue } from "./postgres-driver.ts";
import { findNearest } from "./postgres-nearest.ts";
import { findVectorTable, toHalfvec, toVector, VECTORS, type VectorTable } from "./vector-table.ts";

/** The caller closes the database; `close` of the chunks does nothing. */
export function createPostgresChunks(db: PostgresDatabase): ChunkStore {
  return new PostgresChunks(db);
}

const IN_FILE = "tenant = $1 and store = $2 and file = $3";
const IN_STORE = "tenant = $1 and store = $2";
const IN_FILES = "($3::text[] is null or file = any($3))";
const FOUND = "id, file, part, text";

class PostgresChunks implements ChunkStore {
  readonly #db: PostgresDatabase;
  /** A process that was started before the table was created works without it; the table's trigger fills it. */
  readonly #table: () => Promise<VectorTable | undefined>;

  constructor(db: PostgresDatabase) {
    this.#db = db;
    this.#table = once(() => findVectorTable(db));
  }

  async put(
    place: FilePlace,
    firstPart: number,
    chunks: readonly NewChunk[],
    run?: string,
  ): Promise<boolean> {
    const at = [...toStore(place), toColumn(place.file)];
    const insert = toInsert(await this.#table());
    return await this.#db.transact(async (tx) => {
      if (run !== undefined && !(await isWaited(tx, place, run))) return false;
      const old = `delete from offshoot.chunks where ${IN_FILE} and part >= $4 and part < $5`;
      await tx.run(old, ...at, firstPart, firstPart + chunks.length);
      for (const [index, { text, embedding }] of chunks.entries()) {
        const words = [toStoredText(text), toWords(text)];
        await insert(tx, [...at, firstPart + index, ...words], embedding);
      }
      return true;
    });
  }

  async trim(place: FilePlace, fromPart: number): Promise<void> {
    const sql = `delete from offshoot.chunks where ${IN_FILE} and part >= $4`;
    const values = [...toStore(place), toColumn(place.file), fromPart];
    await this.#db.write(({ run }) => run(sql, ...values));
  }

  async deleteStore(place: StorePlace): Promise<void> {
    const sql = `delete from offshoot.chunks where ${IN_STORE}`;
    await this.#db.write(({ run }) => run(sql, ...toStore(place)));
  }

  async findByWords(search: WordSearch): Promise<FoundChunk[]> {
    const { terms, weights, files, limit, ...place } = search;
    const pieces = terms.filter((term) => term.kind === "piece").map(({ text }) => text);
    const words = terms.flatMap((term, at) => {
      const query = toQuery(term);
      return query === "" ? [] : [{ query, weight: weights[at] ?? 1 }];
    });
    const found = new Map<number, FoundChunk>();
    const among = [...toStore(place), toFiles(files)];
    if (words.length > 0) {
      const rank = words.map(
        (_, at) => `$${2 * at + 6}::float8 * ts_rank(words, $${2 * at + 7}::tsquery, ${BY_LENGTH})`,
      );
      const sql = `select ${FOUND} from offshoot.chunks
        where ${IN_STORE} and ${IN_FILES} and words @@ $4::tsquery
        order by ${rank.join(" + ")} desc, id limit $5`;
      const any = words.map(({ query }) => query).join(" | ");
      const ranked = words.flatMap(({ weight, query }) => [weight, query]);
      await this.#add(found, sql, [...among, any, limit, ...ranked]);
    }
    if (pieces.length > 0) {
      const has = pieces.map((_, at) => `(strpos(text, $${at + 5}) > 0)::int`).join(" + ");
      const sql = `select * from (select ${FOUND}, ${has} as hits from offshoot.chunks
          where ${IN_STORE} and ${IN_FILES}) as counted
        where hits > 0 order by hits desc, id limit $4`;
      await this.#add(found, sql, [...among, limit, ...pieces]);
    }
    return [...found.values()];
  }

  async countWords(place: StorePlace, terms: readonly SearchTerm[]): Promise<WordCounts> {
    const count = async (condition: string, ...values: PostgresValue[]): Promise<number> => {
      const sql = `select count(*) as n from offshoot.chunks where ${IN_STORE} and ${condition}`;
      return Number((await this.#db.get(sql, ...toStore(place), ...values))?.["n"] ?? 0);
    };
    const counts: number[] = [];
    for (const term of terms) {
      const query = toQuery(term);
      if (term.kind === "piece") counts.push(await count("strpos(text, $3) > 0", term.text));
      else counts.push(query === "" ? 0 : await count("words @@ $3::tsquery", query));
    }
    return { total: await count("true"), counts };
  }

  async readVectors({ model, files, after, limit, ...place }: VectorPage): Promise<StoredVector[]> {
    const sql = `select id, file, part, embedding from offshoot.chunks
      where ${IN_STORE} and ${IN_FILES} and (file, part) > ($4, $5) and model = $6
        and embedding is not null order by file, part limit $7`;
    const from = after ? [toColumn(after.file), after.part] : ["", -1];
    const rows = await this.#db.all(sql, ...toStore(place), toFiles(files), ...from, model, limit);
    return rows.map((row) => ({
      id: Number(row["id"]),
      file: fromColumn(row["file"]),
      part: Number(row["part"]),
      vector: toVector(row["embedding"]),
    }));
  }

  async findNearest(search: VectorSearch): Promise<Nearest | undefined> {
    const table = await this.#table();
    return table && (await findNearest(this.#db, table, search));
  }

  async getChunk(place: StorePlace, id: number): Promise<FoundChunk | undefined> {
    const sql = `select ${FOUND} from offshoot.chunks where ${IN_STORE} and id = $3`;
    const row = await this.#db.get(sql, ...toStore(place), id);
    return row && toChunk(row);
  }

  async close(): Promise<void> {}

  async #add(
    found: Map<number, FoundChunk>,
    sql: string,
    values: readonly PostgresValue[],
  ): Promise<void> {
    for (const row of await this.#db.all(sql, ...values))
      found.set(Number(row["id"]), toChunk(row));
  }
}

/** A flag of `ts_rank`: divided by 1 + the logarithm of the text's length. */
const BY_LENGTH = 1;

const INSERT = `insert into offshoot.chunks (tenant, store, file, part, text, words, embedding, model)
  values ($1, $2, $3, $4, $5, $6::tsvector, $7, $8)`;

type Insert = (
  tx: Queries,
  values: readonly PostgresValue[],
  embedding: NewChunk["embedding"],
) => Promise<unknown>;

/** A chunk and its vector are one statement. The table's trigger runs after it, and finds the row there. */
function toInsert(table: VectorTable | undefined): Insert {
  const both = `with made as (${INSERT} returning id)
    insert into ${VECTORS} (chunk_id, tenant, store, file, model, length, vector)
    select id, $1, $2, $3, $8, $9, $10::${table?.schema}.halfvec from made`;
  return async (tx, values, embedding) => {
    if (!embedding) return await tx.run(INSERT, ...values, null, null);
    const { vector, model } = embedding;
    const half = table && toHalfvec(vector);
    if (!half) return await tx.run(INSERT, ...values, toBytes(vector), model);
    return await tx.run(both, ...values, toBytes(vector), model, vector.length, half);
  };
}

async function isWaited(
  tx: Queries,
  { tenant, store, file }: FilePlace,
  run: string,
): Promise<boolean> {
  const sql = `select 1 from offshoot.things
    where tenant = $1 and kind = 'vector_store.file' and id = $2
      and body::json ->> 'status' = 'in_progress' and body::json ->> 'run_id' = $3 for key share`;
  return (await tx.get(sql, toColumn(tenant), toColumn(`${store}/${file}`), run)) !== undefined;
}

/** Lower case, without accents; a word is a run of letters and digits. */
function cut(text: string): string[] {
  const plain = text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase();
  return plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [];
}

/** The longest that Postgres keeps is 2,046 bytes; searches do not need more of a word. */
const MAX_WORD = 500;
/** Positions beyond this one count as this one. */
const MAX_POSITION = 16_383;
/** Positions of one word that Postgres keeps. */
const MAX_POSITIONS = 255;

/** The value of the column `words` for a text. */
export function toWords(text: string): string {
  const positions = new Map<string, number[]>();
  for (const [at, word] of cut(text).entries()) {
    const name = word.slice(0, MAX_WORD);
    const known = positions.get(name) ?? [];
    if (known.length < MAX_POSITIONS) known.push(Math.min(at + 1, MAX_POSITION));
    positions.set(name, known);
  }
  return [...positions].map(([word, at]) => `'${word}':${at.join(",")}`).join(" ");
}

/** Letters and digits need no escape between quotes. Several words of one term must be next to each other. */
function toQuery(term: SearchTerm): string {
  if (term.kind === "piece") return "";
  const words = cut(term.text).map((word) => `'${word.slice(0, MAX_WORD)}'`);
  if (words.length === 0) return "";
  return `(${words.join(" <-> ")}${term.prefix ? ":*" : ""})`;
}

/** A file's text may have characters that a column refuses; only people and models read it. */
function toStoredText(text: string): string {
  return text.replaceAll(/[\0\p{Surrogate}]/gu, "\ufffd");
}

function toStore({ tenant, store }: StorePlace): string[] {
  return [toColumn(tenant), toColumn(store)];
}

function toFiles(files: readonly string[] | undefined): PostgresValue {
  return files ? files.map(toColumn) : null;
}

function toChunk(row: PostgresRow): FoundChunk {
  return {
    id: Number(row["id"]),
    file: fromColumn(row["file"]),
    part: Number(row["part"]),
    text: String(row["text"]),
  };
}

function toBytes({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
