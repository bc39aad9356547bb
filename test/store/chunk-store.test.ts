import { after } from "node:test";
import { createSqliteChunks, openMemoryChunks } from "../../src/store/sqlite/sqlite-chunks.ts";
import { openDatabase, type SqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { describeChunks } from "./chunks-contract.ts";
import { newDatabasePath } from "./database-path.ts";

const databases: SqliteDatabase[] = [];
after(() => {
  for (const db of databases) db.close();
});

describeChunks("chunks in a file", async () => {
  const db = await openDatabase(newDatabasePath());
  databases.push(db);
  return createSqliteChunks(db);
});
describeChunks("chunks in memory", openMemoryChunks);
