/**
 * Runs with native tools, which the model's vendor runs: named among a run's tools as
 * `native:TYPE`.
 */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { pickTools } from "../../src/runtime/pick-tools.ts";
import type { InnerRunRequest } from "../../src/runtime/run-request.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import { reply, script, startMessagesUpstream, type Upstream } from "../../src/testing/index.ts";

const PAGE = { url: "https://one.example.org/a", title: "One" };
const FOUND = reply.searched({ query: "colour", pages: [PAGE] }, "It is blue.");

async function open(t: TestContext): Promise<{ runtime: Runtime; upstream: Upstream }> {
  const upstream = await startMessagesUpstream({ engine: script(FOUND) });
  const runtime = await createRuntime({ env: { ANTHROPIC_API_KEY: "k" } });
  t.after(async () => {
    await runtime.close();
    await upstream.close();
  });
  return { runtime, upstream };
}

describe("a run with native tools", () => {
  it("offers them to the vendor, beside its own, and counts what they cost", async (t) => {
    const { runtime, upstream } = await open(t);
    const tools = await pickTools(["bash_read", "native:web_search"], runtime);
    assert.deepEqual(tools, ["bash_read", "native:web_search"]);
    const model = "anthropic/claude-sonnet-5-5";
    const run = await runtime.run({ model, url: upstream.url, input: "Which?", tools });
    const end = await run.result();
    assert.deepEqual([end.ending, end.output_text], ["completed", "It is blue."]);
    assert.deepEqual(end.usage.native_calls, { web_search: 1 });
    assert.ok((end.cost_usd ?? 0) > 0.01, `${end.cost_usd}`);
    assert.match(upstream.requests.at(-1)?.text ?? "", /"bash_read".*"web_search_20250305"/);
  });

  it("is refused before anything is sent if the vendor does not run them", async (t) => {
    const { runtime, upstream } = await open(t);
    const asked = { model: "anthropic/claude-sonnet-5-5", url: upstream.url, input: "Which?" };
    await assert.rejects(runtime.run({ ...asked, tools: ["native:x_search"] }), {
      code: "invalid_request",
      message: /`native:x_search`: the vendor of anthropic\/claude-sonnet-5-5 does not run it/,
    });
    assert.equal(upstream.requests.length, 0);
  });

  it("of a child leaves out those that its model's vendor does not run", async (t) => {
    const { runtime, upstream } = await open(t);
    const asked = { model: "anthropic/claude-sonnet-5-5", url: upstream.url, input: "Which?" };
    const child: InnerRunRequest = { ...asked, depth: 1, tools: ["native:x_search"] };
    const run = await runtime.run(child);
    assert.equal((await run.result()).ending, "completed");
    assert.doesNotMatch(upstream.requests.at(-1)?.text ?? "", /x_search/);
  });
});
