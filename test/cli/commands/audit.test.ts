import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Options } from "../../../src/cli/command.ts";
import { run } from "../../../src/cli/commands/audit.ts";
import { createKey } from "../../../src/server/guard/keys.ts";
import type { AuditEntry, StoredAuditEntry } from "../../../src/store/audit.ts";
import { createSqliteAudit } from "../../../src/store/sqlite/sqlite-audit.ts";
import { openSqliteStores } from "../../../src/store/sqlite/sqlite-store.ts";
import { createManualClock } from "../../../src/testing/index.ts";
import { createSandbox, type Sandbox } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

const AT = Date.UTC(2030, 5, 1, 12, 0, 1);
const ENTRY: AuditEntry = {
  at_ms: AT,
  tenant: "team",
  key_id: null,
  action: "POST /v1/responses",
  target: "resp_1",
  status: 200,
  address: "10.0.0.1",
};

async function audit(
  sandbox: Sandbox,
  options: Options = {},
  words: readonly string[] = ["list"],
): Promise<{ stdout: string; stderr: string }> {
  const io = createFakeIo(sandbox);
  await run({ words, options }, io);
  return io.written;
}

/**
 * A record with entries of one key named `ci` and entries without a key. Returns the id of the key.
 */
async function createRecord(t: TestContext): Promise<{ sandbox: Sandbox; id: string }> {
  const sandbox = createSandbox(t);
  const path = join(sandbox.home, ".local/share/offshoot/runs.db");
  const { shelf, chunksDb, close } = await openSqliteStores(path);
  const { key } = await createKey({ shelf, clock: createManualClock() }, { name: "ci" });
  const written = createSqliteAudit(chunksDb);
  const more: Partial<AuditEntry>[] = [
    { key_id: key.id },
    { tenant: "", action: "POST /v1/files", status: 401, target: null },
    { key_id: key.id, at_ms: AT + 86_400_000, status: 429, target: "evil\u001b[2J" },
    { key_id: "environment", at_ms: AT + 86_400_001 },
  ];
  for (const one of more) written.write({ ...ENTRY, ...one });
  await written.close();
  await close();
  return { sandbox, id: key.id };
}

describe("offshoot audit", () => {
  it("shows who asked for what, newest first, without escapes", async (t) => {
    const { sandbox, id } = await createRecord(t);
    const { stdout, stderr } = await audit(sandbox, {}, []);
    const lines = stdout.trimEnd().split("\n");
    assert.equal(lines.length, 4);
    assert.equal(stderr, "");
    const row = `2030-06-01 12:00:01  200  ci (${id})  team  10.0.0.1  POST /v1/responses resp_1`;
    assert.equal(lines[3]?.replace(/ {3,}/g, "  "), row);
    assert.match(lines[2] ?? "", / 401 {2}no key +- +10\.0\.0\.1 {2}POST \/v1\/files$/);
    assert.ok(!stdout.includes("\u001b"));
  });

  const FILTERS: [Options, number][] = [
    [{ key: "ci" }, 2],
    [{ key: "environment" }, 1],
    [{ tenant: "team" }, 3],
    [{ day: "2030-06-01" }, 2],
    [{ day: "2030-06-02", key: "ci" }, 1],
    [{ day: "today" }, 0],
    [{ route: "/v1/files" }, 1],
    [{ status: "4xx" }, 2],
    [{ status: "429" }, 1],
    [{ limit: "3" }, 3],
    [{ before: "3" }, 2],
  ];
  for (const [options, count] of FILTERS) {
    it(`shows ${count} entries of ${JSON.stringify(options)}`, async (t) => {
      const { sandbox } = await createRecord(t);
      const { stdout } = await audit(sandbox, { ...options, json: true });
      assert.equal((JSON.parse(stdout) as StoredAuditEntry[]).length, count);
    });
  }

  it("says how to read older entries, and says if there are none", async (t) => {
    const { sandbox } = await createRecord(t);
    assert.match((await audit(sandbox, { limit: "1" })).stderr, /--before 4\n$/);
    assert.match((await audit(sandbox, { day: "today" })).stderr, /has no such entries/);
  });

  const WRONG: [Options, RegExp][] = [
    [{ key: "nobody" }, /There is no key `nobody`/],
    [{ day: "monday" }, /--day takes `today` or a day as `2030-12-31`, not `monday`/],
    [{ status: "bad" }, /--status takes a status as `429` or a class as `4xx`, not `bad`/],
    [{ status: "999" }, /--status takes/],
    [{ limit: "0" }, /--limit takes a whole number above 0/],
    [{ before: "x" }, /--before takes a whole number above 0/],
  ];
  for (const [options, message] of WRONG) {
    it(`refuses ${JSON.stringify(options)} in one line`, async (t) => {
      await assert.rejects(audit(createSandbox(t), options), message);
    });
  }
});
