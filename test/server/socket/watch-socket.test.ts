import assert from "node:assert/strict";
import { request } from "node:http";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Guard } from "../../../src/server/guard.ts";
import { createRegistry, renderMetrics } from "../../../src/server/watching/metrics.ts";
import type { RequestRecord } from "../../../src/server/watching/request-log.ts";
import { createRequestWatch } from "../../../src/server/watching/request-watch.ts";
import { createManualClock, reply, script } from "../../../src/testing/index.ts";
import { ANYBODY } from "../server-fixture.ts";
import { startSocketServer } from "./socket-fixture.ts";

/** The `x-request-id` of a handshake that is refused. */
function askUpgrade(url: string): Promise<unknown> {
  const headers = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers }, (response) => {
      response.resume();
      resolve(response.headers["x-request-id"]);
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("what is asked on sockets", () => {
  it("has a line and a number each, as requests have", async (t) => {
    const clock = createManualClock();
    const registry = createRegistry();
    const records: RequestRecord[] = [];
    const facts = { model: "custom/x", input_tokens: 1, output_tokens: 2, cost_usd: null };
    const { watchSocket: watch } = createRequestWatch({
      clock,
      registry,
      tracer: undefined,
      worker: undefined,
      log: () => (record) => void records.push(record),
      factsOf: () => facts,
    });
    let letsIn = true;
    const guard: Guard = {
      async admit() {
        await clock.advance(5);
        if (!letsIn) throw new Failure("rate_limited", "Too much.");
        const caller = { ...ANYBODY, keyId: "key_1" };
        return { caller, async countMore() {}, done() {} };
      },
    };
    const server = await startSocketServer(
      t,
      script(reply.text("Hello."), reply.status(400, "No.")),
      { guard, socket: { watch, clock } },
    );
    const socket = await server.connect();
    const events = await socket.turn({ input: "Hi", store: false });
    assert.equal((await socket.turn({ input: "Hi", store: false })).at(-1)?.type, "error");
    letsIn = false;
    const told429 = await socket.turn({ input: "Hi" });
    await assert.rejects(server.connect());
    const nowhere = await askUpgrade(`${server.url}/v1/nothing?secret=1`);
    const told = records.map(({ time: _, request_id: __, ...record }) =>
      JSON.parse(JSON.stringify(record)),
    );
    const who = { tenant: ANYBODY.tenant, key_id: "key_1" };
    const client = "127.0.0.1";
    const shake = { method: "GET", route: "/v1/responses", ms: 5, client };
    const turn = { method: "WS", route: "/v1/responses", ms: 5, client };
    const target = events.at(-1)?.response?.id;
    const { cost_usd: _, ...known } = facts;
    assert.deepEqual(told, [
      { ...shake, status: 101, ...who },
      { ...turn, status: 200, ...who, target, ...known },
      { ...turn, status: 400, ...who, target: told[2].target, ...known },
      { ...turn, status: 429 },
      { ...shake, status: 429 },
      { ...shake, route: "unknown", status: 404, ms: 0, path: "/v1/nothing" },
    ]);
    const ids = records.map(({ request_id }) => request_id ?? "");
    assert.equal(ids[1], target, "as over HTTP, a response that was made is what is named");
    assert.equal(new Set(ids).size, records.length);
    for (const at of [0, 3, 4, 5]) assert.match(ids[at] ?? "", /^req_/);
    const refused = told429.at(-1) as { headers?: Record<string, string> } | undefined;
    assert.equal(refused?.headers?.["x-request-id"], ids[3]);
    assert.equal(nowhere, ids[5]);
    const text = renderMetrics(registry.read());
    assert.match(text, /requests_total\{method="WS",route="\/v1\/responses",status="200"\} 1\n/);
    assert.match(text, /offshoot_open_requests 0\n/);
  });
});
