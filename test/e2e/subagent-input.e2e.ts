/** The call of `subagent`, with a test for each sentence of its fields. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isJsonObject, type JsonObject } from "../../src/base/json.ts";
import { reply } from "../../src/testing/index.ts";
import {
  CALL,
  call,
  delegate,
  eventsIn,
  outputsIn,
  saidIn,
  taskOf,
  toolsOf,
} from "../delegation/delegate.ts";

/** The tool's definition as the parent's model gets it. */
async function shown(t: Parameters<typeof delegate>[0]): Promise<JsonObject> {
  const { parent } = await delegate(t);
  const tool = parent[0]?.tools.find((one) => "name" in one && one.name === "subagent");
  assert.ok(tool);
  return tool as unknown as JsonObject;
}

async function fieldOf(t: Parameters<typeof delegate>[0], name: string): Promise<JsonObject> {
  const { parameters } = await shown(t);
  assert.ok(isJsonObject(parameters) && isJsonObject(parameters["properties"]));
  const field = parameters["properties"][name];
  assert.ok(isJsonObject(field));
  return field;
}

describe("the definition of `subagent`", () => {
  it("the tool is named `subagent`", async (t) => {
    assert.equal((await shown(t))["name"], "subagent");
  });

  it("is described in the contract's words", async (t) => {
    const words =
      "Delegate a focused task to a recursive agent instance with isolated conversation context. Use this when you need to explore a sub-problem independently without polluting the main conversation.";
    assert.ok(String((await shown(t))["description"]).startsWith(words));
  });

  it("takes an object that requires `label` and `task_prompt` and nothing else", async (t) => {
    const { parameters } = await shown(t);
    assert.ok(isJsonObject(parameters));
    assert.deepEqual(
      [parameters["type"], parameters["required"]],
      ["object", ["label", "task_prompt"]],
    );
  });

  const TYPES: readonly [name: string, facts: JsonObject][] = [
    ["label", { type: "string", minLength: 1 }],
    ["task_prompt", { type: "string", minLength: 1 }],
    ["summary_prompt", { type: "string", default: "Summarize your findings concisely" }],
    ["allowed_tools", { type: "array", items: { type: "string" } }],
    ["max_turns", { type: "integer", minimum: 1, maximum: 50 }],
  ];
  for (const [name, facts] of TYPES) {
    it(`shows \`${name}\` as ${JSON.stringify(facts)}`, async (t) => {
      const { description, ...rest } = await fieldOf(t, name);
      assert.deepEqual(rest, facts);
      assert.notEqual(description, "");
    });
  }

  it("takes the contract's complete example", async (t) => {
    const example = {
      label: "research_quantum_computing",
      task_prompt:
        "Research quantum computing breakthroughs in 2024. Focus on: new algorithms, hardware improvements, and companies leading the field.",
      summary_prompt:
        "Create an executive summary with sections: Breakthroughs, Technical Details, Commercial Impact, Future Outlook",
      allowed_tools: ["fetch", "grep"],
      max_turns: 8,
    };
    const request = { tools: ["fetch", "grep", "read", "subagent"] };
    const { envelope, asked } = await delegate(t, example, { request });
    assert.deepEqual([envelope.success, envelope.error], [true, null]);
    assert.deepEqual(toolsOf(asked[0]).sort(), ["fetch", "grep"]);
  });
});

describe("the field `label`", () => {
  for (const label of ["research_api_docs", "analyze_error_logs", "x", "Zwölf \u{1f600}"]) {
    it(`identifies the child in log, telemetry and answer: ${label}`, async (t) => {
      const { envelope, events, observed } = await delegate(t, { ...CALL, label });
      assert.equal(envelope.metadata["subagent_label"], label);
      assert.equal(eventsIn(events, "child_start")[0]?.label, label);
      assert.deepEqual([...new Set(observed.map((event) => event.label))], [label]);
    });
  }

  it("may be given twice: two children of one label are two runs", async (t) => {
    const twice = (task_prompt: string): JsonObject => ({ label: "same", task_prompt });
    const { asked, tree, id } = await delegate(t, CALL, {
      child: (request) => {
        const isFirst = taskOf(request) === CALL.task_prompt;
        if (!isFirst || outputsIn(request).length > 0) return reply.text("Found.");
        return reply.calls([call(twice("One.")), call(twice("Two."))]);
      },
    });
    assert.ok(asked.some((request) => taskOf(request) === "Two."));
    const starts = eventsIn(await tree.eventsOf(`${id}/research-1.0`), "child_start");
    assert.equal(new Set(starts.map(({ child_id }) => child_id)).size, 2);
  });
});

describe("the field `task_prompt`", () => {
  const task_prompt = "  Research the latest PyTorch API changes in 2024\n";

  it("is the child's first user message, unchanged, and its whole prompt", async (t) => {
    const { asked } = await delegate(t, { ...CALL, task_prompt, summary_prompt: "In a line." });
    assert.deepEqual(saidIn(asked[0]), [task_prompt]);
    assert.equal(asked[0]?.items.length, 1);
  });

  it("has the default request for a report as its last paragraph, if the call has none", async (t) => {
    const { asked } = await delegate(t, { ...CALL, task_prompt });
    const wish = "Summarize your findings concisely";
    assert.deepEqual(asked.map(saidIn), [[`${task_prompt}\n\n${wish}`]]);
  });
});

