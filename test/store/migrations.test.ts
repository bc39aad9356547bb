import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { migrate } from "../../src/store/sqlite/migrations.ts";
import { openConnection } from "../../src/store/sqlite/sqlite-driver.ts";

describe("migrate", () => {
  it("does only the missing steps", async () => {
    const connection = await openConnection(":memory:");
    const first = "create table notes (text)";
    const second = "alter table notes add column at integer";
    migrate(connection, [first]);
    connection.exec("insert into notes values ('kept')");
    migrate(connection, [first, second]);
    migrate(connection, [first, second]);
    assert.deepEqual(
      { ...connection.prepare("select * from notes").get() },
      { text: "kept", at: null },
    );
    assert.equal(connection.prepare("pragma user_version").get()?.["user_version"], 2);
    connection.close();
  });

  it("undoes a migration that fails in the middle", async () => {
    const connection = await openConnection(":memory:");
    assert.throws(() => migrate(connection, ["create table notes (text)", "create nonsense"]));
    const tables = connection.prepare("select count(*) as n from sqlite_schema").get();
    assert.equal(tables?.["n"], 0);
    connection.close();
  });
});
