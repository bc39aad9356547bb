/**
 * What several servers on one Postgres count together: concurrent requests, requests and tokens per minute,
 * and the calls that a vendor accepts. Each server has a home of its own, like on a separate machine.
 */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { until, untilTrue } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { startBusyVendor } from "./busy-vendor.ts";
import { createPlace, type Place } from "./command.ts";
import { type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

interface Replicas extends AsyncDisposable {
  readonly address: string;
  readonly all: readonly [Served, Served, Served];
  /** Creates a key with these limits. */
  createKey(...limits: string[]): Promise<string>;
}

async function startThree(args: readonly string[]): Promise<Replicas> {
  const address = (await server?.newAddress()) ?? assert.fail();
  const env = { OFFSHOOT_STORE: address };
  const places: Place[] = [];
  const start = async (): Promise<Served> => {
    const home = await createPlace();
    places.push(home);
    const file = join(home.home, ".config", "offshoot", "config.yaml");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, "server: { max_background: 2, max_queued: 1 }\n");
    return await serve({ place: home, args, env, hasKeys: true });
  };
  const all = [await start(), await start(), await start()] as const;
  const place = await createPlace();
  let keys = 0;
  return {
    all,
    address,
    async createKey(...limits) {
      const made = await place.run(["keys", "create", `team${keys++}`, ...limits], { env });
      assert.equal(made.code, 0, made.stderr);
      return made.stdout.trim();
    },
    async [Symbol.asyncDispose]() {
      for (const served of all) await served[Symbol.asyncDispose]();
      for (const home of [...places, place]) await home[Symbol.asyncDispose]();
    },
  };
}

/** Returns the status. A killed server does not answer. */
async function ask({ url }: Served, key: string, more: object = {}): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, connection: "close" };
  const body = JSON.stringify({ input: "Hi", store: false, ...more });
  const answer = await fetch(`${url}/v1/responses`, { method: "POST", headers, body });
  await answer.text();
  return answer.status;
}

/** Of two thousand bytes. */
async function upload({ url }: Served, key: string): Promise<number> {
  const form = new FormData();
  form.set("purpose", "assistants");
  form.set("file", new Blob(["x".repeat(2000)], { type: "text/plain" }), "a.txt");
  const headers = { authorization: `Bearer ${key}`, connection: "close" };
  return (await fetch(`${url}/v1/files`, { method: "POST", headers, body: form })).status;
}

const FULL = 413;

const countOf = (statuses: readonly number[], status: number): number =>
  statuses.filter((one) => one === status).length;

const lack = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

