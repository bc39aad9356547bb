/** Requests to `/mcp` that must give a caller no more access than the other addresses do, in the protocol's own words. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { AgentOptions } from "../../src/delegation/agents/own-agents.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { parseRule } from "../../src/tools/gate/rules.ts";
import { until } from "../patience.ts";
import {
  createGuardBench,
  type GuardBench,
  type GuardedServer,
  type Received,
  type Sent,
  startGuarded,
} from "../server/guard/guard-fixture.ts";
import { connectMcp, offeredTools, structuredOf, textOf } from "../server/mcp-client.ts";
import type { ServerSetup } from "../server/server-fixture.ts";

const AGENT: AgentOptions = {
  name: "helper",
  description: "Helps.",
  instructions: "Help.",
  tools: [],
  expose: ["mcp"],
};
const ACCEPT = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const SCOPES = ["responses", "runs", "approve"] as const;

interface Attacked {
  readonly bench: GuardBench;
  readonly server: GuardedServer;
  send(sent: Sent): Promise<Received>;
}

async function start(t: TestContext, setup: ServerSetup = {}): Promise<Attacked> {
  const bench = createGuardBench();
  const hello = respond(() => reply.text("Hello."));
  const server = await startGuarded(t, bench, hello, { agents: [AGENT], ...setup });
  const send = ({ headers, ...sent }: Sent): Promise<Received> =>
    server.send({ path: "/mcp", body: LIST, ...sent, headers: { ...ACCEPT, ...headers } });
  return { bench, server, send };
}

function call(name: string, given: object, id: number | string = 1): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: given } };
}

/** The error of an answer in JSON-RPC's form; throws for any other form. */
function rpcErrorOf({ text, headers }: Received): { code: number; message: string } {
  assert.equal(headers["content-type"], "application/json", text);
  const { jsonrpc, id, error } = JSON.parse(text);
  assert.deepEqual([jsonrpc, id], ["2.0", null]);
  assert.equal(typeof error.message, "string");
  assert.doesNotMatch(text, /\bat .*\.(js|ts):\d|node_modules|SQLITE|ZodError/);
  return error;
}

/** What a stream says. */
function messagesOf({ text }: Received): { id?: unknown; result?: unknown; error?: unknown }[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
}

