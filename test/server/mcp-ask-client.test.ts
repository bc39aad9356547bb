/** Approval questions as forms of an MCP client, with a deadline. Nothing waits for real time. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it, type TestContext } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import type { AgentOptions } from "../../src/delegation/agents/own-agents.ts";
import { createAskClient, DEADLINE_MS } from "../../src/server/mcp/ask-client.ts";
import { createLineTransport } from "../../src/server/mcp/line-transport.ts";
import { createManualClock, type ManualClock, reply, script } from "../../src/testing/index.ts";
import type { Answer, Denial, Question } from "../../src/tools/gate/ask.ts";
import { parseRule } from "../../src/tools/gate/rules.ts";
import { until, untilTrue } from "../patience.ts";
import { connectMcp } from "./mcp-client.ts";
import { type ServerSetup, startServer } from "./server-fixture.ts";

const QUESTION: Question = {
  ...{ id: "tool:1", child: null, tool: "write", arguments: "{}", effect: "write" },
  ...{ reason: "a test", sandbox: "none", always: [], asksEveryTime: false, waitMs: null },
};
const YES: ElicitResult = { action: "accept", content: { decision: "once" } };

interface Asked {
  readonly clock: ManualClock;
  /** Settles with the answer of the asker. */
  readonly answered: Promise<Answer | Denial>;
  /** Ends the question, as an answer from elsewhere does. */
  readonly end: AbortController;
  readonly forms: { readonly signal: AbortSignal }[];
}

/** Asks a client that speaks over lines, as over standard input and output. */
async function askOverLines(
  t: TestContext,
  waitsElsewhere: boolean,
  answer: () => ElicitResult | Promise<ElicitResult>,
): Promise<Asked> {
  const [up, down] = [new PassThrough(), new PassThrough()];
  const server = new Server({ name: "server", version: "1" }, { capabilities: {} });
  await server.connect(
    createLineTransport({ chunks: () => up, write: (text) => void down.write(text) }),
  );
  const client = new Client({ name: "c", version: "1" }, { capabilities: { elicitation: {} } });
  const forms: Asked["forms"] = [];
  client.setRequestHandler(ElicitRequestSchema, (_, extra) => {
    forms.push(extra);
    return answer();
  });
  await client.connect(new StdioServerTransport(down, up));
  t.after(() => client.close());
  // The SDK's client ignores that a request with the id 0 is withdrawn.
  await server.ping();
  const clock = createManualClock();
  const end = new AbortController();
  const ask = createAskClient({ server: () => server, waitsElsewhere, clock });
  const answered = ask(QUESTION, end.signal);
  answered.catch(() => {});
  await until(() => forms[0], "the form");
  return { clock, answered, end, forms };
}

const silence = (): Promise<never> => new Promise(() => {});

describe("a form over standard input and output", () => {
  it("is withdrawn after two minutes without an answer, and the call is denied", async (t) => {
    const { clock, answered, forms } = await askOverLines(t, false, silence);
    await clock.advance(DEADLINE_MS - 1);
    assert.equal(forms[0]?.signal.aborted, false);
    await clock.advance(1);
    const { answer, reason } = (await answered) as Denial;
    assert.equal(answer, "no");
    assert.match(reason, /did not answer within 120 s/);
    await untilTrue(() => forms[0]?.signal.aborted === true, "the end of the form");
  });

  it("stays open as long as the question, if the call can also be approved elsewhere", async (t) => {
    let answer = (_: ElicitResult): void => {};
    const late = new Promise<ElicitResult>((resolve) => {
      answer = resolve;
    });
    const { clock, answered, forms } = await askOverLines(t, true, () => late);
    await clock.advance(DEADLINE_MS * 30);
    assert.equal(forms[0]?.signal.aborted, false);
    answer(YES);
    assert.equal(await answered, "yes");
  });

  it("does not answer for the others if the client cannot show it", async (t) => {
    const { answered, end } = await askOverLines(t, true, () => {
      throw new Error("no window");
    });
    const first = await Promise.race([
      answered.then(() => "answered"),
      new Promise((resolve) => setImmediate(() => setImmediate(resolve, "waits"))),
    ]);
    assert.equal(first, "waits");
    end.abort(new Error("answered in another terminal"));
    await assert.rejects(answered, /another terminal/);
  });
});

const READER: AgentOptions = {
  name: "reader",
  description: "Reads a file.",
  instructions: "You read.",
  tools: ["bash_read"],
  expose: ["mcp"],
};

const READ = { name: "offshoot__bash_read", arguments: '{"filepath":"a.txt"}' };

const ASKING: ServerSetup = {
  agents: [READER],
  scopes: ["responses", "runs", "approve"],
  files: { "a.txt": "the secret" },
  rules: [parseRule("ask", "bash_read", "a test")],
};

describe("a form over HTTP", () => {
  it("is withdrawn after two minutes without an answer, and the call is denied", async (t) => {
    const clock = createManualClock(1_790_000_000_000);
    const server = await startServer(t, script(reply.calls([READ]), reply.text("Done.")), {
      ...ASKING,
      clock,
    });
    await using mcp = await connectMcp(server.url, { elicit: silence });
    const called = mcp.call("agent_reader", { prompt: "Read it" });
    await until(() => mcp.forms[0], "the form");
    await clock.advance(DEADLINE_MS);
    await called;
    const told = JSON.stringify(server.upstream.requests.at(-1)?.body);
    assert.match(told, /no answer came within 120 s/);
    assert.doesNotMatch(told, /the secret/);
  });

  it("does not answer for the others if the client cannot show it", async (t) => {
    const server = await startServer(t, script(reply.calls([READ]), reply.text("Done.")), {
      ...ASKING,
      mcp: { approvalWaitMs: 3_600_000 },
    });
    let refused = 0;
    await using mcp = await connectMcp(server.url, {
      elicit: () => {
        throw new Error("no window");
      },
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        if (String(init?.body).includes("no window")) refused += 1;
        return answer;
      },
    });
    const called = mcp.call("agent_reader", { prompt: "Read it" });
    await untilTrue(() => refused > 0, "the client's error");
    const [question] = await server.runtime.questions();
    assert.ok(question, "it was answered");
    const run = await server.runtime.attach(question.run_id);
    await run.approve({ call: question.question });
    await called;
    assert.match(JSON.stringify(server.upstream.requests.at(-1)?.body), /the secret/);
  });
});
