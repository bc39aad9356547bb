/** A record in which every table has rows, with short, long and large values and with texts that databases dislike. */

import assert from "node:assert/strict";
import type { Json } from "../../../src/base/json.ts";
import type { KeptRecord } from "../../../src/store/kept.ts";
import { entry } from "../audit-contract.ts";
import { begin, question, task, toolStart, turnEnd, turnStart } from "../noted-events.ts";
import { nameOf, newThing, streamOf } from "../shelf-contract.ts";
import { NOON, used } from "../spending-contract.ts";
import { ended, newRun, notices } from "../store-contract.ts";

/** In `parts`: about 1 MB, with characters of two bytes. */
export const LARGE: Json = Array.from({ length: 100 }, (_, at) => ({
  at,
  text: "é ".repeat(3300),
}));
/** In `blobs`: short to write, long in bytes. */
export const LONG = "漢".repeat(100_000);
/** An id that is stored in its column as JSON. */
export const ODD = "run_\0\ud800";

export const PLACE = { tenant: "tenant", store: "vs_1", file: "file_1" };
const WORKER = {
  id: "worker_1",
  host: "a",
  pid: 1,
  boot: "b",
  pid_namespace: "4",
  started: "7",
  beat_at_ms: 6,
  beat_ms: 2,
};

/** `run_1` has ended, `run_2` is in the middle, with epoch 3 and five events; `run_3` waits for its turn. */
export async function fillRecord(kept: KeptRecord): Promise<void> {
  await fillRuns(kept);
  await fillShelf(kept);
  const vector = Float32Array.from([0.1, -2, 3e-9]);
  await (await kept.chunks()).put(PLACE, 0, [
    { text: "Ärger im Haus", embedding: { vector, model: "m" } },
    { text: "a nul \0 and 漢字", embedding: null },
  ]);
  const spending = await kept.spending();
  await spending.take("key_1", used(1, 20, 0.1, 3), {}, NOON);
  await spending.take("key_1", used(2, 5, 0.2), {}, NOON + 60_000);
  await spending.hold(
    "key_1",
    { id: "run_2", least: { tokens: 1, usd: 0 }, most: { tokens: 10, usd: 0.5 } },
    { total: { tokens: 1000, usd: 5 } },
    NOON,
  );
  const audit = await kept.audit();
  for (let at = 0; at < 700; at++) audit.write(entry(NOON + at, { target: `resp_${at}` }));
}

async function fillRuns(kept: KeptRecord): Promise<void> {
  const store = await kept.runs();
  const place = { queue: "background", lane: "tenant", atOnce: 1, maxWaiting: 9 };
  await store.createRun(newRun("run_1", { input: LARGE, tenant: "tenant" }));
  await store.claim("run_1", "worker_1");
  await store.append("run_1", 1, 0, notices(700));
  await store.saveStep("run_1", 1, { key: "model:1", value: LONG });
  await store.saveStep("run_1", 1, { key: "model:2", value: LARGE });
  await store.finish("run_1", 1, { ...ended(700), result: LARGE });
  await store.createRun(newRun("run_gone"));
  await store.deleteRun("run_gone");
  await store.createQueued(newRun("run_2", { input: LONG }), place);
  for (const epoch of [1, 2, 3]) assert.equal(await store.claim("run_2", "worker_1"), epoch);
  await store.awaitTurn("run_2", 3, place);
  await store.append("run_2", 3, 0, notices(5));
  await store.saveStep("run_2", 3, { key: "model:1", value: { a: 1 } });
  await store.putSignal("run_2", { topic: "input", key: "1", body: "taken" });
  await store.takeSignal("run_2", 3, "input");
  await store.putSignal("run_2", { topic: "input", key: "2", body: "waiting" });
  await store.createQueued(newRun("run_3"), place);
  await store.claim("run_3", "worker_1");
  await store.awaitTurn("run_3", 1, place);
  await begin(store, task("run_noted", { created_at_ms: 5 }));
  const turn = [turnStart(1, 0), turnEnd(1, 5, { usd: 0.01 }), toolStart("c", "shell", 6)];
  await store.append("run_noted", 1, 0, [...turn, question("q", 7)]);
  await store.createRun(newRun(ODD, { parent_id: "run_1", title: '"quoted' }));
  for (let at = 0; at < 600; at++) await store.createRun(newRun(`run_many_${at}`));
  await store.beat(WORKER);
}

async function fillShelf(kept: KeptRecord): Promise<void> {
  const shelf = await kept.shelf();
  await shelf.put(newThing("small", { expires_at_ms: 9 }));
  await shelf.put(newThing("large", { body: LARGE }));
  await shelf.put(newThing("child", { parent: "small", body: LONG }));
  await shelf.put(newThing("file"));
  const piece = (fill: number): Uint8Array => new Uint8Array(700_000).fill(fill);
  await shelf.writeContent(nameOf("file"), streamOf(piece(1), piece(2), piece(3), piece(4)));
  await shelf.put(newThing("last"));
  await shelf.delete(nameOf("last"));
}

/** Everything that can be read of a record, for comparing. */
export async function readAll(kept: KeptRecord): Promise<unknown> {
  const store = await kept.runs();
  const shelf = await kept.shelf();
  const chunks = await kept.chunks();
  const spending = await kept.spending();
  const runs = await store.listRuns({ limit: 10_000 });
  const page = { tenant: "tenant", kind: "kind", order: "oldest", limit: 1000 } as const;
  const content: Uint8Array[] = [];
  for await (const piece of shelf.readContent(nameOf("file"))) content.push(piece);
  const read = [];
  for (const { id } of runs.filter((run) => !run.id.startsWith("run_many"))) {
    read.push(await store.readSteps(id), await store.readEvents(id, -1, 10_000));
  }
  return {
    runs,
    read,
    things: await shelf.list(page),
    content: Buffer.concat(content),
    bytes: await shelf.countBytes("tenant"),
    vectors: await chunks.readVectors({
      ...PLACE,
      model: "m",
      files: undefined,
      after: undefined,
      limit: 10,
    }),
    spent: await spending.read("key_1", NOON),
    listed: await spending.list(undefined),
    holds: await spending.readHolds("key_1"),
    waiting: await store.countWaiting("background"),
    audit: await (await kept.audit()).list({ limit: 1000 }),
  };
}
