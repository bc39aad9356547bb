import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { openConnection } from "../../src/store/sqlite/sqlite-driver.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { describeStore, ended, newRun, notices } from "./store-contract.ts";
import { describeStoreModel } from "./store-model.ts";
import { describeTurns } from "./turns-contract.ts";

const directory = await mkdtemp(join(tmpdir(), "offshoot-store-"));
after(() => rm(directory, { recursive: true, force: true }));

let files = 0;
const newPath = (): string => join(directory, `store-${files++}`, "offshoot.db");

describeStore("SQLite store", () => openSqliteStore(newPath()));
describeStoreModel("SQLite store", () => openSqliteStore(newPath()));
describeTurns("SQLite store", () => openSqliteStore(newPath()));

describe("SQLite store: the file", () => {
  it("is for the user alone, as is the directory made for it", async () => {
    const path = newPath();
    const store = await openSqliteStore(path);
    await store.createRun(newRun("run_1"));
    for (const file of [path, `${path}-wal`, `${path}-shm`]) {
      assert.equal((await stat(file)).mode & 0o777, 0o600, file);
    }
    assert.equal((await stat(join(path, ".."))).mode & 0o777, 0o700);
    await store.close();
  });

  it("keeps everything after closing and opening", async () => {
    const path = newPath();
    const first = await openSqliteStore(path);
    await first.createRun(newRun("run_1"));
    await first.claim("run_1", "worker_1");
    await first.append("run_1", 1, 0, notices(3));
    await first.saveStep("run_1", 1, { key: "a", value: "ü" });
    await first.close();
    const second = await openSqliteStore(path);
    assert.equal((await second.readEvents("run_1", -1, 10)).length, 3);
    assert.equal((await second.readSteps("run_1")).get("a"), "ü");
    await second.close();
  });

  it("fences between two connections to one file", async () => {
    const path = newPath();
    const zombie = await openSqliteStore(path);
    const owner = await openSqliteStore(path);
    await zombie.createRun(newRun("run_1"));
    assert.equal(await owner.createRun(newRun("run_1")), false);
    await zombie.claim("run_1", "worker_1");
    await zombie.append("run_1", 1, 0, notices(2));
    assert.equal(await owner.claim("run_1", "worker_2"), 2);
    await owner.append("run_1", 2, 2, notices(1, 2));
    await assert.rejects(zombie.append("run_1", 1, 2, notices(1)), { code: "fenced" });
    await assert.rejects(zombie.finish("run_1", 1, ended(3)), { code: "fenced" });
    assert.equal((await zombie.readEvents("run_1", -1, 10)).length, 3);
    await Promise.all([zombie.close(), owner.close()]);
  });

  it("is created once when several open it at the same time", async () => {
    const path = newPath();
    const stores = await Promise.all(Array.from({ length: 5 }, () => openSqliteStore(path)));
    for (const [index, store] of stores.entries()) await store.createRun(newRun(`run_${index}`));
    assert.equal((await stores[0]?.listRuns({ limit: 10 }))?.length, 5);
    for (const store of stores) await store.close();
  });

  it("puts a batch in one row and large values in blobs that are removed with their run", async () => {
    const path = newPath();
    const store = await openSqliteStore(path);
    await store.createRun(newRun("run_1", { input: "x".repeat(300_000) }));
    await store.claim("run_1", "worker_1");
    await store.append("run_1", 1, 0, notices(300));
    await store.saveStep("run_1", 1, { key: "a", value: "y".repeat(300_000) });
    const sql = await openConnection(path);
    const count = (table: string): number =>
      Number(sql.prepare(`select count(*) as n from ${table}`).get()?.["n"]);
    assert.deepEqual([count("events"), count("run_events"), count("blobs")], [1, 300, 2]);
    assert.deepEqual(
      [count("runs where input is null"), count("steps where value is null")],
      [1, 1],
    );
    const event = sql.prepare("select type, event from run_events where seq = 299").get();
    assert.equal(event?.["type"], "notice");
    assert.deepEqual(JSON.parse(String(event?.["event"])), notices(1, 299)[0]);
    await store.deleteRun("run_1");
    assert.deepEqual([count("events"), count("steps"), count("blobs")], [0, 0, 0]);
    sql.close();
    await store.close();
  });
});

describe("SQLite store: paths that cannot be used", () => {
  const refused = { code: "invalid_request", message: /cannot be used: .*Name another file/ };

  it("refuses a file that is not a database and does not change it", async () => {
    const path = join(directory, "text.db");
    await writeFile(path, "this is a letter, not a database. ".repeat(100));
    await assert.rejects(openSqliteStore(path), refused);
    assert.match(await readFile(path, "utf8"), /^this is a letter/);
  });

  it("a directory is refused as the file of a record", async () => {
    const path = join(directory, "folder.db");
    await mkdir(path);
    await assert.rejects(openSqliteStore(path), refused);
  });

  it("refuses a path that cannot be created", async () => {
    const path = join(directory, "file");
    await writeFile(path, "");
    const message = /cannot be made \(ENOTDIR\)\. Set `OFFSHOOT_DATA` to a folder/;
    const below = openSqliteStore(join(path, "below", "offshoot.db"));
    await assert.rejects(below, { code: "invalid_request", message });
  });

  it("refuses the database of another program", async () => {
    const path = join(directory, "other.db");
    const other = await openConnection(path);
    other.exec("create table notes (text)");
    other.close();
    await assert.rejects(openSqliteStore(path), { ...refused, message: /another program/ });
  });

  it("refuses a file of a newer version", async () => {
    const path = newPath();
    await (await openSqliteStore(path)).close();
    const newer = await openConnection(path);
    newer.exec("pragma user_version = 99");
    newer.close();
    await assert.rejects(openSqliteStore(path), { ...refused, message: /newer Offshoot.*99/ });
  });
});
