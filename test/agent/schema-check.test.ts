import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createSchemaCheck } from "../../src/agent/schema-check.ts";
import { createThreads } from "../../src/base/threads.ts";

const SLOW = { type: "string", pattern: "^(a+)+$" };
const SLOW_AT = `${"a".repeat(40)}!`;
const job = (schema: object, value?: unknown): object => ({
  schema: JSON.stringify(schema),
  value: value === undefined ? undefined : JSON.stringify(value),
});
const IS_LINUX = process.platform === "linux";

/** Of all threads of this process. */
function readPriorities(): number[] {
  return readdirSync("/proc/self/task").flatMap((thread) => {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
      // The name of the thread, in brackets, may contain anything.
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
    } catch {
      // It has just ended.
      return [];
    }
  });
}

const ABOUT = { what: "The schema" };
const PROGRAM = { program: "schema-worker", heapMib: 256, limitMs: 300_000 } as const;

/** How often the event loop of this process turned until the work was done. */
async function countTurns(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const watched = work
    .catch(() => {})
    .finally(() => {
      isDone = true;
    });
  while (!isDone) {
    turns++;
    await setImmediate();
  }
  await watched;
  return turns;
}

describe("a schema of unknown origin", () => {
  it("with a slow pattern does not block the event loop, and is refused", async () => {
    const check = await createSchemaCheck(SLOW, "a");
    const work = check(SLOW_AT);
    assert.ok((await countTurns(work)) > 100, "the event loop turns while the pattern is tried");
    await assert.rejects(work, /The output schema takes too long to work with\./);
    assert.equal(await check("aaa"), undefined, "the thread is well after it");
  });

  it("of any size is compiled without blocking the event loop", async () => {
    const names = Array.from({ length: 4000 }, (_, at) => [`a${at}`, { minLength: at }]);
    const work = createSchemaCheck({ properties: Object.fromEntries(names) }, "a");
    assert.ok((await countTurns(work)) > 100);
  });

  it("is checked by a thread of lower priority than the event loop", {
    skip: !IS_LINUX,
  }, async () => {
    const own = getPriority();
    await createSchemaCheck({ pattern: "a" }, "a");
    const behind = Math.min(own + 10, 19);
    assert.ok(readPriorities().includes(behind), readPriorities().join());
    assert.equal(getPriority(), own);
  });

  it("has the same result in a thread as here", async () => {
    const plain = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
    const refs = {
      ...plain,
      properties: { n: { $ref: "#/$defs/n" } },
      $defs: { n: { type: "integer" } },
    };
    for (const schema of [plain, refs]) {
      const check = await createSchemaCheck(schema, "a");
      assert.equal(await check({ n: 1 }), undefined);
      assert.equal(await check({}), "data must have required property 'n'.");
      assert.equal(await check({ n: "x" }), "data/n must be integer.");
    }
    for (const more of [{}, { pattern: "x" }]) {
      const broken = createSchemaCheck({ type: "nonsense", ...more }, "a");
      await assert.rejects(broken, {
        code: "invalid_request",
        message:
          /is not a valid JSON Schema: `type` must be string, number, .* or a list of these\.$/,
      });
    }
  });
});

describe("threads", () => {
  it("take the jobs of owners in turn", async () => {
    const threads = createThreads({ ...PROGRAM, size: 1, sizeForOne: 1 });
    const done: string[] = [];
    const run = (owner: string): Promise<unknown> =>
      threads.run(owner, job({ type: "string" }, "x"), ABOUT).then(() => done.push(owner));
    const jobs = ["a", "a", "a", "a", "b", "c", "b"].map(run);
    await Promise.all(jobs);
    assert.deepEqual(done, ["a", "a", "b", "c", "a", "b", "a"]);
  });

  it("do not all work for one owner, however long its jobs take", async () => {
    const threads = createThreads({ ...PROGRAM, size: 2, sizeForOne: 1 });
    const ended: string[] = [];
    const run = async (owner: string, value: string): Promise<void> => {
      await threads.run(owner, job(SLOW, value), ABOUT).catch(() => {});
      ended.push(owner);
    };
    // A slow job gets a second of the processor.
    await Promise.all([run("many", SLOW_AT), run("many", SLOW_AT), run("one", "aaa")]);
    assert.deepEqual(ended, ["one", "many", "many"]);
  });

  it("are ended when they do not answer, and the next job gets another", async () => {
    const threads = createThreads({ ...PROGRAM, size: 1, sizeForOne: 1, limitMs: 1 });
    for (const owner of ["a", "b"]) {
      const late = threads.run(owner, job(SLOW, SLOW_AT), ABOUT);
      await assert.rejects(late, { code: "invalid_request", message: /takes too long/ });
    }
  });
});
