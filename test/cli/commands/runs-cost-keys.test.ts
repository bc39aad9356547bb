import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Options } from "../../../src/cli/command.ts";
import { run } from "../../../src/cli/commands/runs.ts";
import { createKey } from "../../../src/server/guard/keys.ts";
import { createSqliteSpending } from "../../../src/store/sqlite/sqlite-spending.ts";
import { openSqliteStores } from "../../../src/store/sqlite/sqlite-store.ts";
import { createManualClock } from "../../../src/testing/index.ts";
import { createSandbox, type Sandbox } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2030, 5, 1, 12);

async function cost(
  sandbox: Sandbox,
  options: Options,
  words: readonly string[] = [],
): Promise<{ stdout: string; stderr: string }> {
  const io = createFakeIo(sandbox);
  await run({ words: ["cost", ...words], options }, io);
  return io.written;
}

async function createRecord(t: TestContext): Promise<{ sandbox: Sandbox; ids: string[] }> {
  const sandbox = createSandbox(t);
  const path = join(sandbox.home, ".local/share/offshoot/runs.db");
  const { shelf, chunksDb, close } = await openSqliteStores(path);
  const spending = createSqliteSpending(chunksDb);
  const parts = { shelf, clock: createManualClock() };
  const ids: string[] = [];
  for (const [name, tenant] of [
    ["a", "red"],
    ["b", "red"],
    ["c", "blue"],
  ] as const) {
    ids.push((await createKey(parts, { name, tenant })).key.id);
  }
  const [a = "", b = "", c = ""] = ids;
  const used = { requests: 1, tokens: 1000, usd: 0.5 };
  await spending.settle(a, used, { takenMs: NOON, nowMs: NOON });
  await spending.settle(a, used, { takenMs: NOON, nowMs: NOON + DAY_MS });
  const unknown = { requests: 2, tokens: 40, unpriced: 40 };
  await spending.settle(b, unknown, { takenMs: NOON, nowMs: NOON });
  await spending.settle(c, { requests: 3, tokens: 70 }, { takenMs: NOON, nowMs: NOON });
  await spending.settle("environment", { requests: 1 }, { takenMs: NOON, nowMs: NOON });
  await close();
  return { sandbox, ids };
}

const squeeze = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.trim().replace(/ +/g, " "));

describe("offshoot runs cost --by key, --by tenant", () => {
  it("adds up what keys have used, whether or not it left a run", async (t) => {
    const { sandbox, ids } = await createRecord(t);
    assert.deepEqual(squeeze((await cost(sandbox, { by: "key" })).stdout), [
      "key name tenant requests tokens cost",
      `${ids[0]} a red 2 2,000 $1.00`,
      `${ids[2]} c blue 3 70 free`,
      `${ids[1]} b red 2 40 cost unknown`,
      "environment OFFSHOOT_SERVER_KEY default 1 0 $0.00",
    ]);
    assert.deepEqual(squeeze((await cost(sandbox, { by: "tenant" })).stdout), [
      "tenant requests tokens cost",
      "red 4 2,040 $1.00 + unknown",
      "blue 3 70 free",
      "default 1 0 $0.00",
    ]);
  });

  it("can be limited to one day, and written as JSON", async (t) => {
    const { sandbox, ids } = await createRecord(t);
    const options = { by: "key", day: "2030-06-02", json: true };
    const row = { key: ids[0], name: "a", tenant: "red", requests: 1, tokens: 1000, usd: 0.5 };
    assert.deepEqual(JSON.parse((await cost(sandbox, options)).stdout), {
      by: "key",
      day: "2030-06-02",
      rows: [{ ...row, unpriced: 0, cost_usd: 0.5 }],
    });
    const none = await cost(sandbox, { by: "tenant", day: "today" });
    assert.equal(none.stderr, "No key has used anything.\n");
  });

  it("refuses words that it would ignore", async (t) => {
    const sandbox = createSandbox(t);
    const wrong: [Options, string[], RegExp][] = [
      [{ by: "key" }, ["run_1"], /`--by key` adds up all that keys have used: leave out `run_1`/],
      [{ by: "tenant", limit: "3" }, [], /leave out `--limit`/],
      [{ by: "key", day: "yesterday" }, [], /--day takes `today` or a day/],
      [{ by: "model", day: "today" }, [], /`--day` goes with `--by key` or `--by tenant`/],
    ];
    for (const [options, words, message] of wrong) {
      await assert.rejects(cost(sandbox, options, words), message);
    }
  });
});
