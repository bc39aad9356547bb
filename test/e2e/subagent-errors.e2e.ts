/** The error response of `subagent`: its form, and every message of the contract. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { reply } from "../../src/testing/index.ts";
import { CALL, call, delegate, eventsIn, outputsIn, refusal } from "../delegation/delegate.ts";

describe("the error response", () => {
  const broken = { child: () => refusal("The model is on fire.") };

  it("has the four fields, in the contract's order", async (t) => {
    const { told } = await delegate(t, CALL, broken);
    assert.deepEqual(Object.keys(JSON.parse(told)), ["success", "output", "error", "metadata"]);
  });

  it("the error response has `success: false`", async (t) => {
    const { envelope } = await delegate(t, CALL, broken);
    assert.equal(envelope.success, false);
  });

  it("has an empty output if the child had no text", async (t) => {
    const { envelope } = await delegate(t, CALL, broken);
    assert.equal(envelope.output, "");
  });

  it("begins its error with `Subagent execution failed: ` and says why", async (t) => {
    const { envelope } = await delegate(t, CALL, broken);
    assert.match(envelope.error ?? "", /^Subagent execution failed: .*The model is on fire\./);
  });

  it("has the label and the depth as metadata, and no numbers", async (t) => {
    const { envelope } = await delegate(t, CALL, broken);
    assert.deepEqual(envelope.metadata, { subagent_label: "research", recursion_depth: "1" });
  });

  it("is marked as a failure in the record, and the parent's run continues", async (t) => {
    const { events, end } = await delegate(t, CALL, broken);
    assert.equal(eventsIn(events, "child_end")[0]?.ending, "failed");
    assert.equal(end.ending, "completed");
  });
});

/** By the contract's headings, in its order. */
const MESSAGES: readonly [heading: string, cause: string, input: Json, error: string][] = [
  [
    "Invalid input: missing field `label`",
    "missing",
    { task_prompt: "x" },
    "Invalid input: missing field `label`",
  ],
  [
    "Invalid input: missing field `label`",
    "empty",
    { ...CALL, label: "" },
    "Invalid input: missing field `label`",
  ],
  [
    "Invalid input: missing field `label`",
    "blank",
    { ...CALL, label: " \n" },
    "Invalid input: missing field `label`",
  ],
  [
    "Tool 'subagent' cannot be used by subagents",
    "named in `allowed_tools`",
    { ...CALL, allowed_tools: ["read", "subagent"] },
    "Tool 'subagent' cannot be used by subagents",
  ],
  [
    "Unknown tool: X",
    "a name that no tool has",
    { ...CALL, allowed_tools: ["read", "nonexistent_tool"] },
    "Unknown tool in allowed_tools: nonexistent_tool",
  ],
  ["task_prompt cannot be empty", "missing", { label: "a" }, "task_prompt cannot be empty"],
  [
    "task_prompt cannot be empty",
    "empty",
    { ...CALL, task_prompt: "" },
    "task_prompt cannot be empty",
  ],
  [
    "task_prompt cannot be empty",
    "only whitespace",
    { ...CALL, task_prompt: " \t\n " },
    "task_prompt cannot be empty",
  ],
  ...[0, -1, 51, 1.5, 1e9, "5", true].map((max_turns): (typeof MESSAGES)[number] => [
    "max_turns must be between 1 and 50",
    JSON.stringify(max_turns),
    { ...CALL, max_turns },
    "max_turns must be between 1 and 50",
  ]),
];

describe("a common error message", () => {
  for (const [heading, cause, input, error] of MESSAGES) {
    it(`"${heading}" (${cause}) is returned literally, and nothing is started`, async (t) => {
      const { envelope, asked, events, observed } = await delegate(t, input);
      const label = (input as { label?: string }).label ?? "";
      const metadata = { subagent_label: label, recursion_depth: "1" };
      assert.deepEqual(envelope, { success: false, output: "", error, metadata });
      assert.deepEqual([asked.length, eventsIn(events, "child_start").length], [0, 0]);
      assert.deepEqual(observed, [{ event: "error", label, depth: 1, error }]);
    });
  }

  it("`allowed_tools` cannot name tools of the parent that it must not pass on", async (t) => {
    const { envelope } = await delegate(t, { ...CALL, allowed_tools: ["read"] });
    assert.equal(envelope.error, null);
  });
});

describe('"Maximum subagent depth N reached"', () => {
  /** Every run below the parent delegates once, then ends. */
  const nest = (t: Parameters<typeof delegate>[0], maxDepth: number) =>
    delegate(t, CALL, {
      delegation: { maxDepth },
      child: (request) =>
        outputsIn(request).length === 0 && request.tools.length > 0
          ? reply.calls([call(CALL)])
          : reply.text("Found."),
    });

  for (const maxDepth of [1, 3, 10]) {
    it(`is answered at a limit of ${maxDepth}, at or beyond it and not before`, async (t) => {
      const { asked } = await nest(t, maxDepth);
      const told = [...new Set(asked.flatMap(outputsIn))].map((text) => JSON.parse(text));
      const refused = told.filter(({ success }) => !success);
      assert.deepEqual(refused, [
        {
          success: false,
          output: "",
          error: `Maximum subagent recursion depth (${maxDepth}) exceeded. Current depth: ${maxDepth}. Cannot spawn nested subagent.`,
          metadata: { subagent_label: "research", recursion_depth: String(maxDepth + 1) },
        },
      ]);
    });

    it(`leaves ${maxDepth} runs below the parent, all of them complete`, async (t) => {
      const { tree, id, envelope } = await nest(t, maxDepth);
      assert.equal(envelope.metadata["completion_status"], "complete");
      const path = (depth: number): string => `${id}${"/research-1.0".repeat(depth)}`;
      for (let depth = 0; depth < maxDepth; depth++) {
        const [start] = eventsIn(await tree.eventsOf(path(depth)), "child_start");
        assert.equal(start?.depth, depth + 1);
      }
      assert.deepEqual(eventsIn(await tree.eventsOf(path(maxDepth)), "child_start"), []);
    });
  }
});
