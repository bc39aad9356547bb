/** `offshoot mcp serve` with the MCP SDK's own client: agents as tools, long runs, approvals, access rules. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { toResolvers } from "../../src/base/async.ts";
import { type Fault, noAnswer, reply, type Script, script } from "../../src/testing/index.ts";
import { PATIENCE_MS, until, withGrowingLimit } from "../patience.ts";
import { offeredTools } from "../server/mcp-client.ts";
import { createPlace } from "./command.ts";
import { connect, structured, textOf } from "./mcp-serve-client.ts";

const REVIEWER = `---
name: reviewer
description: Reviews a file.
tools: []
expose: mcp
output_schema: { type: object, properties: { verdict: { type: string } }, required: [verdict] }
---
You review.
`;

describe("offshoot mcp serve", () => {
  it("offers the main agent and four tools for runs, and answers with a run that can be continued", async () => {
    await using connected = await connect({
      engine: script(reply.text("Blue."), reply.text("Sky.")),
    });
    const { tools } = await connected.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["agent", "run_continue", "run_status", "run_result", "run_cancel"],
    );
    const first = await connected.call("agent", { prompt: "Which colour?" });
    assert.match(textOf(first), /^Blue\./);
    const { run_id, ending } = structured(first);
    assert.equal(ending, "completed");
    const second = await connected.call("run_continue", { run_id, message: "Of what?" });
    assert.match(textOf(second), /^Sky\./);
    const asked = JSON.stringify(connected.upstream.requests.at(-1)?.body);
    assert.match(asked, /Which colour\?.*Blue\..*Of what\?/);
    assert.equal(structured(await connected.call("run_status", { run_id }))["ending"], "completed");
  });

  it("offers an agent under its name if its file asks for it, with the document that it answers with", async () => {
    await using place = await createPlace();
    const { mkdir, writeFile } = await import("node:fs/promises");
    const folder = join(place.home, ".config", "offshoot", "agents");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "reviewer.md"), REVIEWER);
    await using connected = await connect({
      place,
      engine: script(reply.text('{"verdict":"good"}')),
    });
    const { tools } = await connected.client.listTools();
    const reviewer = tools.find(({ name }) => name === "agent_reviewer");
    assert.match(JSON.stringify(reviewer?.outputSchema), /verdict/);
    const result = await connected.call("agent_reviewer", { prompt: "Review it" });
    assert.deepEqual(structured(result)["output"], { verdict: "good" });
  });

  it("reports that a run continues when the client would give up, and returns its answer later", async () => {
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const late: Fault = {
      name: "late",
      async *bytes(pieces) {
        await asked;
        yield* pieces;
      },
    };
    const engine = script(reply.text("At last."));
    await using connected = await connect({ engine, faults: late, args: ["--wait", "0"] });
    const first = await connected.call("agent", { prompt: "Take your time" });
    const { run_id, ending } = structured(first);
    assert.equal(ending, null);
    assert.match(textOf(first), /Still running.*run_result/s);
    answer();
    const result = await until(async () => {
      const next = await connected.call("run_result", { run_id, wait_s: 50 });
      return structured(next)["ending"] === "completed" ? next : undefined;
    }, "the answer");
    assert.match(textOf(result), /^At last\./);
  });

  it("sends progress to a client that follows it, and waits for the ending", async () => {
    await using connected = await connect({
      engine: script(reply.text("Done.")),
      args: ["--wait", "600"],
    });
    const told: string[] = [];
    const result = await connected.client.callTool(
      { name: "agent", arguments: { prompt: "Go" } },
      undefined,
      { onprogress: ({ message = "" }) => told.push(message), timeout: PATIENCE_MS },
    );
    assert.match(told[0] ?? "", /^run_/);
    assert.equal(structured(result as CallToolResult)["ending"], "completed");
  });

  it("answers a client that gives up after 5 seconds, also one that asks for progress", async () => {
    await withGrowingLimit(5000, async (timeout) => {
      await using connected = await connect({
        ...{ engine: script(), faults: noAnswer(), args: ["--wait", "0.5"] },
      });
      const asked = { name: "agent", arguments: { prompt: "Hang" } };
      for (const progress of [{}, { onprogress: () => {} }]) {
        const limits = { ...progress, timeout, resetTimeoutOnProgress: false };
        const answer = await connected.client.callTool(asked, undefined, limits);
        const { run_id, ending } = structured(answer as CallToolResult);
        assert.equal(ending, null);
        await connected.call("run_cancel", { run_id });
      }
    });
  });

  it("ends the runs of a client that disconnects", async () => {
    const connected = await connect({ engine: script(), faults: noAnswer() });
    const { place, upstream, client } = connected;
    const call = connected.call("agent", { prompt: "Hang" });
    await until(async () => upstream.requests.length > 0 || undefined, "the model call");
    await client.close();
    await assert.rejects(call);
    await until(async () => {
      const [id = ""] = await place.runIds();
      return (await place.show(id)).ending === "cancelled" || undefined;
    }, "the end of the run");
    await connected[Symbol.asyncDispose]();
  });

  it("stops a run on request, and returns its log", async () => {
    const args = ["--wait", "0"];
    await using connected = await connect({ engine: script(), faults: noAnswer(), args });
    const { run_id } = structured(await connected.call("agent", { prompt: "Hang" }));
    const stopped = await connected.call("run_cancel", { run_id });
    assert.equal(structured(stopped)["ending"], "cancelled");
    const { contents } = await connected.client.readResource({ uri: `run://${run_id}/events` });
    assert.match(JSON.stringify(contents), /run_start.*run_end/);
  });

  it("offers only the tools of --tools", async () => {
    const args = ["--tools", "read"];
    await using connected = await connect({ engine: script(reply.text("Done.")), args });
    await connected.call("agent", { prompt: "Go" });
    assert.deepEqual(offeredTools(connected.upstream), ["read"]);
  });

  it("returns prompt templates as prompts", async () => {
    await using place = await createPlace();
    const { mkdir, writeFile } = await import("node:fs/promises");
    const folder = join(place.home, ".config", "offshoot", "templates");
    await mkdir(folder, { recursive: true });
    const head = "---\ndescription: Reviews\nvariables: { language: English }\n---\n";
    await writeFile(join(folder, "review.md"), `${head}Review in {{language}}: {{input}}`);
    await using connected = await connect({ place, engine: script() });
    const { prompts } = await connected.client.listPrompts();
    assert.deepEqual(prompts, [
      {
        ...{ name: "review", description: "Reviews" },
        arguments: [
          { name: "language", required: false },
          { name: "input", required: true },
        ],
      },
    ]);
    const filled = await connected.client.getPrompt({
      ...{ name: "review", arguments: { input: "a.ts" } },
    });
    assert.match(JSON.stringify(filled), /Review in English: a\.ts/);
    await assert.rejects(connected.client.getPrompt({ name: "review" }), /`input` is missing/);
  });

  it("asks the user at the client, and denies with the reason if the client cannot ask", async () => {
    const write = { name: "write", arguments: JSON.stringify({ path: "a.txt", content: "x" }) };
    const engine = (): Script => script(reply.calls([write]), reply.text("Done."));
    await using allowed = await connect({ engine: engine(), elicit: "once" });
    await allowed.call("agent", { prompt: "Write it" });
    assert.ok(existsSync(join(allowed.place.cwd, "a.txt")));
    await using refused = await connect({ engine: engine(), elicit: "no" });
    await refused.call("agent", { prompt: "Write it" });
    assert.ok(!existsSync(join(refused.place.cwd, "a.txt")));
    await using mute = await connect({ engine: engine() });
    await mute.call("agent", { prompt: "Write it" });
    assert.ok(!existsSync(join(mute.place.cwd, "a.txt")));
    assert.match(JSON.stringify(mute.upstream.requests.at(-1)?.body), /shows no forms/);
  });

  it("stops the run whose call the client cancels", async () => {
    await using connected = await connect({ engine: script(), faults: noAnswer() });
    const stop = new AbortController();
    const call = connected.client.callTool(
      { name: "agent", arguments: { prompt: "Hang" } },
      undefined,
      { signal: stop.signal, timeout: PATIENCE_MS },
    );
    await until(async () => connected.upstream.requests.length > 0 || undefined, "the model call");
    stop.abort();
    await assert.rejects(call);
    await until(async () => {
      const [id = ""] = await connected.place.runIds();
      return (await connected.place.show(id)).ending === "cancelled" || undefined;
    }, "the end of the run");
  });

  it("continues the run whose call the client cancels because it waited too long", async () => {
    const { promise: asked, resolve: answer } = toResolvers<void>();
    const late: Fault = {
      name: "late",
      async *bytes(pieces) {
        await asked;
        yield* pieces;
      },
    };
    await using connected = await connect({ engine: script(reply.text("Done.")), faults: late });
    const stop = new AbortController();
    let id: string | undefined;
    const onprogress = ({ message = "" }): void => {
      id ??= message.split(":")[0];
    };
    const call = connected.client.callTool(
      { name: "agent", arguments: { prompt: "Hang" } },
      undefined,
      { signal: stop.signal, timeout: PATIENCE_MS, onprogress },
    );
    await until(() => id, "the first report");
    stop.abort("McpError: MCP error -32001: Request timed out");
    await assert.rejects(call);
    await connected.call("run_status", { run_id: id });
    answer();
    const result = await connected.call("run_result", { run_id: id, wait_s: 50 });
    assert.equal(structured(result)["ending"], "completed");
  });

  it("holds all runs of a connection to one budget", async () => {
    await using connected = await connect({
      engine: script(reply.text("No.")),
      args: ["--budget", "0"],
    });
    const result = await connected.call("agent", { prompt: "Go" });
    assert.equal(result.isError, true);
    assert.match(textOf(result), /budget|price/i);
    assert.equal(connected.upstream.requests.length, 0);
  });

  it("refuses a run after an earlier one has spent the budget of the connection", async () => {
    const models = { "custom/test-model": { price: { input: 1, output: 1000 } } };
    const spent = reply.text("Costly.", { usage: { input: 400, output: 1999 } });
    await using connected = await connect({
      engine: script(spent, reply.text("Never.")),
      args: ["--budget", "2", "--tools", "none"],
      env: { OFFSHOOT_MODELS: JSON.stringify(models) },
    });
    const first = structured(await connected.call("agent", { prompt: "Spend it" }));
    assert.deepEqual([first["ending"], first["cost_usd"]], ["completed", 1.9994]);
    const second = await connected.call("agent", { prompt: "More" });
    assert.equal(second.isError, true);
    assert.match(textOf(second), /budget/);
    const { run_id } = first;
    assert.ok((await connected.call("run_continue", { run_id, message: "More" })).isError);
    assert.equal(connected.upstream.requests.length, 1);
  });

  it("knows no runs of other folders, and returns its own as resources", async () => {
    await using place = await createPlace();
    await using elsewhere = await connect({
      place,
      engine: script(reply.text("Here.")),
      args: ["--root", "/"],
    });
    const foreign = structured(await elsewhere.call("agent", { prompt: "Elsewhere" }))["run_id"];
    await using connected = await connect({ place, engine: script(reply.text("Mine.")) });
    const own = structured(await connected.call("agent", { prompt: "Here" }))["run_id"];
    const denied = await connected.call("run_result", { run_id: foreign });
    assert.match(textOf(denied), /There is no run/);
    const { resources } = await connected.client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      [`run://${own}`],
    );
    const { contents } = await connected.client.readResource({ uri: `run://${own}` });
    assert.match(JSON.stringify(contents), /Mine\./);
    await assert.rejects(
      connected.client.readResource({ uri: `run://${foreign}` }),
      /There is no run/,
    );
  });

  it("reports the errors of a call in words for the model", async () => {
    await using connected = await connect({ engine: script() });
    for (const [name, given, said] of [
      ["agent", {}, /`prompt` is missing/],
      ["agent", { promt: "x" }, /Unknown argument `promt`. Did you mean `prompt`/],
      ["run_result", { run_id: "run_x" }, /There is no run `run_x`/],
      ["run_result", { run_id: "run_x", wait_s: 900 }, /from 0 to 50/],
    ] as const) {
      const result = await connected.call(name, given);
      assert.equal(result.isError, true);
      assert.match(textOf(result), said);
    }
    await assert.rejects(connected.call("agent_nobody", { prompt: "x" }), /Unknown tool/);
  });

  it("continues after lines that are not messages, and ends with its input", async () => {
    await using place = await createPlace();
    const hello = { jsonrpc: "2.0", id: 1, method: "initialize" };
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    };
    const start = JSON.stringify({ ...hello, params });
    const unknown = '{"jsonrpc":"2.0","id":2,"method":"no/such"}';
    const long = JSON.stringify({
      jsonrpc: "2.0",
      id: 3,
      method: "ping",
      params: { _meta: { a: "x".repeat(10_000_000) } },
    });
    const endless = JSON.stringify({
      jsonrpc: "2.0",
      id: 4,
      method: "ping",
      a: "x".repeat(17_000_000),
    });
    // Split in the middle, joined, and two long ones: one is a message, one is too long for a message.
    const pieces = [
      `not json\n[]\n${start.slice(0, 20)}`,
      `${start.slice(20)}\n${unknown}\n`,
      `${long}\n${endless}\n`,
      '{"jsonrpc":"2.0","id":5,"method":"ping"}\n',
    ];
    const { code, stdout } = await place.run(["mcp", "serve"], { input: Readable.from(pieces) });
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(code, 0);
    assert.deepEqual(lines.map(({ id, error }) => [id, error?.code]).sort(), [
      [null, -32_600],
      [null, -32_600],
      [null, -32_700],
      [1, undefined],
      [2, -32_601],
      [3, undefined],
      [5, undefined],
    ]);
  });

  it("is refused below three of its kind", async () => {
    await using place = await createPlace();
    const env = { OFFSHOOT_MCP_DEPTH: "3" };
    const { code, stderr } = await place.run(["mcp", "serve"], { input: "", env });
    assert.equal(code, 2);
    assert.match(stderr, /calls itself/);
  });
});
