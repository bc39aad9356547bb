/**
 * POSIX drops all locks of a process on a file when the process closes any descriptor of it. So nothing except SQLite
 * may open the file of a store.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { openSqliteStores } from "../../src/store/sqlite/sqlite-store.ts";
import { HOLDS } from "../../src/tools/workspace/hold.ts";
import { openWorkspace } from "../../src/tools/workspace/open-workspace.ts";
import { unless } from "../needs.ts";
import { newDatabasePath } from "./database-path.ts";
import { newRun } from "./store-contract.ts";

const LOCKS = "/proc/locks";
const listed = unless(existsSync(LOCKS) ? undefined : `there is no ${LOCKS}`);
const hasPython = spawnSync("python3", ["-c", "import sqlite3"]).status === 0;
const read = unless(hasPython ? undefined : "there is no python3 with sqlite3");

/** Opens and closes the file as a program that knows nothing of this process. */
const LOOK = `
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("select count(*) from runs").fetchone()[0])
connection.close()
`;

describe("the locks of a store that one process has opened twice", () => {
  const open = async () => {
    const path = newDatabasePath();
    const first = await openSqliteStores(path);
    const second = await openSqliteStores(path);
    await first.store.createRun(newRun("run_1"));
    return {
      path,
      async close() {
        await first.close();
        await second.close();
      },
    };
  };

  it(...listed("are still there"), async () => {
    const { path, close } = await open();
    const { ino } = statSync(path);
    const locks = readFileSync(LOCKS, "utf8").split("\n");
    const own = locks.filter((line) => line.includes(` ${process.pid} `));
    assert.ok(
      own.some((line) => line.includes(`:${ino} `)),
      "SQLite's lock on the file is gone",
    );
    await close();
  });

  it(...read("keep a reader from another program from removing the WAL"), async () => {
    const { path, close } = await open();
    const before = statSync(`${path}-wal`).ino;
    const looked = spawnSync("python3", ["-c", LOOK, path], { encoding: "utf8" });
    assert.equal(looked.stdout.trim(), "1", looked.stderr);
    assert.equal(statSync(`${path}-wal`, { throwIfNoEntry: false })?.ino, before);
    await close();
  });

  it("are not lost to a tool that is asked to read the file", async () => {
    const { path, close } = await open();
    const folder = realpathSync(dirname(path));
    const boundary = { mayRead: () => true, mayWrite: () => true, hardLinks: false };
    for (const way of ["descriptor", "path"] as const) {
      for (const suffix of ["", "-wal", "-shm"]) {
        const name = `${basename(path)}${suffix}`;
        if (way === "descriptor" && process.platform !== "linux") continue;
        await assert.rejects(HOLDS[way].openFile(join(folder, name), name), {
          code: "forbidden",
          message: /offshoot store backup/,
        });
      }
    }
    const workspace = await openWorkspace(folder, boundary);
    await assert.rejects(workspace.readFile(basename(path), 100), { code: "forbidden" });
    await close();
  });
});
