/**
 * Chunks in the tables `chunks` and `chunk_words`: words by FTS5, ranked by bm25. Calls are synchronous
 * inside. In memory they are tables, too, of a database that has no file: FTS5 is not written twice.
 */

import type {
  ChunkStore,
  FilePlace,
  FoundChunk,
  NewChunk,
  SearchTerm,
  StoredVector,
  StorePlace,
  VectorPage,
  WordCounts,
  WordSearch,
} from "../chunk-store.ts";
import { fromColumn, toColumn } from "../text-column.ts";
import { migrate } from "./migrations.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import {
  openConnection,
  type SqliteConnection,
  type SqliteRow,
  type SqliteValue,
} from "./sqlite-driver.ts";

/** The caller closes the database; `close` of the chunks does nothing. */
export function createSqliteChunks(db: SqliteDatabase): ChunkStore {
  return new SqliteChunks(db, true, async () => {});
}

/** Chunks in memory, for servers that must touch no disk. */
export async function openMemoryChunks(): Promise<ChunkStore> {
  const connection = await openConnection(":memory:");
  let hasTables = false;
  /** Makes the tables when they are first used: most servers that keep nothing search nothing. */
  const used = (): SqliteConnection => {
    if (!hasTables) migrate(connection);
    hasTables = true;
    return connection;
  };
  const db: Queries = {
    async write(_, work) {
      used().exec("begin");
      try {
        const result = work();
        connection.exec("commit");
        return result;
      } catch (thrown) {
        connection.exec("rollback");
        throw thrown;
      }
    },
    run: (sql, ...values) =>
      Number(
        used()
          .prepare(sql)
          .run(...values).changes,
      ),
    get: (sql, ...values) =>
      used()
        .prepare(sql)
        .get(...values),
    all: (sql, ...values) =>
      used()
        .prepare(sql)
        .all(...values),
  };
  return new SqliteChunks(db, false, async () => connection.close());
}

type Queries = Omit<SqliteDatabase, "close" | "transact">;

const IN_FILE = "tenant = ? and store = ? and file = ?";
const IN_STORE = "c.tenant = ? and c.store = ?";
const IN_FILES = "(? is null or c.file in (select value from json_each(?)))";

class SqliteChunks implements ChunkStore {
  readonly #db: Queries;
  /** True if the things of vector stores are in the same database. */
  readonly #hasThings: boolean;
  readonly close: () => Promise<void>;

  constructor(db: Queries, hasThings: boolean, close: () => Promise<void>) {
    this.#db = db;
    this.#hasThings = hasThings;
    this.close = close;
  }

