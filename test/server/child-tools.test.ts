/**
 * The server's own tools that a child of a response may use: at most those that the request offers its parent.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

const caller = { catalogue: ["bash_read", "write", "subagent"] };
const delegate = (more: object = {}) =>
  reply.calls([
    { name: "offshoot__subagent", arguments: { label: "a", task_prompt: "Write", ...more } },
  ]);
const delegateSome = reply.calls([
  {
    name: "offshoot__parallel_subagent",
    arguments: { tasks: [{ label: "a", task_prompt: "Write" }] },
  },
]);
const write = reply.calls([{ name: "write", arguments: { path: "a.txt", content: "x" } }]);

interface Row {
  readonly what: string;
  readonly mcp: object;
  /** The tools of the child's first request. */
  readonly tools: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    what: "has what needs no approval",
    mcp: { require_approval: "never" },
    tools: ["bash_read", "subagent", "subagents", "write"],
  },
  {
    what: "has nothing that its parent's client approves first",
    mcp: { require_approval: { never: { tool_names: ["bash_read", "subagent"] } } },
    tools: ["bash_read", "subagent", "subagents"],
  },
  {
    what: "has nothing that must always be approved",
    mcp: { require_approval: { always: { tool_names: ["write"] } } },
    tools: [],
  },
  {
    what: "has nothing that the request does not offer",
    mcp: { require_approval: "never", allowed_tools: ["subagent"] },
    tools: ["subagent", "subagents"],
  },
  {
    what: "has what only reads where the client allows that",
    mcp: { require_approval: "never", allowed_tools: { read_only: true } },
    tools: ["bash_read", "subagent", "subagents"],
  },
];

describe("a child of a response", () => {
  for (const { what, mcp, tools } of ROWS) {
    it(what, async (t) => {
      const texts = ["Tried.", "In short.", "Done."].map((text) => reply.text(text));
      const replies = [delegate(), write, ...texts];
      const server = await startServer(t, script(...replies), { caller });
      const own = { type: "mcp", server_label: "offshoot", ...mcp };
      const first = await server.create({ input: "Go", tools: [own] });
      const asked = first.output.find(({ type }) => type === "mcp_approval_request");
      if (asked) {
        const approval = { type: "mcp_approval_response", approve: true };
        await server.create({
          previous_response_id: first.id,
          input: [{ ...approval, approval_request_id: asked["id"] }],
          tools: [own],
        });
      }
      assert.deepEqual(toolNames(server.upstream.requests[1]?.body), tools);
      const wasWritten = existsSync(join(server.root, "a.txt"));
      assert.equal(wasWritten, tools.includes("write"));
    });
  }

  it("has the same rights if several are started at once", async (t) => {
    const texts = ["Tried.", "In short.", "Done."].map((text) => reply.text(text));
    const server = await startServer(t, script(delegateSome, write, ...texts), {
      caller: { catalogue: ["bash_read", "write", "parallel_subagent"] },
    });
    const require_approval = { never: { tool_names: ["bash_read", "parallel_subagent"] } };
    const own = { type: "mcp", server_label: "offshoot", require_approval };
    await server.create({ input: "Go", tools: [own] });
    assert.deepEqual(toolNames(server.upstream.requests[1]?.body), [
      "bash_read",
      "parallel_subagent",
    ]);
    assert.equal(existsSync(join(server.root, "a.txt")), false);
  });

  it("cannot be given by name what the client approves first", async (t) => {
    const replies = [delegate({ allowed_tools: ["write"] }), reply.text("Done.")];
    const server = await startServer(t, script(...replies), { caller });
    const require_approval = { never: { tool_names: ["subagent"] } };
    const own = { type: "mcp", server_label: "offshoot", require_approval };
    const { output } = await server.create({ input: "Go", tools: [own] });
    const call = output.find(({ type }) => type === "mcp_call");
    assert.match(JSON.stringify(call), /Unknown tool in allowed_tools: write/);
  });
});

function toolNames(body: unknown): string[] {
  const { tools = [] } = body as { readonly tools?: { function: { name: string } }[] };
  return tools.map((tool) => tool.function.name).sort();
}
