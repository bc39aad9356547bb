/**
 * `/mcp` of the built server: three workers are one server, a stop loses nothing, and an agent that calls
 * itself ends.
 */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { until } from "../patience.ts";
import { connectMcp, structuredOf, textOf } from "../server/mcp-client.ts";
import { createPlace, type Place } from "./command.ts";
import { serve, slowModel, startSlowUpstream } from "./served.ts";
import { CHAT } from "./wires.ts";

const KEY = "osk_test_key_of_the_test_suite";

async function write({ home }: Place, path: string, text: string): Promise<void> {
  const file = join(home, ".config", "offshoot", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

function toAgent(name: string, tools: string): string {
  return `---\nname: ${name}\ndescription: Does it.\ntools: ${tools}\nexpose: mcp\n---\nDo it.\n`;
}

/**
 * The SDK's client keeps connections; here each request has one of its own, so that it goes to the next
 * worker.
 */
const separately: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  headers.set("connection", "close");
  return fetch(url, { ...init, headers });
};

describe("/mcp of a server with three workers", () => {
  it("answers each request of a client in another process, also for forms and the end of calls", async () => {
    await using place = await createPlace({ "a.txt": "the secret" });
    await write(place, "agents/reader.md", toAgent("reader", "[bash_read]"));
    await write(place, "config.yaml", "ask: [bash_read]\n");
    const READ = { name: "offshoot__bash_read", arguments: '{"filepath":"a.txt"}' };
    const engine = respond((request) =>
      JSON.stringify(request).includes("function_call_output")
        ? reply.text("Read.")
        : reply.calls([READ]),
    );
    const upstream = await CHAT.start({ engine });
    const model = { OFFSHOOT_MODEL: "custom/test-model", OFFSHOOT_URL: upstream.url };
    try {
      await using served = await serve({ place, key: KEY, env: model, args: ["--workers", "3"] });
      await using mcp = await connectMcp(served.url, {
        token: KEY,
        fetch: separately,
        elicit: () => ({ action: "accept", content: { decision: "once" } }),
      });
      for (let round = 0; round < 4; round++) {
        const result = await mcp.call("agent_reader", { prompt: `Read it ${round}` });
        assert.match(textOf(result), /^Read\./);
        const { run_id } = structuredOf(result);
        const shown = await mcp.call("run_status", { run_id });
        assert.equal(structuredOf(shown)["ending"], "completed");
        const log = await mcp.client.readResource({ uri: `run://${run_id}/events` });
        assert.match(JSON.stringify(log.contents), /the secret/);
      }
      assert.equal(mcp.forms.length, 4);
    } finally {
      await upstream.close();
    }
  });

  it("ends the run of a call that the client cancels, wherever it runs", async () => {
    await using place = await createPlace();
    await write(place, "agents/slow.md", toAgent("slow", "[]"));
    await using upstream = await startSlowUpstream();
    const args = ["--workers", "3", ...slowModel(upstream)];
    await using served = await serve({ place, key: KEY, args });
    await using mcp = await connectMcp(served.url, { token: KEY, fetch: separately });
    for (let round = 1; round <= 3; round++) {
      const stop = new AbortController();
      const called = mcp.call("agent_slow", { prompt: `Hang ${round}` }, stop.signal);
      await until(() => (upstream.open === 1 ? true : undefined), "the model call");
      stop.abort();
      await assert.rejects(called);
      await until(() => (upstream.open === 0 ? true : undefined), "the end of the model call");
    }
  });
});

describe("/mcp of a server that stops", () => {
  it("reports that a run continues, and the next server has its answer", async () => {
    await using place = await createPlace();
    await write(place, "agents/slow.md", toAgent("slow", "[]"));
    await write(place, "config.yaml", "server: { drain_seconds: 0 }\n");
    await using upstream = await startSlowUpstream();
    const args = slowModel(upstream);
    let run_id: unknown;
    {
      await using served = await serve({ place, key: KEY, args });
      await using mcp = await connectMcp(served.url, { token: KEY });
      const called = mcp.call("agent_slow", { prompt: "Take your time" });
      await until(() => (upstream.open === 1 ? true : undefined), "the model call");
      served.command.child.kill("SIGTERM");
      const result = await called;
      run_id = structuredOf(result)["run_id"];
      assert.equal(structuredOf(result)["ending"], null);
      await served.command.ended;
    }
    await using served = await serve({ place, key: KEY, args });
    await using mcp = await connectMcp(served.url, { token: KEY });
    await until(() => (upstream.open === 1 ? true : undefined), "the run on the next server");
    upstream.finish();
    const result = await until(async () => {
      const next = await mcp.call("run_result", { run_id, wait_s: 50 });
      return structuredOf(next)["ending"] === null ? undefined : next;
    }, "the answer");
    assert.match(textOf(result), /^One/);
  });
});

describe("an agent that calls itself over MCP", () => {
  it("is refused after three rounds", async () => {
    await using place = await createPlace();
    await write(place, "agents/loop.md", toAgent("loop", '["mcp__self__agent_loop"]'));
    const engine = respond((request) =>
      JSON.stringify(request).includes("function_call_output")
        ? reply.text("Round.")
        : reply.calls([{ name: "self__agent_loop", arguments: '{"prompt":"Again"}' }]),
    );
    const upstream = await CHAT.start({ engine });
    const model = { OFFSHOOT_MODEL: "custom/test-model", OFFSHOOT_URL: upstream.url };
    try {
      await using served = await serve({ place, key: KEY, env: { ...model, SELF_KEY: KEY } });
      // It finds itself among its MCP servers once it listens.
      const self = `{ url: "${served.url}/mcp", headers: { Authorization: "Bearer \${SELF_KEY}" } }`;
      const lines = ["mcp_servers:", `  self: ${self}`, "server:"];
      await write(place, "config.yaml", `${lines.join("\n")}\n  tools: ["mcp__self__*"]\n`);
      served.command.child.kill("SIGHUP");
      await served.command.waitForStderr(/new settings/);
      await using mcp = await connectMcp(served.url, { token: KEY });
      const result = await mcp.call("agent_loop", { prompt: "Go round" });
      assert.match(textOf(result), /^Round\./);
      const asked = upstream.requests.map(({ body }) => JSON.stringify(body));
      assert.equal(asked.filter((text) => text.includes("calls itself")).length, 1);
      assert.equal(upstream.requests.length, 6);
    } finally {
      await upstream.close();
    }
  });
});
