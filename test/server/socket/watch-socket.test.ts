import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Guard } from "../../../src/server/guard.ts";
import { createRegistry, renderMetrics } from "../../../src/server/watching/metrics.ts";
import type { RequestRecord } from "../../../src/server/watching/request-log.ts";
import { createRequestWatch } from "../../../src/server/watching/request-watch.ts";
import { createManualClock, reply, script } from "../../../src/testing/index.ts";
import { ANYBODY } from "../server-bench.ts";
import { startSocketServer } from "./socket-bench.ts";

describe("what is asked on sockets", () => {
  it("has a line and a number each, as requests have", async (t) => {
    const clock = createManualClock();
    const registry = createRegistry();
    const records: RequestRecord[] = [];
    const facts = { model: "custom/x", input_tokens: 1, output_tokens: 2, cost_usd: null };
    const { watchSocket: watch } = createRequestWatch({
      ...{ clock, registry, tracer: undefined, worker: undefined },
      log: () => (record) => void records.push(record),
      factsOf: () => facts,
    });
    let letsIn = true;
    const guard: Guard = {
      async admit() {
        await clock.advance(5);
        if (!letsIn) throw new Failure("rate_limited", "Too much.");
        return { caller: { ...ANYBODY, keyId: "key_1" }, done() {} };
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
    await socket.turn({ input: "Hi" });
    await assert.rejects(server.connect());
    const told = records.map(({ time: _, ...record }) => JSON.parse(JSON.stringify(record)));
    const who = { tenant: ANYBODY.tenant, key_id: "key_1" };
    const turn = { method: "WS", route: "/v1/responses", ms: 5 };
    const target = events.at(-1)?.response?.id;
    const { cost_usd: _, ...known } = facts;
    assert.deepEqual(told, [
      { method: "GET", route: "/v1/responses", status: 101, ms: 5, ...who },
      { ...turn, status: 200, ...who, target, ...known },
      { ...turn, status: 400, ...who, target: told[2].target, ...known },
      { ...turn, status: 429 },
      { method: "GET", route: "/v1/responses", status: 429, ms: 5 },
    ]);
    const text = renderMetrics(registry.read());
    assert.match(text, /requests_total\{method="WS",route="\/v1\/responses",status="200"\} 1\n/);
    assert.match(text, /offshoot_open_requests 0\n/);
  });
});
