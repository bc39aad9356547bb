/** The response of `subagent`, with a test for each sentence of its output, and for each limitation. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { reply } from "../../src/testing/index.ts";
import {
  CALL,
  call,
  type Delegated,
  delegate,
  eventsIn,
  outputsIn,
  refusal,
  saidIn,
  taskOf,
} from "../delegation/delegate.ts";

const KEYS = [
  "subagent_label",
  "recursion_depth",
  "completion_status",
  "turns_used",
  "max_turns_reached",
  "tokens_consumed",
];

const READ = { name: "read", arguments: { path: "a.txt" } };

/** A call with its own prompt for the report, which takes a turn of its own. */
const REPORTING = { ...CALL, summary_prompt: "In short." };

/** A child that reads until it is asked for its report. */
const runAway = (t: TestContext, input: Json = { ...CALL, max_turns: 3 }): Promise<Delegated> =>
  delegate(t, input, {
    files: { "a.txt": "a" },
    child: ({ tool_choice }) =>
      tool_choice === "none" ? reply.text("So far: a.") : reply.calls([READ]),
  });

describe("the response", () => {
  it("is JSON with exactly `success`, `output`, `error` and `metadata`", async (t) => {
    const { told } = await delegate(t);
    assert.deepEqual(Object.keys(JSON.parse(told)), ["success", "output", "error", "metadata"]);
  });

  it("has `success: true` and the output when the child completed", async (t) => {
    const { envelope } = await delegate(t);
    assert.deepEqual([envelope.success, envelope.output], [true, "Found."]);
  });

  it("has `success: false` and the details in `error` when the child failed", async (t) => {
    const { envelope } = await delegate(t, CALL, { child: () => refusal("No luck.") });
    assert.equal(envelope.success, false);
    assert.match(String(envelope.error), /No luck\./);
  });

  it("has `error: null` on success, and not a missing field", async (t) => {
    const { told } = await delegate(t);
    assert.ok(told.includes('"error":null'), told);
  });

  it("has a text as `error` on failure", async (t) => {
    const { envelope } = await delegate(t, CALL, { child: () => refusal("No luck.") });
    assert.equal(typeof envelope.error, "string");
  });

  it("has the summary of the child's findings as its output", async (t) => {
    const { envelope } = await delegate(t, REPORTING, {
      child: (request) => reply.text(saidIn(request).length > 1 ? "In short: it." : "Long words."),
    });
    assert.equal(envelope.output, "In short: it.");
  });
});

describe("the size of the output", () => {
  const said = (t: TestContext, text: string, outputMaxSize?: number): Promise<Delegated> =>
    delegate(t, CALL, {
      child: () => reply.text(text, { pieceLength: 4096 }),
      ...(outputMaxSize === undefined ? {} : { delegation: { outputMaxSize } }),
    });
  const NOTICE = "\n[Output truncated]";

  it("may be 4096 bytes by default, and is not truncated then", async (t) => {
    const { envelope } = await said(t, "x".repeat(4096));
    assert.equal(envelope.output, "x".repeat(4096));
  });

  it("is truncated above 4096 bytes, with the notice after it", async (t) => {
    const { envelope } = await said(t, "x".repeat(4097));
    assert.equal(envelope.output, `${"x".repeat(4096)}${NOTICE}`);
    assert.ok(!envelope.output.startsWith("x".repeat(4097)));
  });

  it("is that of `output_max_size` if it is set", async (t) => {
    const { envelope } = await said(t, "x".repeat(8192), 8191);
    assert.equal(envelope.output, `${"x".repeat(8191)}${NOTICE}`);
    assert.equal((await said(t, "x".repeat(8192), 8192)).envelope.output.length, 8192);
  });

  it("is counted in bytes, and truncated at the start of a character", async (t) => {
    const { envelope } = await said(t, `a${"\u{1f600}".repeat(300)}`, 1024);
    assert.equal(envelope.output, `a${"\u{1f600}".repeat(255)}${NOTICE}`);
    assert.ok(!envelope.output.includes("\ufffd"));
  });

  it("does not make the answer a failure, and the whole stays readable", async (t) => {
    const { envelope, tree, id } = await said(t, "x".repeat(5000));
    assert.deepEqual(
      [envelope.success, envelope.metadata["completion_status"]],
      [true, "complete"],
    );
    const child = `${id}/research-1.0`;
    const [end] = eventsIn(await tree.eventsOf(child), "run_end");
    assert.equal(end?.output_text, "x".repeat(5000));
  });
});

