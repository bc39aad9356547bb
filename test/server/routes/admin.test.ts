/** Administration over HTTP: keys, and the state of a server. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { z } from "zod";
import { ADMIN_ANSWERS } from "../../../src/server/openapi/admin-answers.ts";
import { createAdminRoutes } from "../../../src/server/routes/admin.ts";
import { createToolRoutes } from "../../../src/server/routes/tools.ts";
import type { Metric } from "../../../src/server/watching/metrics.ts";
import { createScriptedProvider, reply } from "../../../src/testing/index.ts";
import { type RunsBench, startRuns } from "./runs-fixture.ts";

const fits = (name: keyof typeof ADMIN_ANSWERS, body: unknown): void =>
  void (ADMIN_ANSWERS[name] as z.ZodType).parse(body);

const gauge = (name: string, ...samples: [Record<string, string>, number][]): Metric => ({
  name,
  help: "",
  type: "gauge",
  samples: samples.map(([labels, value]) => ({ labels, value })),
});

/** Metrics of two processes, one of which finds a deployment broken. */
const METRICS: readonly Metric[] = [
  gauge(
    "offshoot_deployment_ready",
    [{ deployment: "custom/a@gpu-1", worker: "1" }, 1],
    [{ deployment: "custom/a@gpu-1", worker: "2" }, 0],
  ),
  gauge("offshoot_deployment_cooldown_seconds", [
    { deployment: "custom/a@gpu-1", worker: "2" },
    30,
  ]),
  gauge(
    "offshoot_vendor_limit",
    [{ vendor: "openai", worker: "1" }, 8],
    [{ vendor: "openai", worker: "2" }, 4],
  ),
  gauge(
    "offshoot_vendor_waiting",
    [{ vendor: "openai", worker: "1" }, 3],
    [{ vendor: "openai", worker: "2" }, 2],
  ),
  gauge("offshoot_vendor_paused_seconds", [{ vendor: "openai", worker: "2" }, 7]),
];

async function start(t: TestContext): Promise<RunsBench & { readonly admin: string }> {
  const bench = await startRuns(t, {
    provider: createScriptedProvider(reply.text("Yes.")),
    more: ({ guard }) => [
      ...createAdminRoutes({
        ...guard,
        state: {
          listWorkers: async () => [{ id: "w", host: "one", pid: 7, silent_ms: 40, runs: 2 }],
          listLanes: async () => [
            { queue: "background", lane: "acme", running: 1, waiting: 2, oldest_at_ms: 5 },
          ],
          listStorage: async () => [{ tenant: "acme", bytes: 500 }],
          countKinds: async () => [
            { tenant: "", kind: "key", count: 2 },
            { tenant: "acme", kind: "file", count: 3 },
          ],
        },
        collectMetrics: async () => METRICS,
        named: [["fast", { model: "custom/a", url: "http://gpu-1/v1" } as never]],
        factsOf: () => ({ context_tokens: 1000, max_output_tokens: null, price: null }),
        queues: { background: 4 },
        readSettings: () => [{ name: "model", value: "a/b", source: "default", summary: "It" }],
        runDoctor: async () => [{ name: "node", status: "ok", found: "v20" }],
      }),
      ...createToolRoutes({
        describeTools: (names) =>
          names.map((name) => ({ type: "function", name, description: "D" })),
        agents: [{ name: "reviewer", description: "Reviews", instructions: "x" } as never],
      }),
    ],
  });
  return { ...bench, admin: await bench.key({ scopes: ["admin", "runs"] }) };
}

