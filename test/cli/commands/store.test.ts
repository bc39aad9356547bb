import assert from "node:assert/strict";
import { mkdirSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { openConnection } from "../../../src/store/sqlite/sqlite-driver.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { createSandbox, type Sandbox } from "../../runtime/sandbox.ts";
import { newRun, notices } from "../../store/store-contract.ts";
import { createFakeIo } from "../fake-io.ts";

async function store(
  sandbox: Sandbox,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = createFakeIo(sandbox);
  return { code: await main(["store", ...words], io), ...io.written };
}

async function fill({ home }: Sandbox, runs: number): Promise<string> {
  const path = join(home, ".local/share/offshoot/runs.db");
  mkdirSync(dirname(path), { recursive: true });
  const opened = await openSqliteStore(path);
  for (let number = 0; number < runs; number++) {
    await opened.createRun(newRun(`run_${number}`));
    await opened.claim(`run_${number}`, "worker");
    await opened.append(`run_${number}`, 1, 0, notices(1));
  }
  await opened.close();
  // Content of the WAL would be read from there.
  const connection = await openConnection(path);
  connection.prepare("pragma wal_checkpoint(truncate)").all();
  connection.close();
  return path;
}

describe("offshoot store check", () => {
  it("counts one run as one", async (t) => {
    const sandbox = createSandbox(t);
    await fill(sandbox, 1);
    assert.match((await store(sandbox, "check")).stdout, /^ok: \S+ has 1 run in /);
  });

  it("prints a line for each problem, ten at most", async (t) => {
    const sandbox = createSandbox(t);
    const connection = await openConnection(await fill(sandbox, 12));
    connection.exec("pragma foreign_keys = off; delete from runs");
    connection.close();
    const { code, stdout } = await store(sandbox, "check");
    const lines = stdout.trimEnd().split("\n");
    assert.equal(code, 1);
    assert.match(lines[0] ?? "", /runs\.db is damaged:$/);
    assert.match(lines[1] ?? "", /^ {2}row \d+ of \w+ refers to no runs$/);
    assert.equal(lines[11], "  and 14 more");
    assert.equal(lines[12], "Restore a backup, or move the file away.");
  });

  it("prints JSON also for a truncated file", async (t) => {
    const sandbox = createSandbox(t);
    truncateSync(await fill(sandbox, 50), 8192);
    const { code, stdout, stderr } = await store(sandbox, "check", "--json");
    assert.deepEqual([code, stderr], [1, ""]);
    const { ok, problems } = JSON.parse(stdout);
    assert.deepEqual([ok, problems.length], [false, 1]);
  });
});