describe("the metadata", () => {
  it("has all six keys on success, each of them a text", async (t) => {
    const { envelope } = await delegate(t);
    assert.deepEqual(Object.keys(envelope.metadata), KEYS);
    for (const value of Object.values(envelope.metadata)) assert.equal(typeof value, "string");
  });

  it("has all six keys, each of them a text, also for partial work, and the cause of its end", async (t) => {
    const { envelope } = await runAway(t);
    assert.deepEqual(Object.keys(envelope.metadata), [...KEYS, "incomplete_reason"]);
    const { incomplete_reason } = envelope.metadata;
    assert.equal(incomplete_reason, "The run stopped at its limit of 3 turns.");
    for (const value of Object.values(envelope.metadata)) assert.equal(typeof value, "string");
  });

  it("the metadata repeats the label of the call", async (t) => {
    const label = "research_quantum_computing";
    const { envelope } = await delegate(t, { ...CALL, label });
    assert.equal(envelope.metadata["subagent_label"], label);
  });

  it('has depth "1" for a first subagent and "2" for a nested one', async (t) => {
    const { envelope, asked } = await delegate(t, CALL, {
      child: (request) =>
        taskOf(request) === CALL.task_prompt && outputsIn(request).length === 0
          ? reply.calls([call({ label: "inner", task_prompt: "Look deeper." })])
          : reply.text("Found."),
    });
    assert.equal(envelope.metadata["recursion_depth"], "1");
    const [inner] = asked.flatMap(outputsIn);
    assert.equal(JSON.parse(inner ?? "").metadata["recursion_depth"], "2");
  });

  it("calls a task that was finished `complete`", async (t) => {
    const { envelope } = await delegate(t);
    assert.equal(envelope.metadata["completion_status"], "complete");
  });

  it("calls a task whose turns were used up `incomplete`", async (t) => {
    const { envelope } = await runAway(t);
    assert.equal(envelope.metadata["completion_status"], "incomplete");
    assert.deepEqual([envelope.success, envelope.output], [true, "So far: a."]);
  });

  it("calls a task whose budget was used up `incomplete`, though no turn limit was hit", async (t) => {
    const { envelope } = await delegate(t, CALL, {
      files: { "a.txt": "a" },
      request: { limits: { turns: 8, tokens: null, usd: null, tool_calls: null, children: null } },
      child: () => reply.calls([READ], { text: "So far: a." }),
    });
    const { completion_status, max_turns_reached, incomplete_reason } = envelope.metadata;
    assert.deepEqual([completion_status, max_turns_reached], ["incomplete", "false"]);
    assert.match(incomplete_reason ?? "", /turns/);
    assert.deepEqual([envelope.success, envelope.output], [true, "So far: a."]);
  });

  it("counts the turns that were used, the report among them", async (t) => {
    const { envelope, asked } = await delegate(t, REPORTING, {
      files: { "a.txt": "a" },
      child: ({ items }) => (items.length < 4 ? reply.calls([READ]) : reply.text("Found.")),
    });
    assert.deepEqual([envelope.metadata["turns_used"], asked.length], ["4", 4]);
  });

  it('has max_turns_reached "false" within the limit', async (t) => {
    const { envelope } = await delegate(t);
    assert.equal(envelope.metadata["max_turns_reached"], "false");
  });

  it('has max_turns_reached "true" at the limit, along with `incomplete`', async (t) => {
    const { envelope } = await runAway(t);
    const { max_turns_reached, completion_status, turns_used } = envelope.metadata;
    assert.deepEqual(
      [max_turns_reached, completion_status, turns_used],
      ["true", "incomplete", "3"],
    );
  });

  it("counts the tokens of all the child's model calls", async (t) => {
    const { envelope, events } = await delegate(t, REPORTING, {
      child: (request) =>
        reply.text("Found.", {
          usage:
            saidIn(request).length > 1 ? { input: 50, output: 200 } : { input: 700, output: 300 },
        }),
    });
    assert.equal(envelope.metadata["tokens_consumed"], "1250");
    assert.equal(eventsIn(events, "child_end")[0]?.usage.total_tokens, 1250);
  });

  it("has the shape of the contract's complete example", async (t) => {
    const usage = { input: 700, output: 100 };
    const { told } = await delegate(
      t,
      { ...REPORTING, label: "research_quantum_computing" },
      {
        files: { "a.txt": "a" },
        child: ({ items }) =>
          items.length < 4 ? reply.calls([READ], { usage }) : reply.text("Found.", { usage }),
      },
    );
    assert.deepEqual(JSON.parse(told), {
      success: true,
      output: "Found.",
      error: null,
      metadata: {
        subagent_label: "research_quantum_computing",
        recursion_depth: "1",
        completion_status: "complete",
        turns_used: "4",
        max_turns_reached: "false",
        tokens_consumed: "3200",
      },
    });
  });
});

describe("a usage example", () => {
  it("of a quick lookup ends after one turn", async (t) => {
    const lookup = { label: "weather_research", allowed_tools: ["read"], max_turns: 3 };
    const { envelope } = await delegate(t, { ...CALL, ...lookup });
    assert.deepEqual([envelope.success, envelope.metadata["turns_used"]], [true, "1"]);
  });

  it("of a sequence runs each step apart: none sees another's words", async (t) => {
    const steps = ["Generate it.", "Review it.", "Optimize it."];
    const { asked } = await delegate(t, CALL, {
      child: (request) => {
        if (taskOf(request) !== CALL.task_prompt) return reply.text("Found.");
        const task_prompt = steps[outputsIn(request).length];
        return task_prompt === undefined
          ? reply.text("Integrated.")
          : reply.calls([call({ label: "s", task_prompt })]);
      },
    });
    for (const step of steps) {
      const own = asked.filter((request) => taskOf(request) === step);
      assert.equal(own.length, 1, step);
      const others = steps.filter((other) => other !== step);
      assert.ok(
        others.every((other) => !JSON.stringify(own).includes(other)),
        step,
      );
    }
  });
});
