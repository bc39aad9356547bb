/** Telemetry of the built command: log lines on stderr, OTLP to a collector on the loopback. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  reply,
  respond,
  script,
  startChatUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { type Collector, startCollector } from "../delegation/telemetry-collector.ts";
import { createPlace, type Ended, type Place } from "./command.ts";

/** The parent asks one child, which answers at once. */
const delegating = () =>
  respond(({ items }) => {
    const asked = items.findLast((item) => item.type === "message" && item.role === "user");
    const content = asked?.type === "message" ? JSON.stringify(asked.content) : "";
    const hasOutput = items.some(({ type }) => type === "function_call_output");
    if (hasOutput || !content.includes("delegate it")) return reply.text("done");
    const input = { label: "helper", task_prompt: "Say done." };
    return reply.calls([{ name: "subagent", arguments: JSON.stringify(input) }]);
  });

interface Stage extends AsyncDisposable {
  readonly place: Place;
  readonly upstream: Upstream;
  run(env: Readonly<Record<string, string>>): Promise<Ended>;
}

async function openStage(): Promise<Stage> {
  const place = await createPlace();
  const upstream = await startChatUpstream({ engine: delegating() });
  const model = ["--model", "custom/test", "--url", upstream.url];
  const run: Stage["run"] = (env) =>
    place.run(["run", ...model, "--tools", "subagent", "delegate it"], { env });
  return {
    place,
    upstream,
    run,
    async [Symbol.asyncDispose]() {
      await upstream.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

const nameOf = ({ url }: Collector): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
});

describe("the log of subagents, of the built command", () => {
  it("has a line for the start and one for the end, with the contract's fields", async () => {
    await using stage = await openStage();
    const { code, stderr } = await stage.run({ OFFSHOOT_LOG: "subagent=info" });
    assert.equal(code, 0, stderr);
    const lines = stderr.split("\n").filter((line) => line.includes("subagent.event="));
    assert.equal(lines.length, 2, stderr);
    assert.match(
      lines[0] ?? "",
      /info subagent subagent\.event=spawn subagent\.label=helper subagent\.depth=1 subagent\.max_turns=\d+ subagent\.allowed_tools=\[.*\] Spawning subagent$/,
    );
    assert.match(
      lines[1] ?? "",
      /info subagent subagent\.event=complete subagent\.label=helper subagent\.depth=1 subagent\.turns_used=1 subagent\.tokens_consumed=\d+ subagent\.status=complete Subagent completed$/,
    );
  });

  it("is silent if telemetry is switched off, and nothing is sent then", async () => {
    await using stage = await openStage();
    await using collector = await startCollector();
    const off = { OFFSHOOT_AGENT_SUBAGENT_TELEMETRY_ENABLED: "false" };
    const { code, stderr } = await stage.run({
      OFFSHOOT_LOG: "info",
      ...off,
      ...nameOf(collector),
    });
    assert.equal(code, 0, stderr);
    assert.ok(!stderr.includes("subagent.event="), stderr);
    assert.deepEqual(collector.received, []);
  });
});

describe("OpenTelemetry of the built command", () => {
  it("sends the whole tree below the trace in which it was started", async () => {
    await using stage = await openStage();
    await using collector = await startCollector();
    const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { code, stderr } = await stage.run({
      ...nameOf(collector),
      TRACEPARENT,
      OTEL_SERVICE_NAME: "e2e",
    });
    assert.equal(code, 0, stderr);
    const spans = collector.spans();
    const byId = new Map(spans.map((span) => [span.spanId, span.name]));
    byId.set("b7ad6b7169203331", "the caller");
    assert.deepEqual(
      spans.map(({ name, parentSpanId = "" }) => `${name} < ${byId.get(parentSpanId)}`).sort(),
      [
        "chat test < invoke_agent helper",
        "chat test < invoke_agent offshoot",
        "chat test < invoke_agent offshoot",
        "execute_tool subagent < invoke_agent offshoot",
        "invoke_agent helper < execute_tool subagent",
        "invoke_agent offshoot < the caller",
      ],
    );
    assert.deepEqual(
      [...new Set(spans.map(({ traceId, resource }) => `${traceId} ${resource["service.name"]}`))],
      ["0af7651916cd43dd8448eb211c80319c e2e"],
    );
    assert.ok(!JSON.stringify(collector.received).includes("delegate it"), "the prompt");
    assert.ok(collector.metric("gen_ai.client.token.usage"));
    assert.ok(collector.metric("gen_ai.client.operation.duration"));
  });

  for (const [what, answer] of [
    ["answers 500", 500],
    ["is always busy", 503],
    ["never answers", undefined],
  ] as const) {
    it(`does not affect a run if the collector ${what}`, async () => {
      await using stage = await openStage();
      await using collector = await startCollector(() => answer);
      const plain = await stage.run({});
      const watched = await stage.run(nameOf(collector));
      assert.deepEqual([watched.code, watched.stdout], [plain.code, plain.stdout]);
      assert.ok(collector.received.length > 0);
    });
  }

  it("ends the span of a killed run when it is resumed", async () => {
    await using place = await createPlace();
    await using collector = await startCollector();
    const replies = [reply.silence("Let me "), reply.text("done")];
    await using upstream = await startChatUpstream({ engine: script(...replies) });
    const env = nameOf(collector);
    const model = ["--model", "custom/test", "--url", upstream.url];
    const command = place.start(["run", ...model, "--tools", "none", "say it"], { env });
    await command.waitForStdout("Let me ");
    command.child.kill("SIGKILL");
    await command.ended;
    const [id = ""] = await place.runIds();
    const { code, stderr } = await place.run(["runs", "resume", id], { env });
    assert.equal(code, 0, stderr);
    const runs = collector.spans().filter(({ name }) => name === "invoke_agent offshoot");
    assert.deepEqual(
      runs.map(({ attributes, events }) => [attributes["gen_ai.agent.id"], events[0]?.name]),
      [[id, "offshoot.run.resume"]],
    );
    assert.equal(collector.spans().filter(({ name }) => name === "chat test").length, 1);
  });

  it("does not delay a run if there is no collector", async () => {
    await using stage = await openStage();
    const gone = await startCollector();
    await gone[Symbol.asyncDispose]();
    const { code, stdout, stderr } = await stage.run({ ...nameOf(gone), OFFSHOOT_LOG: "warn" });
    assert.deepEqual([code, stdout], [0, "done\n"]);
    assert.match(stderr, /Could not send spans/);
  });
});
