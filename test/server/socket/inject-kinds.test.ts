/** `response.inject` with other answers than results of functions. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { reply } from "../../../src/testing/index.ts";
import { startSmallServer } from "../../runtime/small-mcp-server.ts";
import { playSlowly, spawn } from "../team-fixture.ts";
import { type Asked, agentOf, ask, says, thinking, twoAgents } from "./inject-fixture.ts";
import { createGate, type SocketEvent, startSocketServer } from "./socket-fixture.ts";

/** Calls a tool once, and repeats what came of it. */
const calling =
  (name: string, args: Readonly<Record<string, string>>) =>
  ({ items }: ModelRequest) => {
    const last = items.at(-1);
    if (last?.type === "function_call_output") return reply.text(`It is ${last.output}.`);
    return reply.calls([{ name, arguments: args, call_id: "call_1" }]);
  };

/** The first whole item of a type, of one agent or of any: it may have come before the answer to an injection. */
async function findItem(
  asked: Asked,
  type: string,
  agent?: string,
): Promise<{ id: string; call_id: string }> {
  const isIt = (event: SocketEvent): boolean => {
    const { type: found } = (event["item"] ?? {}) as { type?: string };
    const isOfAgent = agent === undefined || agentOf(event) === agent;
    return event.type === "response.output_item.done" && found === type && isOfAgent;
  };
  const { item } = asked.events.find(isIt) ?? (await asked.until(isIt));
  return item as { id: string; call_id: string };
}

describe("injecting the answers of other kinds of tools", () => {
  const cases = [
    {
      tool: { type: "custom", name: "scale" },
      says: calling("scale", { input: "a" }),
      call: "custom_tool_call",
      toAnswer: (call_id: string) => ({ type: "custom_tool_call_output", call_id, output: "4" }),
    },
    {
      tool: { type: "local_shell" },
      says: calling("local_shell", {}),
      call: "local_shell_call",
      toAnswer: (id: string) => ({ type: "local_shell_call_output", id, output: "4" }),
    },
  ];
  for (const { tool, says: calls, call, toAnswer } of cases) {
    it(`takes those to a ${call}`, async (t) => {
      const gate = createGate();
      const { engine } = playSlowly(twoAgents, {
        "/root/a": calls,
        "/root/b": thinking(gate),
      });
      const server = await startSocketServer(t, engine);
      const asked = await ask(server, { tools: [tool] });
      const { call_id } = await findItem(asked, call);
      const said = await asked.inject([toAnswer(call_id)]);
      assert.equal(said.type, "response.inject.created", JSON.stringify(said));
      await asked.until(says("/root/a", "It is 4."));
      gate.open();
      await asked.end();
    });
  }

  for (const agent of ["/root/a", "/root"]) {
    it(`makes the call that ${agent} was allowed`, async (t) => {
      const small = await startSmallServer(t);
      const gate = createGate();
      const change = { name: "small__change", arguments: { text: "it" } };
      const repeat = ({ items }: ModelRequest) => {
        const last = items.findLast((item) => item.type === "function_call_output");
        gate.open();
        return reply.text(`It is ${last?.type === "function_call_output" && last.output}.`);
      };
      const { engine } = playSlowly(
        agent === "/root" ? [reply.calls([spawn("b", "Think."), change]), repeat] : [...twoAgents],
        {
          "/root/a": (request) =>
            request.items.length === 1 ? reply.calls([change]) : repeat(request),
          "/root/b": thinking(gate),
        },
      );
      const settings = { web: { privateHosts: ["127.0.0.1"] } };
      const server = await startSocketServer(t, engine, { settings });
      const mcp = { type: "mcp", server_label: "small", server_url: small.url };
      const asked = await ask(server, { tools: [{ ...mcp, require_approval: "always" }] });
      const { id } = await findItem(asked, "mcp_approval_request");
      const approval = { type: "mcp_approval_response", approval_request_id: id, approve: true };
      const said = await asked.inject([approval]);
      assert.equal(said.type, "response.inject.created", JSON.stringify(said));
      await asked.until(says(agent, "It is change did it."));
      await asked.end();
      assert.equal(small.calls.length, 1);
    });
  }

  it("gives an agent the tools that were found for it, and the first none", async (t) => {
    const gate = createGate();
    const search = { name: "tool_search", arguments: { query: "scale" }, call_id: "call_1" };
    const { engine, requests } = playSlowly(
      [
        reply.calls([spawn("a", "Weigh."), spawn("b", "Think."), search]),
        reply.text("Never said."),
      ],
      {
        "/root/a": ({ items, tools }) => {
          if (items.length === 1) return reply.calls([search]);
          return reply.text(tools.map((tool) => ("name" in tool ? tool.name : "")).join());
        },
        "/root/b": thinking(gate),
      },
    );
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, { tools: [{ type: "tool_search", execution: "client" }] });
    const found = { type: "function", name: "scale", parameters: { type: "object" } };
    const toOutput = (call_id: string) => ({
      type: "tool_search_output",
      call_id,
      execution: "client",
      tools: [found],
    });
    const own = await findItem(asked, "tool_search_call", "/root");
    const refused = await asked.inject([toOutput(own.call_id)]);
    assert.match(refused.error?.message ?? "", /come with another request: \/root cannot/);
    const { call_id } = await findItem(asked, "tool_search_call", "/root/a");
    const said = await asked.inject([toOutput(call_id)]);
    assert.equal(said.type, "response.inject.created", JSON.stringify(said));
    const { text } = await asked.until(({ type }) => type === "response.output_text.done");
    assert.match(String(text), /scale/);
    gate.open();
    await asked.end();
    assert.equal(requests.length, 4);
  });
});
