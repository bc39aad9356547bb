/** A run survives kill -9 at any moment: finished steps stay finished and the log has no gaps. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

const KILLS = 20;
const WORKER = fileURLToPath(new URL("./fixtures/engine-worker.js", import.meta.url));

it(`finishes runs whose processes are killed ${KILLS} times`, async () => {
  const directory = await mkdtemp(join(tmpdir(), "offshoot-kill-"));
  const path = join(directory, "offshoot.db");
  const random = createRandom(20_251);
  let kills = 0;
  for (let round = 0; kills < KILLS; round++) {
    const id = `run_${round}`;
    const lives: Life[] = [];
    for (;;) {
      const before = await readFinished(path, id);
      const life = await live([path, id, `${round}`], random);
      lives.push({ ...life, before });
      if (!life.killed) break;
      kills++;
    }
    checkSteps(lives);
    await checkLog(path, id, lives.length);
  }
  await rm(directory, { recursive: true });
});

it("lets several processes share one new file", async () => {
  const directory = await mkdtemp(join(tmpdir(), "offshoot-share-"));
  const path = join(directory, "new", "offshoot.db");
  const ids = ["a", "b", "c", "d", "e", "f"].map((letter) => `run_${letter}`);
  const codes = ids.map(async (id) => {
    const child = spawn(process.execPath, [WORKER, path, id, "0"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    return (await once(child, "close"))[0] as number | null;
  });
  assert.deepEqual(await Promise.all(codes), [0, 0, 0, 0, 0, 0]);
  for (const id of ids) await checkLog(path, id, 1);
  await rm(directory, { recursive: true });
});

interface Life {
  /** Keys of the steps that this process started. */
  readonly started: readonly string[];
  readonly killed: boolean;
  /** Keys of the steps that were in the journal before it. */
  readonly before: ReadonlySet<string>;
}

/** One process: killed while it starts, or a moment after one of its first steps has started. */
async function live(values: string[], random: () => number): Promise<Omit<Life, "before">> {
  const child = spawn(process.execPath, [WORKER, ...values], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // Not "exit", because its output may still be on its way then.
  const closed = once(child, "close");
  const killAfter = Math.floor(random() * 6);
  const delayMs = random() * (killAfter === 0 ? 120 : 8);
  let text = "";
  let isDying = false;
  const kill = async (): Promise<void> => {
    isDying = true;
    await setTimeout(delayMs);
    child.kill("SIGKILL");
  };
  if (killAfter === 0) void kill();
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    if (!isDying && linesOf(text).length >= killAfter) void kill();
  });
  const [code, signal] = (await closed) as [number | null, string | null];
  assert.ok(code === 0 || signal === "SIGKILL", `exit ${code}`);
  const started = linesOf(text).map((line) => line.replace(/^step /, ""));
  return { started, killed: signal === "SIGKILL" };
}

function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

async function readFinished(path: string, id: string): Promise<Set<string>> {
  const store = await openSqliteStore(path);
  const steps = await store.readSteps(id);
  await store.close();
  return new Set(steps.keys());
}

function checkSteps(lives: readonly Life[]): void {
  const times = new Map<string, number>();
  for (const { started, before } of lives) {
    for (const key of started) {
      assert.ok(!before.has(key), `${key} had finished and ran again`);
      times.set(key, (times.get(key) ?? 0) + 1);
    }
  }
  assert.equal(times.size, 20);
  const repeated = [...times.values()].reduce((sum, count) => sum + count - 1, 0);
  assert.ok(repeated < lives.length, `${repeated} repeated in ${lives.length} processes`);
}

async function checkLog(path: string, id: string, lives: number): Promise<void> {
  const store = await openSqliteStore(path);
  const run = await store.getRun(id);
  const log = await store.readEvents(id, -1, 10_000);
  await store.close();
  assert.deepEqual([run?.ending, run?.result, run?.next_seq], ["completed", 190, log.length]);
  assert.ok(run && run.epoch <= lives, `epoch ${run?.epoch} of ${lives} processes`);
  assert.deepEqual(
    log.map(({ seq }) => seq),
    log.map((_, index) => index),
  );
  const ends = log.filter(({ event }) => event.type === "run_end");
  assert.deepEqual(ends, log.slice(-1));
}

/** The same numbers in [0, 1) for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
