import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { COPIED_TABLES, FIND_VALUES } from "../../../src/store/copy/copied-tables.ts";
import { openCopySource, toPageSql } from "../../../src/store/copy/copy-source.ts";
import { migrate } from "../../../src/store/sqlite/migrations.ts";
import { openConnection, type SqliteRow } from "../../../src/store/sqlite/sqlite-driver.ts";
import { newDatabasePath } from "../database-path.ts";

async function openTables() {
  const connection = await openConnection(":memory:");
  migrate(connection);
  connection.exec(FIND_VALUES);
  const all = (sql: string, ...values: number[]): SqliteRow[] =>
    connection.prepare(sql).all(...values);
  return { all, [Symbol.dispose]: () => connection.close() };
}

/** Tables without a meaning in another record, and those that Postgres makes itself. */
const LEFT_OUT = ["workers", "probe", "drafts", "blobs", "chunk_words"];
/** The columns with names of values; Postgres has the values themselves, or their parts. */
const NAMES = /_blob$|^parts(_bytes)?$/;

describe("the tables that are copied", () => {
  it("are all tables of SQLite, column by column", async () => {
    using tables = await openTables();
    const names = tables
      .all("select name from sqlite_schema where type = 'table'")
      .map(({ name }) => String(name))
      .filter((name) => !/^(sqlite_|chunk_words_)/.test(name) && !LEFT_OUT.includes(name));
    assert.deepEqual(COPIED_TABLES.map(({ name }) => name).sort(), names.sort());
    for (const { name, columns } of COPIED_TABLES) {
      const copied = columns.map((column) => column.name);
      const found = tables.all(`select name from pragma_table_info('${name}')`);
      const missing = found
        .map((row) => String(row["name"]))
        .filter((one) => !copied.includes(one));
      assert.deepEqual(
        missing.filter((one) => !NAMES.test(one)),
        [],
        name,
      );
    }
  });

  it("are read from any key on by an index, without sorting", async () => {
    using tables = await openTables();
    for (const table of COPIED_TABLES) {
      const values = [...table.key.map(() => 1), 10];
      const plan = tables
        .all(`explain query plan ${toPageSql(table, "1", true)}`, ...values)
        .map(({ detail }) => String(detail));
      assert.doesNotMatch(plan.join("\n"), /TEMP B-TREE/, table.name);
      assert.match(plan[0] ?? "", /^SEARCH/, table.name);
    }
  });
});

describe("the source of a copy", () => {
  it("that does not exist, or is not a record, is reported as by the other commands", async () => {
    await assert.rejects(openCopySource(newDatabasePath()), { code: "not_found" });
    await assert.rejects(openCopySource("/"), { code: "invalid_request", message: /is a folder/ });
  });
});