describe("attacks on /mcp", () => {
  it("without a good key, from a foreign page or for a foreign host get nowhere", async (t) => {
    const { bench, server, send } = await start(t);
    const { token } = await bench.makeKey();
    const narrow = await bench.makeKey({ scopes: ["models"] });
    const rows: [Sent, number][] = [
      [{}, 401],
      [{ token: "osk_wrong" }, 401],
      [{ token: narrow.token }, 403],
      [{ token, headers: { origin: "https://evil.example" } }, 403],
      [{ token, headers: { host: "evil.example" } }, 403],
      [{ token, headers: { "sec-fetch-site": "same-site" } }, 403],
      [{ token, headers: { "sec-fetch-site": "cross-site" } }, 403],
    ];
    for (const [sent, status] of rows) {
      const answer = await send(sent);
      assert.equal(answer.status, status, JSON.stringify(sent));
      rpcErrorOf(answer);
    }
    assert.equal(server.upstream.requests.length, 0);
    assert.equal((await send({ token })).status, 200);
  });

  it("with broken, strange and large messages are refused in the protocol's words", async (t) => {
    const { bench, server, send } = await start(t, {
      server: { body: { maxBytes: 10_000_000, timeoutMs: 60_000 } },
    });
    const { token } = await bench.makeKey();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const rows: [string, Sent, number, number | undefined][] = [
      ["not JSON", { body: "{" }, 400, -32_700],
      ["not UTF-8 in words", { body: "\ud800{" }, 400, -32_700],
      ["deep", { body: deep }, 400, -32_700],
      ["no message", { body: '"hello"' }, 400, -32_700],
      ["an object that is not a message", { body: { hello: 1 } }, 400, -32_700],
      ["a long batch", { body: Array.from({ length: 21 }, () => LIST) }, 400, -32_600],
      ["an empty batch", { body: [] }, 400, -32_600],
      ["two beginnings", { body: [toInitialize(1), toInitialize(2)] }, 400, -32_600],
      ["another type", { headers: { "content-type": "text/plain" } }, 415, undefined],
      ["no stream", { headers: { accept: "application/json" } }, 406, undefined],
      ["an unknown version", { headers: { "mcp-protocol-version": "1999-01-01" } }, 400, undefined],
      ["a made-up session", { headers: { "mcp-session-id": "mcp_1.forms.x" } }, 404, -32_001],
      ["10 MB", { body: toLarge(10_000_000) }, 413, undefined],
    ];
    for (const [name, sent, status, code] of rows) {
      const answer = await send({ token, ...sent });
      assert.equal(answer.status, status, `${name}: ${answer.text.slice(0, 200)}`);
      const error = rpcErrorOf(answer);
      if (code !== undefined) assert.equal(error.code, code, name);
    }
    for (const [method, status] of [
      ["GET", 405],
      ["DELETE", 405],
      ["PUT", 405],
    ] as const) {
      assert.equal((await send({ token, method, body: "" })).status, status, method);
    }
    const unknown = messagesOf(await send({ token, body: { ...LIST, method: "no/such" } }));
    assert.deepEqual(
      unknown.map(({ id, error }) => [id, (error as { code: number }).code]),
      [[1, -32_601]],
    );
    for (const params of [undefined, { name: 7 }, { name: "agent_helper", arguments: "x" }]) {
      const [said] = messagesOf(
        await send({ token, body: { ...LIST, method: "tools/call", params } }),
      );
      const { code, message } = (said?.error ?? assert.fail("answered")) as {
        code: number;
        message: string;
      };
      assert.equal(code, -32_602, message);
      assert.match(message, /^`params[.\w]*` does not fit: .*\.$/);
    }
    // A large prompt is a prompt: it is sent, and the server is well.
    const long = await send({
      token,
      body: call("agent_helper", { prompt: "x".repeat(5_000_000) }),
    });
    assert.match(JSON.stringify(messagesOf(long)), /Hello\./);
    assert.equal(server.upstream.requests.length, 1);
  });

  it("that leave fields empty, or send newer ones, are answered as without them", async (t) => {
    const { bench, send } = await start(t);
    const { token } = await bench.makeKey();
    const given = { name: "agent_helper", arguments: { prompt: "Go" } };
    const rows: object[] = [
      { method: "tools/list", params: null },
      { method: "tools/call", params: { ...given, _meta: null } },
      { method: "tools/call", params: { ...given, _meta: { progressToken: null } } },
      { method: "tools/call", params: { ...given, task: { ttl: 60_000 } } },
      { method: "tools/call", params: given, traceparent: "00-1-1-00" },
    ];
    for (const fields of rows) {
      const answer = await send({ token, body: { jsonrpc: "2.0", id: 1, ...fields } });
      assert.equal(answer.status, 200, answer.text);
      const [said] = messagesOf(answer).slice(-1);
      assert.ok(said?.result, `${JSON.stringify(fields)}: ${answer.text}`);
    }
  });

  it("see and touch nothing of another tenant", async (t) => {
    const { bench, server } = await start(t);
    const one = await bench.makeKey({ tenant: "one", scopes: [...SCOPES] });
    const two = await bench.makeKey({ tenant: "two", scopes: [...SCOPES] });
    await using mine = await connectMcp(server.url, { token: one.token });
    await using theirs = await connectMcp(server.url, { token: two.token });
    const { run_id } = structuredOf(await mine.call("agent_helper", { prompt: "Mine" }));
    const gone = "run_01k00000000000000000000000";
    for (const [name, more] of [
      ["run_status", {}],
      ["run_result", { wait_s: 0 }],
      ["run_cancel", {}],
      ["run_continue", { message: "Go on" }],
    ] as const) {
      const answer = await theirs.call(name, { run_id, ...more });
      const nothing = await theirs.call(name, { run_id: gone, ...more });
      assert.equal(answer.isError, true, name);
      // The same words as about a run that does not exist.
      assert.equal(textOf(answer).replace(String(run_id), gone), textOf(nothing));
    }
    for (const uri of [`run://${run_id}`, `run://${run_id}/events`]) {
      await assert.rejects(theirs.client.readResource({ uri }), /There is no run/);
    }
    assert.deepEqual((await theirs.client.listResources()).resources, []);
    assert.equal((await mine.client.listResources()).resources.length, 1);
    assert.equal(server.upstream.requests.length, 1);
  });

  it("are refused with another tenant's session, and with a changed one", async (t) => {
    const { bench, server, send } = await start(t);
    const one = await bench.makeKey({ tenant: "one" });
    const two = await bench.makeKey({ tenant: "two" });
    await using mine = await connectMcp(server.url, { token: one.token });
    const session = mine.transport.sessionId ?? "";
    assert.match(session, /^mcp_\w+\.plain\./);
    const rows: [string, string][] = [
      [two.token, session],
      [one.token, session.replace(".plain.", ".forms.")],
      [one.token, `${session}x`],
    ];
    for (const [token, id] of rows) {
      const answer = await send({ token, headers: { "mcp-session-id": id } });
      assert.equal(answer.status, 404, id);
    }
    const own = await send({ token: one.token, headers: { "mcp-session-id": session } });
    assert.equal(own.status, 200);
  });

  it("do not run a call twice that is sent twice, nor another one under its name", async (t) => {
    const { bench, server, send } = await start(t);
    const { token } = await bench.makeKey();
    await using mcp = await connectMcp(server.url, { token });
    const headers = { "mcp-session-id": mcp.transport.sessionId ?? "" };
    const body = call("agent_helper", { prompt: "Once" }, "same");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send({ token, headers, body })),
    );
    for (const answer of answers) assert.match(answer.text, /Hello\./);
    assert.equal(server.upstream.requests.length, 1);
    const other = await send({
      token,
      headers,
      body: call("agent_helper", { prompt: "Other" }, "same"),
    });
    assert.match(other.text, /was sent before with another request/);
    assert.equal(server.upstream.requests.length, 1);
  });

  it("do not approve what they were not asked, with a key that may not, or for another tenant", async (t) => {
    const engineRules = [parseRule("ask", "bash_read", "a test")];
    const agents = [{ ...AGENT, tools: ["bash_read"] }];
    const bench = createGuardBench();
    const READ = { name: "offshoot__bash_read", arguments: '{"filepath":"a.txt"}' };
    const engine = respond((request) =>
      JSON.stringify(request).includes("function_call_output")
        ? reply.text("Done.")
        : reply.calls([READ]),
    );
    const server = await startGuarded(t, bench, engine, {
      agents,
      rules: engineRules,
      files: { "a.txt": "the secret" },
      mcp: { approvalWaitMs: 3_600_000 },
    });
    const own = await bench.makeKey({ tenant: "one", scopes: [...SCOPES] });
    const weak = await bench.makeKey({ tenant: "one", scopes: ["responses", "runs"] });
    const foreign = await bench.makeKey({ tenant: "two", scopes: [...SCOPES] });
    let form = "";
    await using mcp = await connectMcp(server.url, {
      token: own.token,
      elicit: () => new Promise(() => {}),
      // What it is asked under is in the stream.
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        if (!answer.body) return answer;
        const [read, kept] = answer.body.tee();
        void (async () => {
          for await (const piece of read) {
            form ||= /"id":"(approve:[^"]+)"/.exec(Buffer.from(piece).toString())?.[1] ?? "";
          }
        })().catch(() => {});
        return new Response(kept, answer);
      },
    });
    const called = mcp.call("agent_helper", { prompt: "Read it" });
    await until(() => form || undefined, "the form");
    const accept = { action: "accept", content: { decision: "once" } };
    const send = (token: string, id: unknown, result: unknown): Promise<Received> =>
      server.send({
        path: "/mcp",
        token,
        headers: ACCEPT,
        body: { jsonrpc: "2.0", id, result } as object,
      });
    for (const [token, id] of [
      [weak.token, form],
      [foreign.token, form],
      [own.token, "approve:bm90aGluZw"],
      [own.token, `approve:${Buffer.from('["run_x","tool:1"]').toString("base64url")}`],
    ] as const) {
      assert.equal((await send(token, id, accept)).status, 202);
    }
    assert.equal((await server.runtime.questions()).length, 1);
    // An unclear answer counts as no, and the second answer changes nothing.
    assert.equal(
      (await send(own.token, form, { action: "accept", content: { decision: "tree" } })).status,
      202,
    );
    assert.equal((await send(own.token, form, accept)).status, 202);
    await called;
    assert.match(JSON.stringify(server.upstream.requests.at(-1)?.body), /denied by user/);
  });

  it("do not pass a key's rate, its places or its money, in batches neither", async (t) => {
    const { bench, server, send } = await start(t);
    const rated = await bench.makeKey({ limits: { requests_per_minute: 5 } });
    const batch = Array.from({ length: 6 }, (_, id) => call("agent_helper", { prompt: "x" }, id));
    const refused = await send({ token: rated.token, body: batch });
    assert.equal(refused.status, 429);
    rpcErrorOf(refused);
    assert.equal(server.upstream.requests.length, 0);
    const poor = await bench.makeKey({ limits: { usd_total: 1 } });
    const unpaid = await send({ token: poor.token, body: call("agent_helper", { prompt: "x" }) });
    assert.match(JSON.stringify(messagesOf(unpaid)), /price/);
    assert.equal(server.upstream.requests.length, 0);
    // One place is enough for a call and its run: the call does not keep its own run waiting.
    const single = await bench.makeKey({ limits: { concurrent: 1 } });
    const one = await send({ token: single.token, body: call("agent_helper", { prompt: "x" }) });
    assert.match(JSON.stringify(messagesOf(one)), /Hello\./);
  });

  it("do not widen the models and tools of a key", async (t) => {
    const agents = [
      { ...AGENT, model: "openai/gpt-5.1" },
      { ...AGENT, name: "reader", tools: ["bash_read", "shell"] },
    ];
    const { bench, server, send } = await start(t, { agents });
    const narrow = await bench.makeKey({ models: ["small-*"], catalogue: [] });
    const other = await send({ token: narrow.token, body: call("agent_helper", { prompt: "x" }) });
    assert.match(JSON.stringify(messagesOf(other)), /may not/);
    const plain = await bench.makeKey({ catalogue: ["bash_find"] });
    await send({ token: plain.token, body: call("agent_reader", { prompt: "x" }) });
    assert.deepEqual(offeredTools(server.upstream), []);
  });
});

function toInitialize(id: number): object {
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  return { jsonrpc: "2.0", id, method: "initialize", params };
}

function toLarge(bytes: number): string {
  return JSON.stringify(call("agent_helper", { prompt: "x".repeat(bytes) }));
}