describe(`limits over three servers${lack}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("allow a key its number of concurrent requests, on any of them", async () => {
    await using upstream = await startSlowUpstream();
    await using replicas = await startThree(slowModel(upstream));
    const key = await replicas.createKey("--concurrent", "2");
    const statuses: number[] = [];
    const answers = Array.from({ length: 30 }, async (_, at) => {
      const served = replicas.all[at % 3] ?? assert.fail();
      statuses.push(await ask(served, key));
    });
    await untilTrue(() => statuses.length + upstream.open === 30, "each is refused or answered");
    assert.deepEqual([countOf(statuses, 429), upstream.open], [28, 2]);
    upstream.finish();
    await Promise.all(answers);
    assert.equal(countOf(statuses, 200), 2);
    // One after the other, each at another server: an answer that has ended does not count.
    for (let round = 0; round < 10; round++) {
      for (const served of replicas.all) assert.equal(await ask(served, key), 200);
    }
  });

  it("give the slots of a killed server to the others", async (t) => {
    await using upstream = await startSlowUpstream();
    await using replicas = await startThree(slowModel(upstream));
    const [first, second, third] = replicas.all;
    const key = await replicas.createKey("--concurrent", "2");
    const lost = [ask(first, key), ask(first, key)].map((answer) => answer.catch(() => "lost"));
    await untilTrue(() => upstream.open === 2, "two are being answered");
    assert.equal(await ask(second, key), 429);
    first.command.child.kill("SIGKILL");
    const killedMs = performance.now();
    assert.deepEqual(await Promise.all(lost), ["lost", "lost"]);
    upstream.finish();
    await until(async () => ((await ask(third, key)) === 200 ? true : undefined), "a place");
    const waitedMs = Math.round(performance.now() - killedMs);
    t.diagnostic(`a place came back ${waitedMs} ms after its server was killed`);
  });

  it("share the requests and the tokens of a minute", async () => {
    await using upstream = await startSlowUpstream();
    upstream.finish();
    await using replicas = await startThree(slowModel(upstream));
    // An answer uses 7 tokens. If a minute ends in the middle, the count starts again.
    const cases = [
      { limits: ["--requests-per-minute", "4"], served: 4 },
      { limits: ["--tokens-per-minute", "10"], served: 2 },
    ];
    for (const { limits, served } of cases) {
      const key = await replicas.createKey(...limits);
      await until(async () => {
        const minute = new Date().getUTCMinutes();
        const statuses: number[] = [];
        for (let at = 0; at < 9; at++) {
          statuses.push(await ask(replicas.all[at % 3] ?? assert.fail(), key));
        }
        if (new Date().getUTCMinutes() !== minute) return undefined;
        assert.deepEqual(statuses, [
          ...Array.from({ length: served }, () => 200),
          ...Array.from({ length: 9 - served }, () => 429),
        ]);
        return true;
      }, "all of them come in one minute");
    }
  });

  it("share the budget of a day, the bytes of a tenant and the queue of background responses", async () => {
    await using upstream = await startSlowUpstream();
    await using replicas = await startThree(slowModel(upstream));
    const [first, second, third] = replicas.all;
    // For one answer at a time.
    const poor = await replicas.createKey("--tokens-per-day", "560", "--tenant", "poor");
    const long = { input: "Say hello to all of them. ".repeat(20), max_output_tokens: 250 };
    const answered = ask(first, poor, long);
    await untilTrue(() => upstream.open === 1, "it is being answered");
    for (const served of [second, third, first]) assert.equal(await ask(served, poor, long), 429);

    const small = await replicas.createKey("--storage-bytes", "3000", "--tenant", "small");
    const uploads: number[] = [];
    for (const served of replicas.all) uploads.push(await upload(served, small));
    assert.deepEqual(uploads, [200, FULL, FULL]);

    const key = await replicas.createKey("--tenant", "busy");
    const later = { background: true, store: true };
    for (const served of replicas.all) assert.equal(await ask(served, key, later), 200);
    await untilTrue(() => upstream.open === 3, "two of them are being answered, too");
    for (const served of replicas.all) assert.equal(await ask(served, key, later), 429);
    assert.equal(upstream.open, 3, "one waits for its turn");
    upstream.finish();
    assert.equal(await answered, 200);
  });

  it("send a vendor together what it accepts, and wait together if it asks for that", async (t) => {
    await using vendor = await startBusyVendor(4);
    await using replicas = await startThree(slowModel(vendor));
    const key = await replicas.createKey();
    const done = new AbortController();
    const callers = Promise.all(
      replicas.all.flatMap((served) =>
        Array.from({ length: 6 }, async () => {
          while (!done.signal.aborted) assert.equal(await ask(served, key), 200);
        }),
      ),
    );
    // Its failure is reported below, unless something else fails before.
    callers.catch(() => {});
    await untilTrue(() => vendor.taken >= 300, "the limit is found");
    const before = { taken: vendor.taken, refused: vendor.refused };
    vendor.most = 0;
    await untilTrue(() => vendor.taken >= before.taken + 300, "300 more are taken");
    const refused = vendor.refused - before.refused;
    t.diagnostic(`${vendor.most} at once, ${refused} refused of 300`);
    assert.ok(vendor.most <= 4 + 3, `${vendor.most} at once`);
    done.abort();
    await callers;

    const [first, second, third] = replicas.all;
    await until(async () => {
      vendor.tellNext(WAIT_S);
      const told = ask(first, key);
      await untilTrue(() => vendor.toldAtMs > 0, "one is told to wait");
      for (let times = 0; times < 2; times++) await waitForExchange(replicas.address);
      const isOver = performance.now() - vendor.toldAtMs > (WAIT_S - 1) * 1000;
      vendor.arrivals.length = 0;
      assert.deepEqual(
        await Promise.all([told, ask(second, key), ask(third, key)]),
        [200, 200, 200],
      );
      // On a machine that was so slow the test shows nothing.
      if (isOver) return undefined;
      const earliest = Math.min(...vendor.arrivals) - vendor.toldAtMs;
      assert.ok(earliest >= WAIT_S * 1000, `one came after ${earliest} ms`);
      return true;
    }, "they wait together");
  });
});

/** The wait that the vendor asks for. */
const WAIT_S = 6;

/** Each of the three has reported what it knows, and got the others' reports, since now. */
async function waitForExchange(address: string): Promise<void> {
  const query = async (sql: string): Promise<unknown> =>
    Object.values((await server?.query(address, sql))?.[0] ?? {})[0];
  const now = String(await query("select clock_timestamp()::text"));
  const sql = `select count(*) from offshoot.vendor_demands where beaten_at > '${now}'`;
  await untilTrue(async () => Number(await query(sql)) === 3, "all have told");
}
