import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { EXAMPLE_QUERIES, TABLE_DOCS } from "../../src/store/sqlite/schema-docs.ts";
import {
  openConnection,
  type SqliteConnection,
  type SqliteRow,
} from "../../src/store/sqlite/sqlite-driver.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import {
  call,
  childEnd,
  childStart,
  end,
  record,
  start,
  tool,
} from "../delegation/ledger-record.ts";

const directory = await mkdtemp(join(tmpdir(), "offshoot-schema-"));
after(() => rm(directory, { recursive: true, force: true }));

async function openRecord(name: string): Promise<SqliteConnection> {
  const path = join(directory, name);
  const logs = {
    run_0: [start("run_0", 1), ...call(1, 1, 2, 5), end(3)],
    run_1: [
      start("run_1", 1000),
      ...call(1, 1000, 1200, 0.5),
      childStart("run_1/a", "count", 1300),
      childEnd("run_1/a", "count"),
      end(3000),
    ],
    "run_1/a": [
      start("run_1/a", 1310, "count"),
      ...call(1, 1400, 1500, null),
      ...tool("read", 1500, 1600, true),
      ...tool("read", 1600, 1700),
    ],
  };
  await (await record(logs, await openSqliteStore(path))).close();
  return openConnection(path);
}

const query = (connection: SqliteConnection, title: string): SqliteRow[] => {
  const sql = EXAMPLE_QUERIES.find((example) => example.title === title)?.sql ?? "";
  // Plain objects: rows of SQLite have no prototype.
  return connection
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
};

describe("the documented tables", () => {
  it("are the real ones, column by column", async () => {
    const connection = await openRecord("columns.db");
    const names = connection
      .prepare("select name from sqlite_schema where type in ('table', 'view') order by name")
      .all()
      .map(({ name }) => String(name))
      // SQLite's own: how it keeps the index of words, and its counters.
      .filter((name) => !/^(chunk_words|sqlite)_/.test(name));
    assert.deepEqual(Object.keys(TABLE_DOCS).sort(), names);
    for (const [table, { columns }] of Object.entries(TABLE_DOCS)) {
      const real = connection.prepare(`select name from pragma_table_info('${table}')`).all();
      assert.deepEqual(
        Object.keys(columns),
        real.map(({ name }) => name),
        table,
      );
    }
    connection.close();
  });

  it("answer the example of a tree", async () => {
    const connection = await openRecord("tree.db");
    assert.deepEqual(query(connection, "The tree of the newest run"), [
      { depth: 0, title: "the prompt", ending: "completed", seconds: 1.999 },
      { depth: 1, title: "a", ending: "not ended", seconds: null },
    ]);
    connection.close();
  });

  it("answer the example of costs, with the unknown as unknown", async () => {
    const connection = await openRecord("costs.db");
    const model = "openai/gpt-x";
    const tokens = { input_tokens: 1200, output_tokens: 34 };
    assert.deepEqual(query(connection, "Tokens and dollars by subagent and model"), [
      {
        agent: "root",
        model,
        calls: 2,
        input_tokens: 2400,
        output_tokens: 68,
        known_usd: 5.5,
        calls_of_unknown_cost: 0,
      },
      { agent: "count", model, calls: 1, ...tokens, known_usd: null, calls_of_unknown_cost: 1 },
    ]);
    connection.close();
  });

  it("answer the example of failing tools", async () => {
    const connection = await openRecord("tools.db");
    assert.deepEqual(query(connection, "Tools that fail or are denied"), [
      { tool: "read", calls: 2, failed: 1, denied: 0 },
    ]);
    connection.close();
  });

  it("has an example for each test above", () => assert.equal(EXAMPLE_QUERIES.length, 3));
});
