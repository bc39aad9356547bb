/**
 * Three servers on one Postgres, like on three machines: each has a home of its own, and they share only
 * the database. The others answer for any response of one of them; a server that is killed, or stopped, is
 * taken over.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { checkEvents } from "../conformance/check.ts";
import { until } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace } from "./command.ts";
import { readEvents, type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => server?.[Symbol.asyncDispose]());

interface Replicas extends AsyncDisposable {
  readonly all: readonly [Served, Served, Served];
  readonly env: Readonly<Record<string, string>>;
}

async function startThree(args: readonly string[], hasKeys = false): Promise<Replicas> {
  const address = (await server?.newAddress()) ?? assert.fail();
  const env = { OFFSHOOT_STORE: address };
  const start = (): Promise<Served> => serve({ args, env, hasKeys });
  const all = [await start(), await start(), await start()] as const;
  return {
    all,
    env,
    async [Symbol.asyncDispose]() {
      for (const served of all) await served[Symbol.asyncDispose]();
    },
  };
}

async function waitFor(served: Served, id: string, status: string): Promise<EmittedResponse> {
  return await until(async () => {
    const found = (await served.ask("GET", `/v1/responses/${id}`)).body as EmittedResponse;
    return found.status === status ? found : undefined;
  }, `${id} is ${status}`);
}

/** All events of a response's stream, after a given one. */
async function follow(served: Served, id: string, after?: number): Promise<string> {
  const from = after === undefined ? "" : `&starting_after=${after}`;
  return String((await served.ask("GET", `/v1/responses/${id}?stream=true${from}`)).body);
}

const held = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

describe(`three servers on one Postgres${held}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("answer for each other's responses: follow, list, cancel, continue", async () => {
    await using upstream = await startSlowUpstream();
    await using replicas = await startThree(slowModel(upstream));
    const [first, second, third] = replicas.all;
    const { id } = await first.create({ input: "Hi", background: true });
    await until(async () => (upstream.open === 1 ? true : undefined), "it is being answered");
    const followed = follow(second, id);
    upstream.say(" two");
    const other = await third.create({ input: "Hi", background: true });
    await until(async () => (upstream.open === 2 ? true : undefined), "both are being answered");
    const cancelled = await second.ask("POST", `/v1/responses/${other.id}/cancel`);
    assert.equal((cancelled.body as EmittedResponse).status, "cancelled");
    assert.equal((await waitFor(first, other.id, "cancelled")).id, other.id);
    upstream.finish();
    const text = await followed;
    checkEvents(readEvents(text));
    assert.match(text, /"delta":" two"/);
    const one = await follow(first, id);
    const two = await follow(third, id);
    assert.deepEqual([one, two], [text, text], "all tell the same");
    const { sequence_number: middle } = readEvents(text)[3] ?? assert.fail();
    assert.ok(text.endsWith(await follow(third, id, middle)), "from any event on");
    const next = await third.create({ input: "And?", previous_response_id: id });
    assert.equal(next.status, "completed");
    const removed = await second.ask("DELETE", `/v1/responses/${next.id}`);
    assert.equal(removed.status, 200);
    assert.equal((await first.ask("GET", `/v1/responses/${next.id}`)).status, 404);
  });

  it("take over from a killed one, without a gap or a second answer", async () => {
    await using upstream = await startSlowUpstream();
    await using replicas = await startThree(slowModel(upstream));
    const [first, second, third] = replicas.all;
    const ids: string[] = [];
    for (let number = 0; number < 4; number++) {
      ids.push((await first.create({ input: "Hi", background: true })).id);
    }
    await until(async () => (upstream.open === 4 ? true : undefined), "all are being answered");
    upstream.say(" half");
    const followed = ids.map((id) => follow(second, id));
    first.command.child.kill("SIGKILL");
    await first.command.ended;
    upstream.finish();
    for (const [at, id] of ids.entries()) {
      const response = await waitFor(third, id, "completed");
      assert.deepEqual([response.output.length, response.output_text], [1, "One"]);
      const text = (await followed[at]) ?? "";
      checkEvents(readEvents(text), { takenOver: true });
      assert.equal(await follow(third, id), text, "all tell the same");
    }
    assert.equal(upstream.requests, 8, "each was asked again once");
  });

  it("take over from a stopped one, whose writes are then refused", async () => {
    await using upstream = await startSlowUpstream();
    await using replicas = await startThree(slowModel(upstream));
    const [first, second] = replicas.all;
    const { id } = await first.create({ input: "Hi", background: true });
    await until(async () => (upstream.open === 1 ? true : undefined), "it is being answered");
    first.command.child.kill("SIGSTOP");
    await until(async () => (upstream.requests === 2 ? true : undefined), "it is asked again");
    first.command.child.kill("SIGCONT");
    upstream.say(" zombie");
    upstream.finish();
    const { output_text } = await waitFor(second, id, "completed");
    assert.match(output_text ?? "", /^One/);
    const text = await follow(second, id);
    checkEvents(readEvents(text), { takenOver: true });
    assert.equal(await follow(first, id), text, "the one that stood still tells the same");
  });

  it("know each other's keys, and what is left of their budgets", async () => {
    await using upstream = await startSlowUpstream();
    upstream.finish();
    await using replicas = await startThree(slowModel(upstream), true);
    await using place = await createPlace();
    const run = async (...args: string[]): Promise<string> => {
      const ended = await place.run(["keys", ...args], { env: replicas.env });
      assert.equal(ended.code, 0, ended.stderr);
      return ended.stdout;
    };
    const key = (await run("create", "team", "--requests-per-day", "3")).trim();
    const ask = async ({ url }: Served): Promise<number> => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const body = JSON.stringify({ input: "Hi" });
      return (await fetch(`${url}/v1/responses`, { method: "POST", headers, body })).status;
    };
    const statuses: number[] = [];
    for (const served of replicas.all) statuses.push(await ask(served));
    statuses.push(await ask(replicas.all[0]));
    assert.deepEqual(statuses, [200, 200, 200, 429], "one budget for all of them");
    await run("revoke", "team");
    for (const served of replicas.all) {
      await until(async () => ((await ask(served)) === 401 ? true : undefined), "it is refused");
    }
  });
});
