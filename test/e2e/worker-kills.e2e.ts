/**
 * Three workers that are killed at random moments, one by one and all at once, while files are uploaded,
 * indexed, searched and deleted, and background responses are requested and deleted. Acknowledged data is
 * there, deleted data is gone from every table, and the file is sound.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { nextTurn } from "../../src/base/turn.ts";
import { openConnection, type SqliteConnection } from "../../src/store/sqlite/sqlite-driver.ts";
import { createChance } from "../delegation/random-tree.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { patience, until, untilTrue } from "../patience.ts";
import { createPlace } from "./command.ts";
import { countKills } from "./kills.ts";
import {
  type Client,
  createClient,
  createWorkerServer,
  names,
  type WorkerServer,
} from "./worker-fixture.ts";

const KILLS = countKills(16);
const AT_ONCE = 6;
const MOST_MS = 250;
/** No server lives longer, so that whole servers are killed in every random sequence. */
const MOST_AGE_MS = 10_000;

const found = unless(LINUX_LACK);
it(...found(`three workers keep what they acknowledged over ${KILLS} kills`), async () => {
  const chance = createChance(130_013);
  await using place = await createPlace();
  const record = join(place.home, ".local", "share", "offshoot", "runs.db");
  const server = createWorkerServer(place, ["--workers", "3"]);
  await server.start();
  const client = await createClient(server, chance);
  for (let kill = 0; kill < KILLS; kill++) {
    await server.start();
    const acts = Array.from({ length: AT_ONCE }, () => client.act());
    await setTimeout(chance() * MOST_MS);
    if (server.ageMs > MOST_AGE_MS || chance() < 1 / 6) {
      await server.killAll();
      await Promise.all(acts);
      await expireOne(record, client);
    } else {
      await server.killWorker(chance);
      await Promise.all(acts);
    }
  }
  await cutOff(server, record);
  await ageDrafts(record);
  await server.start();
  await client.settle();
  await checkKept(client);
  const db = await openConnection(record);
  // If a worker was killed while it cancelled or removed something, another one finishes that in its own
  // time.
  await untilTrue(
    async () => db.prepare("select 1 from runs where status = 'running'").get() === undefined,
    "every run has ended",
  );
  await untilTrue(
    async () => db.prepare("select 1 from drafts").get() === undefined,
    "what kills left of large values is swept",
  );
  await server.stop();
  checkRecord(db, client);
  db.close();
});

/** Kills all workers until one of them was in the middle of writing a large value. */
async function cutOff(server: WorkerServer, record: string): Promise<void> {
  const db = await openConnection(record);
  const isBegun = (): boolean => db.prepare("select 1 from drafts").get() !== undefined;
  const input = `Say hello ${"word ".repeat(2_000_000)}`;
  const body = JSON.stringify({ input, background: true });
  await untilTrue(async () => {
    await server.start();
    let isAnswered = false;
    const init = { method: "POST", body, signal: patience() };
    const asked = fetch(`${server.url}/v1/responses`, init)
      .catch(() => undefined)
      .finally(() => {
        isAnswered = true;
      });
    while (!isAnswered && !isBegun()) await nextTurn();
    await server.killAll();
    await asked;
    return isBegun();
  }, "a large value that was cut off");
  db.close();
}

/**
 * Called while no process has the record open: the next sweep takes large values that kills interrupted for
 * old.
 */
async function ageDrafts(record: string): Promise<void> {
  const db = await openConnection(record);
  db.prepare("update drafts set grew_ms = grew_ms - 3600000").run();
  db.close();
}

/** Called while no process has the record open: the next sweep finds a response whose lifetime is over. */
async function expireOne(record: string, { responses, expired }: Client): Promise<void> {
  const [id] = responses.kept;
  if (id === undefined) return;
  const db = await openConnection(record);
  db.prepare("update things set expires_at_ms = 1 where id = ?").run(id);
  db.close();
  responses.kept.delete(id);
  expired.add(id);
}

async function checkKept(client: Client): Promise<void> {
  const { ask, files, responses, indexed, stores, store } = client;
  for (const id of client.expired) {
    // Only a sweep removes these: the one of the last start, or of a minute later.
    await untilTrue(
      async () => (await ask("GET", `/v1/responses/${id}`))?.status === 404,
      `${id} is swept`,
    );
    responses.deleted.add(id);
  }
  await until(async () => {
    const found = await ask("GET", `/v1/vector_stores/${store}`);
    return found?.body["status"] === "completed" ? true : undefined;
  }, "every file is indexed");
  for (const id of files.kept) {
    assert.equal((await ask("GET", `/v1/files/${id}`))?.status, 200, `file ${id}`);
  }
  for (const id of stores.kept) {
    assert.equal((await ask("GET", `/v1/vector_stores/${id}`))?.status, 200, `store ${id}`);
  }
  for (const id of responses.kept) {
    await until(async () => {
      const found = await ask("GET", `/v1/responses/${id}`);
      assert.notEqual(found?.status, 404, `response ${id}`);
      return found?.body["status"] === "completed" ? true : undefined;
    }, `${id} is completed`);
  }
  for (const file of indexed.kept) {
    const query = names.get(file) ?? "";
    const found = await ask("POST", `/v1/vector_stores/${store}/search`, { query });
    const hits = (found?.body["data"] ?? []) as { file_id: string }[];
    assert.equal(hits[0]?.file_id, file, `${file} is found by ${query}`);
  }
}

