/** How long a call over `/mcp` waits for its run: no longer than its client does. Nothing waits for real time. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { toResolvers } from "../../src/base/async.ts";
import type { AgentOptions } from "../../src/delegation/agents/own-agents.ts";
import {
  createManualClock,
  type Fault,
  type ManualClock,
  reply,
  respond,
} from "../../src/testing/index.ts";
import { PATIENCE_MS, until, untilTrue } from "../patience.ts";
import { connectMcp, type McpClient, structuredOf } from "./mcp-client.ts";
import { startServer } from "./server-fixture.ts";

const WORKER: AgentOptions = {
  name: "worker",
  description: "Works.",
  instructions: "Work.",
  tools: [],
  expose: ["mcp"],
};

interface Waiting {
  readonly clock: ManualClock;
  /** Lets the model answer. */
  readonly answer: () => void;
  /** The reports of progress. */
  readonly told: string[];
  readonly mcp: McpClient;
  /** How many cancellations of the client the server has taken. */
  cancelled(): number;
  /** Calls the agent, and resolves when the call waits for its run. */
  begin(
    asks: "progress" | "no progress",
    signal?: AbortSignal,
  ): Promise<{ readonly ended: Promise<CallToolResult> }>;
}

/** A server whose calls wait 45 seconds, and a model that does not answer yet. */
async function startWaiting(t: TestContext, query: string): Promise<Waiting> {
  const clock = createManualClock();
  const { promise, resolve } = toResolvers<void>();
  const late: Fault = {
    name: "late",
    async *bytes(pieces) {
      await promise;
      yield* pieces;
    },
  };
  const engine = respond(() => reply.text("At last."));
  const mcp = { clock, waitMs: 45_000 };
  const server = await startServer(t, engine, { agents: [WORKER], faults: late, mcp });
  let cancelled = 0;
  const connected = await connectMcp(server.url, {
    query,
    fetch: async (url, init) => {
      const answered = await fetch(url, init);
      if (String(init?.body).includes("notifications/cancelled")) cancelled += 1;
      return answered;
    },
  });
  t.after(() => connected[Symbol.asyncDispose]());
  const told: string[] = [];
  const onprogress = ({ message = "" }): unknown => told.push(message);
  return {
    ...{ clock, told, answer: () => resolve(), mcp: connected, cancelled: () => cancelled },
    async begin(asks, signal) {
      const before = clock.sleeping;
      const ended = connected.client.callTool(
        { name: "agent_worker", arguments: { prompt: "Go" } },
        undefined,
        {
          timeout: PATIENCE_MS,
          ...(asks === "progress" ? { onprogress } : {}),
          ...(signal ? { signal } : {}),
        },
      ) as Promise<CallToolResult>;
      await untilTrue(() => clock.sleeping > before, "the call to wait");
      return { ended };
    },
  };
}

describe("a call over /mcp", () => {
  for (const asks of ["progress", "no progress"] as const) {
    it(`answers with the run's id before a client with ?wait=4 and ${asks} gives up`, async (t) => {
      const { clock, begin } = await startWaiting(t, "?wait=4");
      const { ended } = await begin(asks);
      await clock.advance(4000);
      const { run_id, ending } = structuredOf(await ended);
      assert.match(String(run_id), /^run_/);
      assert.equal(ending, null);
    });
  }

  it("waits 45 seconds also if its client asks for progress, and reports every 2", async (t) => {
    const { clock, begin, told } = await startWaiting(t, "");
    const { ended } = await begin("progress");
    assert.match((await until(() => told[0], "the first report")) ?? "", /^run_\w+: /);
    await clock.advance(44_999);
    await untilTrue(() => told.length === 23, "a report every 2 seconds");
    await clock.advance(1);
    assert.equal(structuredOf(await ended)["ending"], null);
  });

  for (const reason of ["McpError: MCP error -32001: Request timed out", "request timeout"]) {
    it(`that its client cancels with "${reason}" leaves its run at work`, async (t) => {
      const { begin, told, answer, mcp, cancelled } = await startWaiting(t, "");
      const stop = new AbortController();
      const { ended } = await begin("progress", stop.signal);
      const id = (await until(() => told[0], "the first report"))?.split(":")[0];
      stop.abort(reason);
      await assert.rejects(ended);
      await untilTrue(() => cancelled() === 1, "the end of the cancellation");
      answer();
      const result = await until(async () => {
        const next = structuredOf(await mcp.call("run_status", { run_id: id }));
        return next["ending"] === null ? undefined : next;
      }, "the ending");
      assert.equal(result["ending"], "completed");
    });
  }

  it("waits as long as its client says, also if that is longer than the server's own wait", async (t) => {
    const { clock, begin, told, answer } = await startWaiting(t, "?wait=3600");
    const { ended } = await begin("progress");
    await clock.advance(3_000_000);
    await untilTrue(() => told.length > 1000, "a report every 2 seconds");
    answer();
    assert.equal(structuredOf(await ended)["ending"], "completed");
  });
});