  async put(
    place: FilePlace,
    firstPart: number,
    chunks: readonly NewChunk[],
    run?: string,
  ): Promise<boolean> {
    const sql = `insert into chunks (tenant, store, file, part, text, embedding, model)
      values (?, ?, ?, ?, ?, ?, ?)`;
    const at = [...toStore(place), toColumn(place.file)];
    return await this.#db.write("process", () => {
      if (run !== undefined && !this.#isWaited(place, run)) return false;
      const old = `delete from chunks where ${IN_FILE} and part >= ? and part < ?`;
      this.#db.run(old, ...at, firstPart, firstPart + chunks.length);
      for (const [index, { text, embedding }] of chunks.entries()) {
        const bytes = embedding ? toBytes(embedding.vector) : null;
        this.#db.run(sql, ...at, firstPart + index, text, bytes, embedding?.model ?? null);
      }
      return true;
    });
  }

  async trim(place: FilePlace, fromPart: number): Promise<void> {
    const sql = `delete from chunks where ${IN_FILE} and part >= ?`;
    const values = [...toStore(place), toColumn(place.file), fromPart];
    await this.#db.write("process", () => this.#db.run(sql, ...values));
  }

  async deleteStore(place: StorePlace): Promise<void> {
    const sql = "delete from chunks where tenant = ? and store = ?";
    await this.#db.write("process", () => this.#db.run(sql, ...toStore(place)));
  }

  async findByWords({ terms, files, limit, ...place }: WordSearch): Promise<FoundChunk[]> {
    const words = terms.filter(isWord);
    const pieces = terms.filter((term) => !isWord(term));
    const found = new Map<number, FoundChunk>();
    const among = [...toStore(place), ...toFiles(files)];
    if (words.length > 0) {
      const sql = `select c.id, c.file, c.part, c.text from chunk_words as w
        join chunks as c on c.id = w.rowid
        where chunk_words match ? and ${IN_STORE} and ${IN_FILES} order by bm25(chunk_words) limit ?`;
      this.#add(found, sql, [words.map(toMatch).join(" OR "), ...among, limit]);
    }
    if (pieces.length > 0) {
      const has = pieces.map(() => "(instr(c.text, ?) > 0)").join(" + ");
      const sql = `select * from (select c.id, c.file, c.part, c.text, ${has} as hits
        from chunks as c where ${IN_STORE} and ${IN_FILES}) where hits > 0 order by hits desc, id limit ?`;
      this.#add(found, sql, [...pieces.map(({ text }) => text), ...among, limit]);
    }
    return [...found.values()];
  }

  async countWords(place: StorePlace, terms: readonly SearchTerm[]): Promise<WordCounts> {
    const at = toStore(place);
    const count = (sql: string, ...values: SqliteValue[]): number =>
      Number(this.#db.get(sql, ...values)?.["n"] ?? 0);
    const total = count(`select count(*) as n from chunks as c where ${IN_STORE}`, ...at);
    const counts = terms.map((term) =>
      isWord(term) ? count(COUNT_WORD, toMatch(term), ...at) : count(COUNT_PIECE, term.text, ...at),
    );
    return { total, counts };
  }

  async readVectors({ model, files, after, limit, ...place }: VectorPage): Promise<StoredVector[]> {
    const sql = `select c.id, c.file, c.part, c.embedding from chunks as c
      where ${IN_STORE} and (c.file, c.part) > (?, ?) and ${IN_FILES}
        and c.model = ? and c.embedding is not null
      order by c.file, c.part limit ?`;
    const from = after ? [toColumn(after.file), after.part] : ["", -1];
    const values = [...toStore(place), ...from, ...toFiles(files), model, limit];
    return this.#db.all(sql, ...values).map((row) => ({
      id: Number(row["id"]),
      file: fromColumn(row["file"]),
      part: Number(row["part"]),
      vector: toVector(row["embedding"] as Uint8Array),
    }));
  }

  /** SQLite has no index for them. */
  async findNearest(): Promise<undefined> {}

  async getChunk(place: StorePlace, id: number): Promise<FoundChunk | undefined> {
    const sql = `select id, file, part, text from chunks as c where ${IN_STORE} and c.id = ?`;
    const row = this.#db.get(sql, ...toStore(place), id);
    return row && toChunk(row);
  }

  /** In memory the things are elsewhere: there the writer is stopped before the file is removed. */
  #isWaited({ tenant, store, file }: FilePlace, run: string): boolean {
    if (!this.#hasThings) return true;
    const sql = `select 1 from things where tenant = ? and kind = 'vector_store.file' and id = ?
      and body ->> 'status' = 'in_progress' and body ->> 'run_id' = ?`;
    return this.#db.get(sql, toColumn(tenant), toColumn(`${store}/${file}`), run) !== undefined;
  }

  #add(found: Map<number, FoundChunk>, sql: string, values: readonly SqliteValue[]): void {
    for (const row of this.#db.all(sql, ...values)) found.set(Number(row["id"]), toChunk(row));
  }
}

const COUNT_WORD = `select count(*) as n from chunk_words as w join chunks as c on c.id = w.rowid
  where chunk_words match ? and ${IN_STORE}`;
const COUNT_PIECE = `select count(*) as n from chunks as c where instr(c.text, ?) > 0 and ${IN_STORE}`;

function isWord(term: SearchTerm): term is Extract<SearchTerm, { kind: "word" }> {
  return term.kind === "word";
}

/** Between quotes nothing is syntax, and FTS5 reads the word as it read the texts. */
function toMatch({ text, prefix }: { readonly text: string; readonly prefix: boolean }): string {
  return `"${text.replaceAll('"', '""')}"${prefix ? "*" : ""}`;
}

function toStore({ tenant, store }: StorePlace): string[] {
  return [toColumn(tenant), toColumn(store)];
}

function toFiles(files: readonly string[] | undefined): (string | null)[] {
  const list = files ? JSON.stringify(files.map(toColumn)) : null;
  return [list, list];
}

function toChunk(row: SqliteRow): FoundChunk {
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

/** Copied, because the driver's bytes may not begin where floats may. */
function toVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}
