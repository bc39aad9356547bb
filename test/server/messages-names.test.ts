/**
 * Tools of Messages clients with names that only Anthropic accepts: a model of another vendor knows them under shorter
 * names, and the client never sees those. The scripted model's server refuses names of more than 64 characters.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { assemble, framesIn } from "../responses/messages/read-stream.ts";
import { ask, type Fields, hears, start } from "./messages-fixture.ts";

/** As Claude Code names the tool of a plugin's server; the two differ only at their ends. */
const LONG = `mcp__plugin_compound-engineering_context7__${"resolve-library-id-".repeat(4)}`;
const NAMES = [`${LONG}a`, `${LONG}b`] as const;
const TOOLS = NAMES.map((name) => ({ name, input_schema: { type: "object" } }));

/** Calls the last tool once, under the name by which it is offered. */
const calling = () =>
  respond(({ tools, items }) => {
    const last = tools.at(-1) as { name: string } | undefined;
    const isAnswered = items.some(({ type }) => type === "function_call_output");
    return last && !isAnswered
      ? reply.calls([{ name: last.name, arguments: { q: "x" } }])
      : reply.text("Done.");
  });

function callOf({ content }: Fields): Fields {
  return (content as Fields[]).find(({ type }) => type === "tool_use") ?? assert.fail();
}

describe("a tool whose name only Anthropic accepts", () => {
  it("is called by any model, whole and streamed, and its results are accepted", async (t) => {
    const server = await start(t, calling());
    const whole = await ask(server, { ...hears("Hi"), tools: TOOLS });
    assert.equal(whole.status, 200, whole.text);
    const streamed = await ask(server, { ...hears("Hi"), tools: TOOLS, stream: true });
    for (const message of [whole.body, assemble(framesIn(streamed.text)) as unknown as Fields]) {
      assert.equal(callOf(message)["name"], NAMES[1]);
    }
    const content = whole.body["content"];
    const id = callOf(whole.body)["id"];
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] },
    ];
    const next = await ask(server, { messages, tools: TOOLS });
    assert.equal(next.status, 200, next.text);
    assert.equal((next.body["content"] as Fields[])[0]?.["text"], "Done.");
  });

  it("can be forced, found, and left out of what is cleared", async (t) => {
    const asked: Parameters<Parameters<typeof respond>[0]>[0][] = [];
    const server = await start(
      t,
      respond((request) => {
        asked.push(request);
        return reply.text("Done.");
      }),
    );
    const forced = { type: "tool", name: NAMES[0] };
    const choice = await ask(server, { ...hears("Hi"), tools: TOOLS, tool_choice: forced });
    assert.equal(choice.status, 200, choice.text);
    const [first] = asked;
    const [offered] = (first?.tools ?? []) as readonly { name: string }[];
    assert.deepEqual(first?.tool_choice, { type: "function", name: offered?.name });

    const found = { type: "tool_reference", tool_name: NAMES[0] };
    const messages = [
      { role: "user", content: "Hi" },
      ...[1, 2].flatMap((at) => [
        {
          role: "assistant",
          content: [{ type: "tool_use", id: `toolu_${at}`, name: NAMES[at - 1], input: {} }],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: [found] }],
        },
      ]),
    ];
    const edit = {
      ...{ type: "clear_tool_uses_20250919", trigger: { type: "tool_uses", value: 1 } },
      ...{ keep: { type: "tool_uses", value: 0 }, exclude_tools: [NAMES[0]] },
    };
    const tools = TOOLS.map((tool) => ({ ...tool, defer_loading: true }));
    const context_management = { edits: [edit] };
    const answer = await ask(server, { messages, tools, context_management });
    assert.equal(answer.status, 200, answer.text);
    const { tools: then = [] } = asked.at(-1) ?? assert.fail();
    assert.deepEqual(
      then.map((tool) => (tool as { name: string }).name),
      [offered?.name],
    );
    const { applied_edits } = answer.body["context_management"] as { applied_edits: Fields[] };
    assert.equal(applied_edits[0]?.["cleared_tool_uses"], 1);
  });
});