describe("the field `summary_prompt`", () => {
  it("shapes the output: it is the last prompt, and its answer is returned", async (t) => {
    const summary_prompt =
      "Provide a structured summary with: Key Findings, Implementation Details, Recommendations";
    const { asked, envelope } = await delegate(
      t,
      { ...CALL, summary_prompt },
      {
        child: (request) =>
          reply.text(saidIn(request).at(-1) === summary_prompt ? "Key Findings: 1" : "Raw."),
      },
    );
    assert.deepEqual(saidIn(asked.at(-1)), [CALL.task_prompt, summary_prompt]);
    assert.equal(envelope.output, "Key Findings: 1");
  });

  for (const [name, given] of [
    ["left out", {}],
    ["null", { summary_prompt: null }],
    ["blank", { summary_prompt: " " }],
  ] as const) {
    it(`is "Summarize your findings concisely" when it is ${name}`, async (t) => {
      const { asked } = await delegate(t, { ...CALL, ...given });
      assert.equal(asked.length, 1, "no turn of its own");
      assert.match(saidIn(asked[0])[0] ?? "", /\n\nSummarize your findings concisely$/);
    });
  }
});

/** Tools that a child gets if it may delegate and ask. */
const COMPANIONS = ["subagent", "subagents", "ask_parent"];

describe("the field `allowed_tools`", () => {
  const request = { tools: ["read", "grep", "bash_find", "subagent"] };

  it("is a whitelist: the child has those and no others", async (t) => {
    const { asked, events } = await delegate(t, { ...CALL, allowed_tools: ["grep"] }, { request });
    assert.deepEqual(toolsOf(asked[0]), ["grep"]);
    assert.deepEqual(eventsIn(events, "child_start")[0]?.effective["tools"], ["grep"]);
  });

  it("is enforced even if the child calls another of its parent's tools", async (t) => {
    const { asked } = await delegate(
      t,
      { ...CALL, allowed_tools: ["grep"] },
      {
        request,
        files: { "a.txt": "the secret" },
        child: ({ items }) =>
          items.length === 1
            ? reply.calls([{ name: "read", arguments: { path: "a.txt" } }])
            : reply.text("Found."),
      },
    );
    assert.match(outputsIn(asked[1])[0] ?? "", /^Error: /);
    assert.ok(!JSON.stringify(asked).includes("the secret"));
  });

  it("left out gives all of the parent's tools", async (t) => {
    const { asked } = await delegate(t, CALL, { request });
    const named = toolsOf(asked[0]).filter((name) => !COMPANIONS.includes(name));
    assert.deepEqual(named.sort(), ["bash_find", "grep", "read"]);
  });

  it("empty gives no tools at all", async (t) => {
    const { asked } = await delegate(t, { ...CALL, allowed_tools: [] }, { request });
    assert.deepEqual(toolsOf(asked[0]), []);
  });

  it("named gives no way to delegate further", async (t) => {
    const { asked } = await delegate(t, { ...CALL, allowed_tools: ["read"] }, { request });
    assert.ok(!toolsOf(asked[0]).includes("subagent"));
  });

  for (const name of ["subagent", "call_subagent", "parallel_subagent"]) {
    it(`always blocks \`${name}\``, async (t) => {
      const { asked, envelope } = await delegate(t, { ...CALL, allowed_tools: ["read", name] });
      const error = `Tool '${name}' cannot be used by subagents`;
      assert.deepEqual([asked.length, envelope.success, envelope.error], [0, false, error]);
    });
  }

  it("never gives a tool that the parent lacks: a built-in tool too is unknown then", async (t) => {
    const { asked, envelope } = await delegate(
      t,
      { ...CALL, allowed_tools: ["edit"] },
      { request },
    );
    assert.deepEqual([asked.length, envelope.error], [0, "Unknown tool in allowed_tools: edit"]);
  });
});

describe("the field `max_turns`", () => {
  for (const max_turns of [1, 5, 20, 50]) {
    it(`may be ${max_turns}, which is then the child's limit`, async (t) => {
      const { events, envelope } = await delegate(t, { ...CALL, max_turns });
      assert.equal(envelope.success, true);
      assert.equal(eventsIn(events, "child_start")[0]?.effective["max_turns"], max_turns);
    });
  }

  it("is 10 when it is left out", async (t) => {
    const { events } = await delegate(t);
    assert.equal(eventsIn(events, "child_start")[0]?.effective["max_turns"], 10);
  });

  it("is `default_max_turns` when it is left out", async (t) => {
    const { events } = await delegate(t, CALL, { delegation: { defaultMaxTurns: 7 } });
    const [start] = eventsIn(events, "child_start");
    assert.deepEqual([start?.effective["max_turns"], start?.requested], [7, {}]);
  });

  it("prevents runaway execution: no model call is made beyond it", async (t) => {
    const again = { name: "read", arguments: { path: "a.txt" } };
    const { asked } = await delegate(
      t,
      { ...CALL, max_turns: 4 },
      { files: { "a.txt": "a" }, child: () => reply.calls([again]) },
    );
    assert.equal(asked.length, 4);
  });
});
