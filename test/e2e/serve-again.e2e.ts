/** Requests that are repeated with their key, and a server below a path: the built command. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { LINUX_LACK, unless } from "../needs.ts";
import { until } from "../patience.ts";
import { createPlace } from "./command.ts";
import { type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

async function send({ url }: Served, key: string): Promise<EmittedResponse> {
  // A connection for each, so that they go to the workers in turn.
  const headers = { "idempotency-key": key, connection: "close" };
  const body = JSON.stringify({ input: "Hi" });
  const answer = await fetch(`${url}/v1/responses`, { method: "POST", headers, body });
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()) as EmittedResponse;
}

describe(...unless(LINUX_LACK)("a request that is sent again with its key"), () => {
  it("makes one response in two workers, and is known to the next server", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    const args = [...slowModel(upstream), "--workers", "2"];
    let first: EmittedResponse;
    {
      await using served = await serve({ args, place });
      const sent = Array.from({ length: 6 }, () => send(served, "one"));
      await until(async () => upstream.requests > 0 || undefined, "the model is asked");
      upstream.finish();
      const all = await Promise.all(sent);
      assert.equal(new Set(all.map(({ id }) => id)).size, 1);
      assert.equal(upstream.requests, 1);
      first = all[0] ?? assert.fail();
    }
    await using served = await serve({ args: slowModel(upstream), place });
    assert.deepEqual(await send(served, "one"), first);
    assert.equal(upstream.requests, 1);
  });

  it("continues the response of a server that was killed in the middle of it", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    const args = slowModel(upstream);
    {
      await using served = await serve({ args, place });
      const lost = send(served, "one");
      lost.catch(() => {});
      await until(async () => upstream.requests > 0 || undefined, "the model is asked");
    }
    upstream.finish();
    await using served = await serve({ args, place });
    const [a, b] = await Promise.all([send(served, "one"), send(served, "one")]);
    assert.equal(a.id, b.id);
    assert.equal(a.status, "completed");
    // The interrupted call is made again, by the same run.
    const { body } = await served.ask("GET", `/v1/responses/${a.id}`);
    assert.deepEqual(body, a);
    assert.equal(upstream.requests, 2);
  });
});

describe("a server below a path", () => {
  it("prints its address, and answers below it", async () => {
    await using served = await serve({ env: { OFFSHOOT_SERVER_PATH_PREFIX: "/keep/" } });
    assert.match(served.url, /\/keep$/);
    assert.equal((await served.create({ input: "Hello" })).status, "completed");
    assert.equal((await served.ask("GET", "/v1/models")).status, 200);
    const { origin } = new URL(served.url);
    assert.equal((await fetch(`${origin}/v1/models`)).status, 404);
    for (const path of ["/healthz", "/readyz", "/keep/healthz"]) {
      assert.equal((await fetch(`${origin}${path}`)).status, 200, path);
    }
  });
});