describe("keys over HTTP", () => {
  it("are made with limits, used, changed, rotated and revoked, and tell their secret once", async (t) => {
    const { ask, admin, guard } = await start(t);
    const post = (body: object) => ({ method: "POST", token: admin, body });
    const made = await ask(
      "/v1/admin/keys",
      post({
        name: "app",
        tenant: "acme",
        scopes: ["runs", "responses"],
        models: ["fast"],
        limits: { usd_per_day: 5, concurrent: 2 },
        expires_in_s: 3600,
      }),
    );
    fits("ServerKey", made.body);
    const { id, token } = made.body;
    assert.equal((await ask("/v1/runs", { token })).status, 200);
    const list = await ask("/v1/admin/keys", { token: admin });
    fits("KeyList", list.body);
    assert.ok(!list.text.includes(token) && !/"hash"/.test(list.text), "no secret in the list");
    const changed = await ask(
      `/v1/admin/keys/${id}`,
      post({ limits: { usd_per_day: 8, concurrent: null }, models: null, expires_in_s: null }),
    );
    assert.deepEqual(
      [changed.body.limits, changed.body.models, changed.body.expires_at_ms, changed.body.scopes],
      [{ usd_per_day: 8 }, null, null, ["runs", "responses"]],
    );
    const rotated = await ask(`/v1/admin/keys/${id}/rotate`, post({ keep_old_s: 60 }));
    fits("ServerKey", rotated.body);
    assert.notEqual(rotated.body.token, token);
    await guard.clock.advance(3000);
    assert.equal((await ask("/v1/runs", { token })).status, 200, "the old one, for a minute");
    assert.equal((await ask("/v1/runs", { token: rotated.body.token })).status, 200);
    await guard.clock.advance(60_000);
    assert.equal((await ask("/v1/runs", { token })).status, 401);
    const revoked = await ask(`/v1/admin/keys/${id}`, { method: "DELETE", token: admin });
    assert.equal(revoked.body.state, "revoked");
    await guard.clock.advance(3000);
    assert.equal((await ask("/v1/runs", { token: rotated.body.token })).status, 401);
    assert.equal((await ask(`/v1/admin/keys/${id}`, post({ limits: {} }))).status, 409);
  });

  it("say what is wrong with a wish", async (t) => {
    const { ask, admin } = await start(t);
    const { body: made } = await ask("/v1/admin/keys", {
      method: "POST",
      token: admin,
      body: { name: "a" },
    });
    const wrong: [string, object][] = [
      ["", { name: "" }],
      ["", { name: "a b" }],
      ["", { name: "a", scopes: ["root"] }],
      ["", { name: "a", limits: { usd_per_day: -1 } }],
      ["", { name: "a", limits: { usd_per_day: "5" } }],
      ["", { name: "a", limits: [] }],
      ["", { name: "a", models: "fast" }],
      ["", { name: "a", expires_in_s: "soon" }],
      [`/${made.id}`, { limits: { dollars: 5 } }],
      [`/${made.id}`, { response_limits: { turns: "many" } }],
      [`/${made.id}/rotate`, { keep_old_s: -1 }],
    ];
    for (const [path, body] of wrong) {
      const told = await ask(`/v1/admin/keys${path}`, { method: "POST", token: admin, body });
      assert.equal(told.status, 400, JSON.stringify(body));
      assert.ok(told.body.error.message.length > 20, told.body.error.message);
    }
    const unknown = await ask("/v1/admin/keys/none", { method: "POST", token: admin, body: {} });
    assert.equal(unknown.status, 404);
  });
});

describe("the state of a server over HTTP", () => {
  it("is shown only to administrators", async (t) => {
    const { ask, admin, key } = await start(t);
    const told = async (path: string, name: keyof typeof ADMIN_ANSWERS) => {
      const { body, status, text } = await ask(`/v1/admin/${path}`, { token: admin });
      assert.equal(status, 200, text);
      fits(name, body);
      assert.equal((await ask(`/v1/admin/${path}`, { token: await key() })).status, 403, path);
      return body;
    };
    const models = await told("models", "ServedModels");
    assert.deepEqual(models.deployments, [
      { name: "custom/a@gpu-1", workers: 2, ready: 1, cooldown_seconds: 30, reason: null },
    ]);
    assert.deepEqual(models.vendors, [
      { name: "openai", workers: 2, limit: 12, waiting: 5, paused_seconds: 7 },
    ]);
    const system = await told("system", "System");
    const [queue] = system.queues;
    assert.deepEqual([queue.at_once, queue.running, queue.waiting], [4, 1, 2]);
    const [tenant] = (await told("tenants", "TenantList")).data;
    assert.deepEqual([tenant.id, tenant.bytes, tenant.counts], ["acme", 500, { file: 3 }]);
    await told("settings", "SettingList");
    await told("doctor", "CheckList");
    const audit = await told("audit?status=4xx", "AuditList");
    assert.ok(
      audit.data.length > 0 && audit.data.every(({ status }: { status: number }) => status === 403),
    );
    assert.equal((await ask("/v1/admin/audit?status=many", { token: admin })).status, 400);
  });

  it("has the tools and agents that a key may offer", async (t) => {
    const { ask, key } = await start(t);
    const token = await key({ scopes: ["responses"], catalogue: ["bash_*"] });
    const { body } = await ask("/v1/tools", { token });
    fits("OwnToolList", body);
    assert.deepEqual(body.agents, [
      { object: "agent", name: "reviewer", description: "Reviews", model: null },
    ]);
    assert.ok(body.data.every(({ name }: { name: string }) => name.startsWith("bash_")));
  });
});