function checkRecord(db: SqliteConnection, client: Client): void {
  const count = (sql: string): number => Number(db.prepare(sql).get()?.["n"]);
  const checked = db.prepare("pragma integrity_check").all();
  assert.deepEqual(
    checked.map((row) => row["integrity_check"]),
    ["ok"],
  );
  checkTables(db);
  for (const [what, sql] of Object.entries(LEFT_OVER)) assert.equal(count(sql), 0, what);
  const has = (sql: string, id: string): boolean => db.prepare(sql).get(id) !== undefined;
  for (const id of client.responses.deleted) {
    assert.ok(!has("select 1 from things where id = ?1 or parent = ?1", id), id);
    const run = id.replace("resp_", "run_");
    assert.ok(!has("select 1 from runs where id = ?1 or id like ?1 || '/%'", run), id);
  }
  for (const id of [...client.files.deleted, ...client.stores.deleted]) {
    assert.ok(!has("select 1 from things where id = ?1 or parent = ?1", id), id);
    assert.ok(!has("select 1 from chunks where file = ?1 or store = ?1", id), id);
  }
  for (const id of client.indexed.deleted) {
    const sql = "select 1 from chunks where file = ?1 and store = ?2";
    assert.equal(db.prepare(sql).get(id, client.store), undefined, id);
  }
}

/** Tables whose rows contain no user text: processes, sums and the audit log, a probe, turns. */
const NOT_WORDS = ["workers", "spending", "audit", "probe", "lanes"];

/** A table that is not checked may keep deleted data. */
function checkTables(db: SqliteConnection): void {
  const sql = "select name from sqlite_schema where type = 'table'";
  const names = db.prepare(sql).all();
  const counted = Object.values(LEFT_OVER).join("\n");
  const forgotten = names
    .map(({ name }) => String(name))
    .filter((name) => !/^sqlite_|^chunk_words_/.test(name) && !NOT_WORDS.includes(name))
    .filter((name) => !new RegExp(`from ${name}\\b`).test(counted));
  assert.deepEqual(forgotten, []);
}

/** Rows without their parent, table by table. */
const NO_RUN = "run_id not in (select id from runs)";
const LEFT_OVER = {
  parts: `select count(*) as n from parts
    where id not in (select parts from blobs where parts is not null)`,
  drafts: "select count(*) as n from drafts",
  steps: `select count(*) as n from steps where ${NO_RUN}`,
  events: `select count(*) as n from events where ${NO_RUN}`,
  blobs: `select count(*) as n from blobs where ${NO_RUN}`,
  signals: `select count(*) as n from signals where ${NO_RUN}`,
  run_facts: `select count(*) as n from run_facts where ${NO_RUN}`,
  spans: `select count(*) as n from spans where ${NO_RUN}`,
  "labels of runs that are gone": `select count(*) as n from usage
    where ${NO_RUN} and label is not null`,
  questions: `select count(*) as n from questions where ${NO_RUN}`,
  "turns of runs that are over": `select count(*) as n from turns`,
  "unfinished runs": "select count(*) as n from runs where status = 'running'",
  "runs of responses that are gone": `select count(*) as n from runs where name = 'response'
    and parent_id is null and not exists (select 1 from things
      where kind = 'response' and things.id = replace(runs.id, 'run_', 'resp_'))`,
  "runs of files that are gone": `select count(*) as n from runs where name = 'index'
    and not exists (select 1 from things
      where kind = 'vector_store.file' and body ->> 'run_id' = runs.id)`,
  "chunks of files that are not searched": `select count(*) as n from chunks
    where not exists (select 1 from things where kind = 'vector_store.file'
      and id = chunks.store || '/' || chunks.file and body ->> 'status' = 'completed')`,
  "parts that are there twice": `select count(*) as n from
    (select 1 from chunks group by tenant, store, file, part having count(*) > 1)`,
  "contents of nothing": `select count(*) as n from contents
    where position not in (select position from things)`,
  "files of stores that are gone": `select count(*) as n from things as f
    where kind = 'vector_store.file' and not exists (select 1 from things as s
      where s.kind = 'vector_store' and s.id = f.parent)`,
  "things below something that is gone": `select count(*) as n from things as below
    where parent is not null and not exists (select 1 from things
      where things.tenant = below.tenant and things.id = below.parent)`,
  "bytes that are counted and not there": `select count(*) as n from storage
    where bytes <> (select coalesce(sum(length(cast(body as blob)) + content_bytes), 0)
        from things where things.tenant = storage.tenant)
      + (select coalesce(sum(length(cast(text as blob)) + coalesce(length(embedding), 0)), 0)
        from chunks where chunks.tenant = storage.tenant)
      + (select coalesce(sum(bytes), 0) from runs where runs.tenant = storage.tenant)`,
  holds: "select count(*) as n from holds",
  "words of no chunk": `select count(*) as n from (select count(*) as words from chunk_words)
    where words <> (select count(*) from chunks)`,
};
