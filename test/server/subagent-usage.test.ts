/** The usage that a response reports if its tools start subagents. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

const usage = { input: 100, output: 10, reasoning: 4 };
const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };

/** Two levels of children: the first calls `subagent`, whose child calls it again. */
function createTree(): ReturnType<typeof respond> {
  return respond(({ items }) => {
    const text = JSON.stringify(items);
    const isAnswered = text.includes("function_call_output");
    const start = (name: string, task_prompt: string) =>
      reply.calls([{ name, arguments: { label: "a", task_prompt } }], { usage });
    if (!isAnswered && text.includes("level one")) return start("subagent", "level two");
    if (!isAnswered && text.includes("Begin")) return start("offshoot__subagent", "level one");
    return reply.text("Done.", { usage });
  });
}

describe("the usage of a response", () => {
  for (const store of [true, false]) {
    it(`includes its subagents at any depth${store ? "" : ", not stored"}`, async (t) => {
      const server = await startServer(t, createTree());
      const response = await server.create({ input: "Begin", tools: [OWN], store });
      assert.equal(response.output_text, "Done.");
      const calls = server.upstream.requests.length;
      assert.ok(calls >= 5, `${calls} model calls`);
      assert.deepEqual(response.usage, {
        input_tokens: calls * 100,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: calls * 10,
        output_tokens_details: { reasoning_tokens: calls * 4 },
        total_tokens: calls * 110,
      });
    });
  }
});
