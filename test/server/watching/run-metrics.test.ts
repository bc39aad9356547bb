import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toUsage } from "../../../src/protocol/usage.ts";
import { FAILURE_RULES } from "../../../src/providers/deployments/failure-rules.ts";
import { NO_RUN } from "../../../src/responses/fold/response-object.ts";
import { createRegistry, renderMetrics } from "../../../src/server/watching/metrics.ts";
import { createRunMetrics } from "../../../src/server/watching/run-metrics.ts";
import { reply, script } from "../../../src/testing/index.ts";
import { compaction } from "../../responses/logged-run.ts";
import { startServer } from "../server-fixture.ts";

describe("the numbers of runs", () => {
  it("count responses, tokens and failures", async (t) => {
    const hello = reply.text("Hello.");
    // A status that no client repeats: a repeated one would wait in real time.
    const server = await startServer(t, script(hello, hello, reply.status(400, "No.")));
    const registry = createRegistry();
    const metrics = createRunMetrics(registry);
    for (const { durable, passing } of server.replicas) {
      for (const engine of [durable, passing]) engine.watch(metrics.observe);
    }
    const first = await server.create({ input: "Hi" });
    const second = await server.create({ input: "Hi" });
    const text = renderMetrics(registry.read());
    const sum = (first.usage?.output_tokens ?? 0) + (second.usage?.output_tokens ?? 0);
    assert.match(
      text,
      new RegExp(`offshoot_tokens_total\\{model="custom/scripted",direction="output"\\} ${sum}\\n`),
    );
    assert.match(text, /offshoot_responses_ended_total\{ending="completed"\} 2\n/);
    assert.match(text, /offshoot_responses\{state="running"\} 0\n/);
    const facts = metrics.take(first.id);
    assert.deepEqual(
      [facts?.model, facts?.output_tokens],
      ["custom/scripted", first.usage?.output_tokens],
    );
    assert.equal(metrics.take(first.id), undefined, "told once");
    assert.notEqual((await server.ask("POST", "/v1/responses", { input: "Hi" })).status, 200);
    assert.match(
      renderMetrics(registry.read()),
      /offshoot_upstream_errors_total\{code="provider_\w+"\} 1\n/,
    );
  });

  it("count what the summary of a subagent's conversation took", () => {
    const registry = createRegistry();
    const metrics = createRunMetrics(registry);
    const run_id = "run_1/reader-1.0";
    const settings = { ...NO_RUN, model: "custom/any" };
    const start = { type: "run_start", run_id, created_at_ms: 0, settings };
    for (const event of [start, compaction(4)]) metrics.observe({ run_id, event } as never);
    const text = renderMetrics(registry.read());
    assert.match(text, /offshoot_tokens_total\{model="custom\/any",direction="input"\} 1200\n/);
  });

  it("count each failure that is a model's or its server's, by code", () => {
    const registry = createRegistry();
    const metrics = createRunMetrics(registry);
    // A key that is not set is this server's own: nothing was sent.
    const codes = FAILURE_RULES.flatMap((rule) => rule.codes).filter(
      (one) => one !== "key_missing",
    );
    for (const [at, code] of [...codes, "key_missing", "invalid_request"].entries()) {
      const run_id = `run_${at}`;
      const settings = { ...NO_RUN, model: "custom/any" };
      const usage = toUsage({ input: 0, output: 0 });
      const error = { code, message: "" };
      const start = { type: "run_start", run_id, created_at_ms: 0, settings };
      const end = { type: "run_end", ending: "failed", error, usage, cost_usd: null, at_ms: 0 };
      for (const event of [start, end]) metrics.observe({ run_id, event } as never);
    }
    const counted = renderMetrics(registry.read()).matchAll(
      /upstream_errors_total\{code="(\w+)"\}/g,
    );
    assert.deepEqual([...counted].map(([, code]) => code).sort(), [...codes].sort());
  });

  it("have room for real models whatever names clients make up", () => {
    const registry = createRegistry();
    const metrics = createRunMetrics(registry);
    const run = (model: string, tokens: number): void => {
      const usage = toUsage({ input: tokens, output: 0 });
      const settings = { ...NO_RUN, model };
      const head = { run_id: `run_${model}`, at_ms: 0 };
      const start = { type: "run_start", ...head, created_at_ms: 0, settings };
      const end = { type: "run_end", ending: "completed", usage, cost_usd: null, at_ms: 0 };
      const retry = { type: "notice", code: "retry", message: "" };
      for (const event of [start, retry, end]) metrics.observe({ ...head, event } as never);
    };
    for (let at = 0; at < 3000; at++) run(`custom/refused-${at}`, 0);
    run("custom/real", 5);
    for (let at = 0; at < 3000; at++) run(`custom/made-up-${at}`, 1);
    run("custom/real", 5);
    const text = renderMetrics(registry.read());
    assert.match(text, /tokens_total\{model="custom\/real",direction="input"\} 10\n/);
    assert.match(text, /tokens_total\{model="other",direction="input"\} 2501\n/);
    assert.match(text, /retries_total\{model="custom\/real"\} 1\n/);
    assert.match(text, /retries_total\{model="other"\} 6001\n/);
    assert.doesNotMatch(text, /refused/);
  });

  it("count a response that reports only its beginning and its end", async (t) => {
    const server = await startServer(t, script(reply.text("Hello.")));
    const { id } = await server.create({ input: "Hi" });
    const registry = createRegistry();
    const metrics = createRunMetrics(registry);
    const log = await server.responses.durable.record.readEvents(
      id.replace("resp_", "run_"),
      -1,
      99,
    );
    for (const logged of log) {
      if (["run_start", "run_end"].includes(logged.event.type)) metrics.observe(logged);
    }
    const text = renderMetrics(registry.read());
    assert.match(
      text,
      /offshoot_tokens_total\{model="custom\/scripted",direction="output"\} [1-9]/,
    );
    assert.ok(metrics.take(id));
  });
});
