import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import { toClientInputs } from "../../../src/responses/multi-agent/client-answers.ts";

const of = (agent_name: string, item: object): Item => ({ ...item, agent: { agent_name } }) as Item;
const call = (call_id: string) => ({ type: "function_call", call_id, name: "f", arguments: "{}" });
const answer = (call_id: string): Item => ({ type: "function_call_output", call_id, output: "" });

describe("answers to the calls of a team", () => {
  const output = [
    of("/root/a", call("a1")),
    of("/root/a", call("a2")),
    of("/root", call("r1")),
    answer("a2"),
    of("/root/b", { type: "mcp_approval_request", id: "mcpr_1" }),
  ];

  it("go to the agents that made them, in the order they came", () => {
    const approval: Item = {
      type: "mcp_approval_response",
      approval_request_id: "mcpr_1",
      approve: true,
    };
    const given = [answer("a1"), approval, answer("r1")];
    assert.deepEqual(
      toClientInputs({ before: [], output }, given, 7).map(({ agent, items, at_ms }) => {
        return [agent, items, at_ms];
      }),
      [
        ["/root/a", [answer("a1")], 7],
        ["/root/b", [approval], 7],
        ["/root", [answer("r1")], 7],
      ],
    );
  });

  it("are accepted again if the call was made again", () => {
    const again = [...output, of("/root/a", call("a2"))];
    assert.equal(toClientInputs({ before: [], output: again }, [answer("a2")], 0).length, 1);
  });

  it("may be to agents of earlier answers, and not to the first's", () => {
    const before = [of("/root/c", call("c1")), of("/root", call("r0"))];
    assert.equal(toClientInputs({ before, output }, [answer("c1")], 0)[0]?.agent, "/root/c");
    assert.throws(() => toClientInputs({ before, output }, [answer("r0")], 0), /No call `r0`/);
    const answered = [...before, answer("c1")];
    assert.throws(() => toClientInputs({ before: answered, output }, [answer("c1")], 0));
  });

  it("are refused by name if they fit nothing", () => {
    const search: Item = { type: "tool_search_output", call_id: "s1", tools: [] } as never;
    const searches = [...output, of("/root", { type: "tool_search_call", call_id: "s1" })];
    const wrong: [Item[], RegExp][] = [
      [[], /There are no items/],
      [[answer("a2")], /No call `a2` waits/],
      [[answer("a1"), answer("a1")], /No call `a1` waits/],
      [[answer("x".repeat(200))], /No call `x{1,80}.*` waits/],
      [[{ type: "message", role: "user", content: "" }], /is a `message`; only results/],
      [[of("/root", { type: "multi_agent_call_output" })], /only results of calls/],
      [[{ ...answer("a1"), type: "shell_call_output" } as never], /with a `function_call_output`/],
      [[search], /come with another request/],
    ];
    for (const [given, message] of wrong) {
      assert.throws(
        () => toClientInputs({ before: [], output: searches }, given, 0),
        (thrown: Error & { code: string }) =>
          thrown.code === "invalid_request" && message.test(thrown.message),
      );
    }
  });
});
