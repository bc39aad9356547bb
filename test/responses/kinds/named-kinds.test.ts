/** Namespaces, searches for tools, and tools that come as items: what the codex command line sends. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { collectTools } from "../../../src/responses/kinds/collect-tools.ts";
import { CUSTOM_KIND } from "../../../src/responses/kinds/custom.ts";
import { NAMESPACE_KIND } from "../../../src/responses/kinds/namespace.ts";
import { PROGRAM_KIND } from "../../../src/responses/kinds/program.ts";
import { TOOL_SEARCH_KIND } from "../../../src/responses/kinds/tool-search.ts";
import { reply } from "../../../src/testing/reply.ts";
import { callsIn, type KindSetup, runKinds, typesOf } from "./kind-run.ts";

const KINDS = [CUSTOM_KIND, NAMESPACE_KIND, TOOL_SEARCH_KIND, PROGRAM_KIND];
const run = (setup: Omit<KindSetup, "kinds">) => runKinds({ kinds: KINDS, ...setup });

const parameters = { type: "object", properties: { path: { type: "string" } } };
const about = { description: "Reads.", strict: false };
const read = { type: "function", name: "read", ...about, parameters };
const files = {
  type: "namespace",
  name: "files",
  description: "Files of the project.",
  tools: [read, { type: "custom", name: "patch", description: "Patches." }],
};

const namesOf = (tools: readonly Tool[] | undefined): string[] =>
  (tools ?? []).map((tool) => (tool.type === "function" ? tool.name : tool.type));

describe("namespace", () => {
  it("offers its tools under both names, and says what they are for", async () => {
    const { requests } = await run({ tools: [files, read], replies: [reply.text("Hi")] });
    const [first] = requests;
    assert.deepEqual(namesOf(first?.tools), ["read", "files__read", "files__patch"]);
    const offered = first?.tools[1];
    assert.ok(offered?.type === "function");
    assert.equal(offered.description, "Reads.\n\nFiles of the project.");
    assert.deepEqual(offered.parameters, parameters);
  });

  it("names the namespace in a call, and joins the names again in the conversation", async () => {
    const call = { name: "files__read", arguments: '{"path":"a"}' };
    const asked = await run({ tools: [files], replies: [reply.calls([call])] });
    const [made] = asked.response.output;
    assert.ok(made?.type === "function_call");
    assert.deepEqual(
      [made.name, made.namespace, made.arguments],
      ["read", "files", call.arguments],
    );
    assert.ok(typesOf(asked).includes("function_call_arguments.delta"));
    const output = { type: "function_call_output", call_id: made.call_id, output: "text" } as const;
    const items = [...asked.items, output];
    const next = await run({ tools: [files], replies: [reply.text("Ok")], items });
    const [before, after] = callsIn(next.requests[0]);
    assert.ok(before?.type === "function_call" && after?.type === "function_call_output");
    assert.deepEqual([before.name, before.namespace], ["files__read", undefined]);
    assert.equal(before.call_id, after.call_id);
  });

  it("leaves calls of plain functions alone", async () => {
    const replies = [reply.calls([{ name: "read", arguments: "{}" }])];
    const { response } = await run({ tools: [read, files], replies });
    const [made] = response.output;
    assert.ok(made?.type === "function_call");
    assert.deepEqual([made.name, made.namespace], ["read", undefined]);
  });

  it("takes free text in a namespace", async () => {
    const call = { name: "files__patch", arguments: JSON.stringify({ input: "*** Begin" }) };
    const { response } = await run({ tools: [files], replies: [reply.calls([call])] });
    const [made] = response.output;
    assert.ok(made?.type === "custom_tool_call");
    assert.deepEqual([made.name, made.namespace, made.input], ["patch", "files", "*** Begin"]);
  });

  it("is narrowed by allowed tools", async () => {
    const allowed = (entry: object) => ({
      type: "allowed_tools",
      mode: "auto",
      tools: [entry],
    });
    const replies = [reply.text("Hi")];
    for (const [entry, names] of [
      [{ type: "namespace", name: "files" }, ["files__read"]],
      [{ type: "function", name: "read", namespace: "files" }, ["files__read"]],
    ] as const) {
      const toolChoice = allowed(entry) as never;
      const { requests } = await run({ tools: [files], replies, toolChoice });
      const choice = requests[0]?.tool_choice;
      assert.ok(typeof choice === "object" && choice.type === "allowed_tools");
      assert.deepEqual(
        choice.tools.map((tool) => tool["name"]),
        names,
      );
    }
  });
});

describe("tool_search", () => {
  const search = {
    type: "tool_search",
    execution: "client",
    description: "Finds tools.",
    parameters: { type: "object", properties: { query: { type: "string" } } },
  };

  it("goes to the client, and what it found can be called", async () => {
    const call = { name: "tool_search", arguments: '{"query":"files"}' };
    const asked = await run({ tools: [search], replies: [reply.calls([call])] });
    const [made] = asked.response.output;
    assert.ok(made?.type === "tool_search_call");
    assert.deepEqual(
      [made.execution, made.arguments, made.status],
      ["client", { query: "files" }, "completed"],
    );
    const found = { type: "tool_search_output", call_id: made.call_id, tools: [files] } as Item;
    const items = [...asked.items, found];
    const tools = collectTools(items, [search] as unknown as Tool[]);
    const next = await run({ tools, replies: [reply.text("Ok")], items });
    assert.deepEqual(namesOf(next.requests[0]?.tools), [
      "tool_search",
      "files__read",
      "files__patch",
    ]);
    const [before, after] = callsIn(next.requests[0]);
    assert.ok(before?.type === "function_call" && after?.type === "function_call_output");
    assert.deepEqual([before.name, before.arguments], ["tool_search", call.arguments]);
    assert.equal(after.output, "Found: files__read, files__patch.");
  });
});

describe("tools of items", () => {
  const item = { type: "additional_tools", role: "developer", tools: [files] } as unknown as Item;

  it("are joined with the request's, and the item itself is not shown to the model", async () => {
    const items: Item[] = [item, { type: "message", role: "user", content: "Hi" }];
    const tools = collectTools(items, [read] as Tool[]);
    const { requests } = await run({ tools, items, replies: [reply.text("Hi")] });
    assert.deepEqual(namesOf(requests[0]?.tools), ["read", "files__read", "files__patch"]);
    assert.deepEqual(
      requests[0]?.items.map(({ type }) => type),
      ["message"],
    );
  });

  it("replace those of the same name, and namespaces grow", () => {
    const more = { ...files, tools: [{ type: "function", name: "write" }] };
    const newer = { ...read, description: "Reads better." };
    const brought = [
      { ...item, tools: [more, newer] },
      { type: "tool_search_output", call_id: "c", tools: [{ type: "web_search" }] },
    ] as Item[];
    const tools = collectTools(brought, [read, files] as Tool[]);
    assert.deepEqual(tools[0], newer);
    const space = tools[1];
    assert.ok(space?.type === "namespace");
    assert.deepEqual(
      space.tools.map(({ name }) => name),
      ["read", "patch", "write"],
    );
    assert.deepEqual(tools[2], { type: "web_search" });
    const given = [read] as Tool[];
    assert.equal(collectTools([], given), given);
  });
});

describe("programmatic_tool_calling", () => {
  const call = { type: "function_call", name: "read", arguments: "{}" };
  const output = { type: "function_call_output", output: "read" };
  const items = [
    { type: "program", call_id: "p", code: "await read(); await read()" },
    { ...call, call_id: "a", caller: { type: "program", caller_id: "p" } },
    { ...output, call_id: "a" },
    { ...call, call_id: "b", caller: { type: "program", caller_id: "p" } },
    { ...output, call_id: "b" },
    { type: "program_output", call_id: "p", result: "found" },
    { type: "message", role: "user", content: "Hi" },
  ] as Item[];

  it("is left out and reported", async () => {
    const tools = [{ type: "programmatic_tool_calling" }];
    const { response } = await run({ tools, items, replies: [reply.text("Hi")] });
    assert.match(response.metadata["offshoot_ignored"] ?? "", /programmatic_tool_calling/);
  });

  it("leaves calls in the conversation, each with its result directly after it", async () => {
    const { requests } = await run({ tools: [], items, replies: [reply.text("Hi")] });
    const seen = callsIn(requests[0]);
    const pairs = seen.map((item) => ("call_id" in item ? item.call_id : undefined));
    assert.deepEqual(pairs, ["p", "p", "a", "a", "b", "b", "p_result", "p_result"]);
    const [program, , , , , , , result] = seen;
    assert.ok(program?.type === "function_call" && result?.type === "function_call_output");
    assert.deepEqual(JSON.parse(program.arguments), { code: "await read(); await read()" });
    assert.equal(result.output, "found");
  });
});
