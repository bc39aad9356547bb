/**
 * A team moves from one machine with SQLite to Postgres: `offshoot store copy`, killed in the middle, then
 * a server on another machine that continues everything, even a response in progress.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import pg from "pg";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { until, untilTrue } from "../patience.ts";
import { inProcess } from "../store/copy/record-process.ts";
import {
  POSTGRES_LACK,
  type PostgresServer,
  startPostgres,
} from "../store/postgres/postgres-server.ts";
import { createPlace, type Ended, type Place } from "./command.ts";
import { type SlowUpstream, serve, slowModel, startSlowUpstream } from "./served.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => server?.[Symbol.asyncDispose]());
const postgres = (): PostgresServer => server ?? assert.fail();

const held = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

/** Uploaded as a file: some batches of the copy. */
const FILE_BYTES = 12_000_000;

type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: Record<string, unknown> & { readonly id: string };
}

interface Used {
  readonly key: string;
  readonly fileId: string;
  readonly store: string;
  readonly conversation: string;
  readonly firstItem: string;
  readonly answered: string;
  /** The events that a client reads as a stream. */
  readonly stream: string;
  readonly compaction: object;
}

describe(`offshoot store copy${held}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("moves all data of a server, although it is killed, and another server continues", async () => {
    await using place = await createPlace();
    await using fast = await startSlowUpstream();
    await using slow = await startSlowUpstream();
    fast.finish();
    const used = await useServer(place, fast);
    const unfinished = await killInTheMiddle(place, slow, used.key);
    slow.finish();
    const address = await postgres().newAddress();
    const before = await readRecord(place, {});
    await copyThoughKilled(place, address);
    await using other = await createPlace();
    const env = { OFFSHOOT_STORE: address };
    assert.deepEqual(await readRecord(other, env), before);
    await using served = await serve({ place: other, args: slowModel(slow), env, hasKeys: true });
    await checkServer(asWith(served.url, used.key), used);
    const [, memory] = findMessages(slow, "Which memory?");
    assert.ok(memory, "what the first machine sealed is opened");
    const ended = await until(async () => {
      const { json } = await asWith(served.url, used.key)("GET", `/v1/responses/${unfinished}`);
      return json["status"] === "completed" ? json : undefined;
    }, "the response that was being answered");
    assert.equal((ended as unknown as EmittedResponse).output_text, "One");
    const checked = await other.run(["store", "check"], { env });
    assert.match(checked.stdout, /^ok: /);
  });

  it("reports in one line what is in the way", async () => {
    await using place = await createPlace();
    const copy = (to: string, ...more: string[]): Promise<Ended> =>
      place.run(["store", "copy", "--to", to, ...more]);
    const address = await postgres().newAddress();
    const withPassword = new URL(address);
    withPassword.password = "geheim";
    const rows: [Ended, number, RegExp][] = [
      [await copy(address), 2, /There is no store at/],
      [await copy(withPassword.href), 2, /`--to` has a password.*`OFFSHOOT_STORE_TO`/],
      [await copy("runs.db"), 2, /is not an address of Postgres/],
      [await place.run(["store", "copy"]), 2, /The database to copy to is missing/],
      [await copy(address, "--store", address), 2, /is in Postgres already/],
      [await place.run(["store", "check", "--to", address]), 2, /--to/],
    ];
    for (const [{ code, stdout, stderr }, exit, line] of rows) {
      assert.deepEqual([code, stdout], [exit, ""], stderr);
      assert.match(stderr, line);
      assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
      assert.doesNotMatch(stderr, /geheim/);
    }
  });
});

/** Stores something of every kind. The server ends normally. */
async function useServer(place: Place, upstream: SlowUpstream): Promise<Used> {
  const made = await place.run(["keys", "create", "team", "--requests-per-day", "100"]);
  const key = made.stdout.trim();
  await using served = await serve({ place, args: slowModel(upstream), hasKeys: true });
  const ask = asWith(served.url, key);
  const refused = await place.run(["store", "copy", "--to", await postgres().newAddress()]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /is in use\. Stop the servers and let the runs of this record end/);
  const fileId = await upload(served.url, key, "x".repeat(FILE_BYTES));
  const text = await upload(served.url, key, "The password is zebra.");
  const store = `/v1/vector_stores/${(await ask("POST", "/v1/vector_stores", {})).json.id}`;
  await ask("POST", `${store}/files`, { file_id: text });
  await untilTrue(async () => {
    const { json } = await ask("GET", `${store}/files/${text}`);
    return json["status"] === "completed";
  }, "the file is indexed");
  const conversation = `/v1/conversations/${(await ask("POST", "/v1/conversations", {})).json.id}`;
  const input = { input: "Hi", conversation: conversation.split("/").at(-1) };
  await ask("POST", "/v1/responses", input);
  const [first] = (await ask("GET", `${conversation}/items?order=asc`)).json["data"] as object[];
  const answered = (await ask("POST", "/v1/responses", { input: "My colour is blue." })).json.id;
  const stream = (await ask("GET", `/v1/responses/${answered}?stream=true`)).text;
  const asked = { model: "slow", input: [{ role: "user", content: "Blue." }] };
  const compacted = (await ask("POST", "/v1/responses/compact", asked)).json["output"] as object[];
  served.command.child.kill("SIGTERM");
  await served.command.ended;
  const firstItem = (first as { id: string }).id;
  const compaction = compacted.at(-1) ?? assert.fail();
  return { key, fileId, store, conversation, firstItem, answered, stream, compaction };
}

/** The server dies while a model answers. Returns the id of the response. */
async function killInTheMiddle(place: Place, slow: SlowUpstream, key: string): Promise<string> {
  await using served = await serve({ place, args: slowModel(slow), hasKeys: true });
  const asked = { input: "Hi", background: true };
  const { id } = (await asWith(served.url, key)("POST", "/v1/responses", asked)).json;
  await untilTrue(() => slow.open === 1, "it is being answered");
  served.command.child.kill("SIGKILL");
  await served.command.ended;
  return id;
}

/** Killed before its first row, after its first batch, and in the middle of the bytes of files. */
async function copyThoughKilled(place: Place, address: string): Promise<void> {
  const env = { OFFSHOOT_STORE_TO: address };
  const args = ["store", "copy"];
  const migrated = await place.run(["store", "migrate"], { env: { OFFSHOOT_STORE: address } });
  assert.equal(migrated.code, 0, migrated.stderr);
  await killWhileLocked(place, address, "lock table offshoot.version in share mode");
  const path = join(place.home, ".local/share/offshoot/runs.db");
  assert.equal(await inProcess("copy", { path, address, killAt: 1 }), "killed");
  const half = await place.run(["serve", "--port", "0"], { env: { OFFSHOOT_STORE: address } });
  assert.deepEqual([half.code, half.stderr.trimEnd().split("\n").length], [2, 1], half.stderr);
  assert.match(half.stderr, /is a copy that is not finished\. Run `offshoot store copy` again/);
  const row = "select 1 from offshoot.copying_tables where name = 'contents' for update";
  await killWhileLocked(place, address, row);
  const { code, stdout, stderr } = await place.run(args, { env });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^The copy continues where it was interrupted\.\n$/);
  const lines = stdout.trimEnd().split("\n");
  assert.match(lines[0] ?? "", /^table +rows +rows copied +sha256 +sha256 of the copy$/);
  assert.match(lines.at(-1) ?? "", /^ok: postgres:.* is a copy of .*runs\.db, \d+ rows\./);
  for (const line of lines.slice(1, -1)) {
    assert.match(line, /^\w+ +(\d+) +\1 +([0-9a-f]{16}) +\2$/);
  }
  const again = await place.run([...args, "--json"], { env });
  assert.equal(again.code, 2);
  assert.match(again.stderr, /is a finished copy of /);
}

/** Kills the command while it waits for a lock. */
async function killWhileLocked(place: Place, address: string, lock: string): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(`begin; ${lock}`);
    const copying = place.start(["store", "copy", "--to", address]);
    const waiting = `select 1 from pg_stat_activity
      where application_name = 'offshoot' and datname = current_database()
        and wait_event_type = 'Lock'`;
    await untilTrue(async () => {
      assert.equal(copying.child.exitCode, null, copying.stderr);
      return (await postgres().query(address, waiting)).length > 0;
    }, "it waits for the lock");
    copying.child.kill("SIGKILL");
    await copying.ended;
  } finally {
    await client.end();
  }
}

/** What the commands list of a record. */
async function readRecord(place: Place, env: Record<string, string>): Promise<string[]> {
  const listed = [];
  const commands = ["audit list", "keys list", "runs list --all", "runs cost"];
  for (const command of commands) {
    const { code, stdout, stderr } = await place.run([...command.split(" "), "--json"], { env });
    assert.equal(code, 0, stderr);
    listed.push(stdout);
  }
  return listed;
}

async function checkServer(ask: Ask, used: Used): Promise<void> {
  const content = await ask("GET", `/v1/files/${used.fileId}/content`);
  assert.deepEqual([content.status, content.text.length], [200, FILE_BYTES]);
  const found = (await ask("POST", `${used.store}/search`, { query: "zebra" })).json["data"];
  assert.equal((found as object[]).length, 1);
  const page = await ask("GET", `${used.conversation}/items?order=asc&after=${used.firstItem}`);
  assert.equal((page.json["data"] as object[]).length, 1, "the cursor continues");
  const stream = await ask("GET", `/v1/responses/${used.answered}?stream=true`);
  assert.equal(stream.text, used.stream);
  const chained = { input: "Which?", previous_response_id: used.answered };
  assert.equal((await ask("POST", "/v1/responses", chained)).json["status"], "completed");
  const input = [used.compaction, { role: "user", content: "Which memory?" }];
  assert.equal((await ask("POST", "/v1/responses", { input })).status, 200);
}

/** The messages of requests to the model that contain this text. */
function findMessages({ bodies }: SlowUpstream, text: string): readonly object[] {
  const body = bodies.find((sent) => sent.includes(text)) ?? assert.fail();
  return (JSON.parse(body) as { messages: object[] }).messages;
}

function asWith(url: string, key: string): Ask {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { method, headers, ...sent });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    return { status: answer.status, text, json: isJson ? JSON.parse(text) : { id: "" } };
  };
}

async function upload(url: string, key: string, text: string): Promise<string> {
  const form = new FormData();
  form.set("purpose", "assistants");
  form.set("file", new Blob([text]), "a.txt");
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/v1/files`, { method: "POST", headers, body: form });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { id: string }).id;
}
