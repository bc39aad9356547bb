/** `/mcp` with the MCP SDK's own client: agents as tools, long runs, approvals, and clients that leave. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentOptions } from "../../src/delegation/agents/own-agents.ts";
import { type Fault, reply, respond, script } from "../../src/testing/index.ts";
import { parseRule } from "../../src/tools/gate/rules.ts";
import { toDepthMeta } from "../../src/tools/mcp/depth.ts";
import { PATIENCE_MS, until } from "../patience.ts";
import { connectMcp, offeredTools, structuredOf, textOf } from "./mcp-client.ts";
import { ANYBODY, startServer, type TestServer } from "./server-fixture.ts";

const READER: AgentOptions = {
  name: "reader",
  description: "Reads a file.",
  instructions: "You read.",
  tools: ["bash_read"],
  expose: ["mcp"],
};
const HIDDEN: AgentOptions = { ...READER, name: "hidden", expose: [] };
const JUDGE: AgentOptions = {
  name: "judge",
  description: "Judges.",
  instructions: "You judge.",
  tools: [],
  expose: ["mcp"],
  inputSchema: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
  outputSchema: {
    type: "object",
    required: ["verdict"],
    additionalProperties: false,
    properties: { verdict: { type: "string" } },
  },
};
const SCOPES = ["responses", "runs", "approve"] as const;
const READ = { name: "offshoot__bash_read", arguments: JSON.stringify({ filepath: "a.txt" }) };

describe("/mcp", () => {
  it("offers the agents that the operator exposes, and runs them for the key's tenant", async (t) => {
    const server = await startServer(t, script(reply.text("Blue."), reply.text("Sky.")), {
      agents: [READER, HIDDEN],
      scopes: SCOPES,
    });
    await using mcp = await connectMcp(server.url);
    const { tools } = await mcp.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["agent_reader", "run_continue", "run_status", "run_result", "run_cancel"],
    );
    const first = await mcp.call("agent_reader", { prompt: "Which colour?" });
    assert.match(textOf(first), /^Blue\./);
    const { run_id, ending, cost_usd } = structuredOf(first);
    assert.deepEqual([ending, cost_usd], ["completed", null]);
    const run = await server.runtime.engine.status(String(run_id));
    assert.equal(run?.tenant, ANYBODY.tenant);
    const second = await mcp.call("run_continue", { run_id, message: "Of what?" });
    assert.match(textOf(second), /^Sky\./);
    const asked = JSON.stringify(server.upstream.requests.at(-1)?.body);
    assert.match(asked, /You read\..*Which colour\?.*Blue\..*Of what\?/);
    const status = structuredOf(await mcp.call("run_status", { run_id }));
    assert.equal(status["ending"], "completed");
  });

  it("gives an agent the tools that it names, of those that the key may use", async (t) => {
    const engine = respond(() => reply.text("Done."));
    const agents = [{ ...READER, tools: ["bash_*"] }];
    const caller = { catalogue: ["bash_find", "subagent"] };
    const server = await startServer(t, engine, { agents, caller });
    await using mcp = await connectMcp(server.url);
    await mcp.call("agent_reader", { prompt: "Go" });
    assert.deepEqual(offeredTools(server.upstream), ["offshoot__bash_find"]);
  });

  it("holds an agent to its own limits", async (t) => {
    const engine = respond(() => reply.calls([READ]));
    const agents = [{ ...READER, budget: { turns: 2 } }];
    const server = await startServer(t, engine, { agents, files: { "a.txt": "x" } });
    await using mcp = await connectMcp(server.url);
    const result = await mcp.call("agent_reader", { prompt: "Go round" });
    assert.equal(result.isError, true);
    assert.equal(server.upstream.requests.length, 2);
  });

  it("takes the document of an agent's schema, and answers with that of its other one", async (t) => {
    const engine = respond(() => reply.text('{"verdict":"good"}'));
    const server = await startServer(t, engine, { agents: [JUDGE] });
    await using mcp = await connectMcp(server.url);
    const wrong = await mcp.call("agent_judge", { prompt: "Judge", input: { path: "x" } });
    assert.match(textOf(wrong), /`input` does not fit its schema/);
    assert.equal(server.upstream.requests.length, 0);
    const result = await mcp.call("agent_judge", { prompt: "Judge", input: { file: "a.ts" } });
    assert.deepEqual(structuredOf(result)["output"], { verdict: "good" });
    assert.match(JSON.stringify(server.upstream.requests.at(-1)?.body), /Judge.*a\.ts/);
  });

  it("gives runs of the tenant as resources", async (t) => {
    const server = await startServer(t, script(reply.text("Kept.")), {
      agents: [READER],
      scopes: SCOPES,
    });
    await using mcp = await connectMcp(server.url);
    const { run_id } = structuredOf(await mcp.call("agent_reader", { prompt: "Keep" }));
    const { resources } = await mcp.client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      [`run://${run_id}`],
    );
    const shown = await mcp.client.readResource({ uri: `run://${run_id}` });
    assert.match(JSON.stringify(shown.contents), /Kept\./);
    const log = await mcp.client.readResource({ uri: `run://${run_id}/events` });
    assert.match(JSON.stringify(log.contents), /run_start.*run_end/);
    // The client puts the code before the message, once.
    await assert.rejects(
      mcp.client.readResource({ uri: "run://run_none" }),
      /^McpError: MCP error -32002: There is no run/,
    );
  });

  it("gives the prompts that its operator keeps", async (t) => {
    const promptsDir = new URL("../../../test/server/mcp-prompts", import.meta.url).pathname;
    const server = await startServer(t, script(), { settings: { promptsDir } });
    await using mcp = await connectMcp(server.url);
    const { prompts } = await mcp.client.listPrompts();
    assert.deepEqual(prompts, [
      {
        name: "greet",
        description: "Greets somebody",
        arguments: [{ name: "name", required: true }],
      },
    ]);
    const { messages } = await mcp.client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
    assert.match(JSON.stringify(messages), /Say hello to Ada\./);
    await assert.rejects(
      mcp.client.getPrompt({ name: "greet", arguments: {} }),
      /`name` is missing/,
    );
    await assert.rejects(mcp.client.getPrompt({ name: "no" }), /There is no prompt/);
  });

  it("shows no resources to a key that may not look at runs", async (t) => {
    const server = await startServer(t, script(), { scopes: ["responses"] });
    await using mcp = await connectMcp(server.url);
    await assert.rejects(mcp.client.listResources(), /lacks the scope `runs`/);
  });

  it("says that a run continues when the client would give up, and gives its answer later", async (t) => {
    const { fault, open } = createGateFault();
    const server = await startServer(t, script(reply.text("At last.")), {
      agents: [READER],
      scopes: SCOPES,
      faults: fault,
    });
    await using mcp = await connectMcp(server.url, { query: "?wait=0" });
    const first = await mcp.call("agent_reader", { prompt: "Take your time" });
    const { run_id, ending } = structuredOf(first);
    assert.equal(ending, null);
    assert.match(textOf(first), /Still running.*run_result/s);
    const looked = structuredOf(await mcp.call("run_status", { run_id }));
    assert.equal(looked["ending"], null);
    open();
    const result = await until(async () => {
      const next = await mcp.call("run_result", { run_id, wait_s: 50 });
      return structuredOf(next)["ending"] === "completed" ? next : undefined;
    }, "the answer");
    assert.match(textOf(result), /^At last\./);
  });

  it("tells progress to a client that follows it, first of all the run's id", async (t) => {
    const { fault, open } = createGateFault();
    const server = await startServer(t, script(reply.text("Done.")), {
      agents: [READER],
      faults: fault,
    });
    await using mcp = await connectMcp(server.url);
    const told: string[] = [];
    const result = await mcp.client.callTool(
      { name: "agent_reader", arguments: { prompt: "Go" } },
      undefined,
      {
        timeout: PATIENCE_MS,
        onprogress({ message = "" }) {
          told.push(message);
          open();
        },
      },
    );
    assert.match(told[0] ?? "", /^run_\w+: /);
    assert.equal(structuredOf(result as Parameters<typeof structuredOf>[0])["ending"], "completed");
  });

  it("continues the run of a client that leaves, and ends that of one that cancels its call", async (t) => {
    const { fault, open } = createGateFault();
    const server = await startServer(
      t,
      respond(() => reply.text("Whole.")),
      {
        agents: [READER],
        scopes: SCOPES,
        faults: fault,
      },
    );
    const leaving = await connectMcp(server.url);
    const left = leaving.call("agent_reader", { prompt: "Leave" });
    await untilAsked(server, 1);
    await leaving.client.close();
    await assert.rejects(left);
    await using mcp = await connectMcp(server.url);
    const stop = new AbortController();
    const taken = mcp.call("agent_reader", { prompt: "Take back" }, stop.signal);
    await untilAsked(server, 2);
    stop.abort();
    await assert.rejects(taken);
    const runs = await server.runtime.engine.record.listRuns({ limit: 10 });
    const endings = await until(async () => {
      const ended = await Promise.all(
        runs.map(async ({ id }) => (await server.runtime.engine.status(id))?.ending),
      );
      return ended.includes("cancelled") ? ended : undefined;
    }, "the end of the run that was taken back");
    assert.equal(endings.filter((ending) => ending === "cancelled").length, 1);
    open();
    const kept = runs.find((_, at) => endings[at] !== "cancelled")?.id;
    const result = await until(async () => {
      const next = await mcp.call("run_result", { run_id: kept, wait_s: 50 });
      return structuredOf(next)["ending"] === null ? undefined : next;
    }, "the answer that no client waited for");
    assert.match(textOf(result), /^Whole\./);
  });

  it("asks the person at the client about a call, and does as they say", async (t) => {
    for (const decision of ["once", "no"] as const) {
      const server = await startAsking(t);
      await using mcp = await connectMcp(server.url, {
        elicit: () => ({ action: "accept", content: { decision } }),
      });
      await mcp.call("agent_reader", { prompt: "Read it" });
      assert.equal(mcp.forms.length, 1);
      assert.match(mcp.forms[0] ?? "", /wants to call .*bash_read.*a\.txt/);
      const answer = JSON.stringify(server.upstream.requests.at(-1)?.body);
      assert.match(answer, decision === "once" ? /the secret/ : /denied by user/);
    }
  });

  it("denies with the reason if no person can be asked", async (t) => {
    const setups = [
      { scopes: SCOPES, elicit: undefined },
      // A key that may not approve is not asked, whatever its client shows.
      { scopes: ["responses"] as const, elicit: () => assert.fail("it was asked") },
      // A client that only opens addresses shows no forms.
      { scopes: SCOPES, elicit: () => assert.fail("it was asked"), elicitation: { url: {} } },
    ];
    for (const { scopes, ...shows } of setups) {
      const server = await startAsking(t, scopes);
      await using mcp = await connectMcp(server.url, shows);
      await mcp.call("agent_reader", { prompt: "Read it" });
      const answer = JSON.stringify(server.upstream.requests.at(-1)?.body);
      assert.match(answer, /was denied: the rule/);
    }
  });

  it("accepts the first answer, and then withdraws the form", async (t) => {
    const server = await startAsking(t);
    let answer = (_: { action: "accept"; content: { decision: string } }): void => {};
    await using mcp = await connectMcp(server.url, {
      elicit: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const called = mcp.call("agent_reader", { prompt: "Read it" });
    await until(() => mcp.forms[0], "the form");
    const [question] = await server.runtime.questions();
    assert.ok(question);
    const run = await server.runtime.attach(question.run_id);
    await run.approve({ call: question.question });
    assert.equal(structuredOf(await called)["ending"], "completed");
    // Too late: it has no effect, and nothing is done again.
    answer({ action: "accept", content: { decision: "no" } });
    assert.match(JSON.stringify(server.upstream.requests.at(-1)?.body), /the secret/);
  });

  it("keeps to the operator's rules about tools, which models call by other names", async (t) => {
    const engine = script(reply.calls([READ]), reply.text("Done."));
    const rules = [parseRule("deny", "bash_read", "a test")];
    const setup = { agents: [READER], rules, files: { "a.txt": "the secret" } };
    const server = await startServer(t, engine, setup);
    await using mcp = await connectMcp(server.url);
    await mcp.call("agent_reader", { prompt: "Read it" });
    const answer = JSON.stringify(server.upstream.requests.at(-1)?.body);
    assert.match(answer, /the rule `deny bash_read`/);
  });

  it("refuses a call that went round through three servers", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Done.")),
      { agents: [READER] },
    );
    await using mcp = await connectMcp(server.url);
    const call = async (depth: number) =>
      await mcp.client.callTool({
        name: "agent_reader",
        arguments: { prompt: "Go" },
        ...toDepthMeta(depth),
      });
    assert.notEqual((await call(2)).isError, true);
    const refused = (await call(3)) as Parameters<typeof textOf>[0];
    assert.equal(refused.isError, true);
    assert.match(textOf(refused), /calls itself/);
    assert.equal(server.upstream.requests.length, 1);
  });
});

async function startAsking(
  t: Parameters<typeof startServer>[0],
  scopes: readonly ("responses" | "runs" | "approve")[] = SCOPES,
): Promise<TestServer> {
  return await startServer(t, script(reply.calls([READ]), reply.text("Done.")), {
    agents: [READER],
    scopes,
    files: { "a.txt": "the secret" },
    rules: [parseRule("ask", "bash_read", "a test")],
  });
}

async function untilAsked({ upstream }: TestServer, count: number): Promise<void> {
  await until(() => (upstream.requests.length >= count ? true : undefined), "the model call");
}

/** Model answers wait until it is opened. */
function createGateFault(): { readonly fault: Fault; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const fault: Fault = {
    name: "gate",
    async *bytes(pieces) {
      await opened;
      yield* pieces;
    },
  };
  return { fault, open: () => open() };
}
