/**
 * What several servers on one Postgres count together: requests at once, requests and tokens of a minute, and the calls
 * that a vendor takes. Each server has a home of its own, as on a machine of its own.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { until, untilTrue } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace } from "./command.ts";
import { type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

interface Replicas extends AsyncDisposable {
  readonly all: readonly [Served, Served, Served];
  /** Makes a key with these limits. */
  createKey(...limits: string[]): Promise<string>;
}

async function startThree(args: readonly string[]): Promise<Replicas> {
  const env = { OFFSHOOT_STORE: (await server?.newAddress()) ?? assert.fail() };
  const start = (): Promise<Served> => serve({ args, env, hasKeys: true });
  const all = [await start(), await start(), await start()] as const;
  const place = await createPlace();
  return {
    all,
    async createKey(...limits) {
      const made = await place.run(["keys", "create", "team", ...limits], { env });
      assert.equal(made.code, 0, made.stderr);
      return made.stdout.trim();
    },
    async [Symbol.asyncDispose]() {
      for (const served of all) await served[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** Its status. A server that is killed answers nothing. */
async function ask({ url }: Served, key: string, more: object = {}): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, connection: "close" };
  const body = JSON.stringify({ input: "Hi", store: false, ...more });
  const answer = await fetch(`${url}/v1/responses`, { method: "POST", headers, body });
  await answer.text();
  return answer.status;
}

const countOf = (statuses: readonly number[], status: number): number =>
  statuses.filter((one) => one === status).length;

const lack = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

describe(`limits over three servers${lack}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("let a key have as many requests at once as it may, wherever they come", async () => {
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

  it("give the places of a server that was killed to the others", async (t) => {
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
});
