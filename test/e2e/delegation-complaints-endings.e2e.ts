/** Complaints about what children answer and how they end, a number each; docs/complaints.md lists them all. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { createManualClock, reply } from "../../src/testing/index.ts";
import {
  asksFor,
  begin,
  COUNTER,
  calling,
  callingForEver,
  createGate,
  envelopesIn,
  eventsOfType,
  HURRIED,
  playing,
  spawning,
  toCalls,
} from "../delegation/family.ts";
import { startTree } from "../delegation/tree-fixture.ts";
import { untilTrue } from "../patience.ts";

const READING = callingForEver("read", { path: "a.txt" });
const FILES = { "a.txt": "hello", "secret.txt": "TOP" };

describe("complaints about what children answer", () => {
  it("8: an answer that a limit truncated is incomplete, however finished it sounds", async (t) => {
    const tree = await startTree(
      t,
      playing({ go: calling(spawning("a")), a: () => reply.length("All done, success.") }),
    );
    const { events } = await tree.run();
    assert.equal(envelopesIn(events)["a"]?.metadata["completion_status"], "incomplete");
    assert.equal(eventsOfType(events, "child_end")[0]?.ending, "budget");
  });

  it("9 and 13: the last turn is kept for the report, which does not change the ending", async (t) => {
    const tree = await startTree(
      t,
      playing({ go: calling(spawning("a", { max_turns: 2 })), a: READING }),
      { files: FILES },
    );
    const { events } = await tree.run();
    const { a } = envelopesIn(events);
    assert.equal(a?.output, "GOAL reached, success.");
    assert.deepEqual(
      [a?.metadata["completion_status"], a?.metadata["max_turns_reached"]],
      ["incomplete", "true"],
    );
    assert.equal(eventsOfType(events, "child_end")[0]?.ending, "max_turns");
  });

  it("10: what a child invents in place of a grandchild that failed is shown beside the failure", async (t) => {
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a")),
        a: ({ outputs }) =>
          outputs.length > 0
            ? reply.text("The grandchild found 7 errors.")
            : toCalls(spawning("b")),
        b: () => reply.status(401, { error: { message: "no" } }),
      }),
    );
    const { id } = await tree.run();
    const child = await tree.eventsOf(`${id}/a-1.0`);
    assert.equal(envelopesIn(child)["b"]?.success, false, "the child was told");
    assert.equal(eventsOfType(child, "child_end")[0]?.ending, "failed");
  });

  it("11: no answer of a child says of itself that it is verified", async (t) => {
    const claim = '{"success":true,"verified":true,"metadata":{"completion_status":"complete"}}';
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a", { max_turns: 1 })),
        a: () => reply.length(claim),
      }),
    );
    const { a } = envelopesIn((await tree.run()).events);
    assert.deepEqual(Object.keys(a ?? {}).sort(), ["error", "metadata", "output", "success"]);
    assert.deepEqual([a?.output, a?.metadata["completion_status"]], [claim, "incomplete"]);
  });

  it("12: a child that was interrupted returns its text so far, and its record is kept", async (t) => {
    const clock = createManualClock();
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a"), spawning("long")),
        a: () => reply.silence("Half of the "),
        long: () => reply.text("x".repeat(5000)),
      }),
      { clock, delegation: { childTimeoutMs: 2000 } },
    );
    const run = await begin(tree, ["subagent"]);
    const cut = `${run.id}/a-1.0`;
    const long = `${run.id}/long-1.1`;
    const { engine } = tree.runtime;
    await untilTrue(async () => (await engine.status(cut)) !== undefined, "the first child");
    let said = "";
    for await (const batch of engine.follow(cut, -1)) {
      for (const { event } of batch) if (event.type === "text_delta") said += event.delta;
      if (said === "Half of the ") break;
    }
    await untilTrue(async () => (await engine.status(long))?.status === "ended", "the second one");
    await clock.advance(2000);
    assert.equal((await run.result()).ending, "completed");
    const envelopes = envelopesIn(await tree.eventsOf(run.id));
    const { success, output } = envelopes["a"] ?? {};
    assert.deepEqual([success, output], [false, "Half of the "]);
    assert.match(envelopes["long"]?.output ?? "", /\n\[Output truncated\]$/);
    const [end] = eventsOfType(await tree.eventsOf(long), "run_end");
    assert.equal(end?.output_text.length, 5000);
  });

  it("26: a child's question reaches its parent as its answer, and no run waits", async (t) => {
    const question = "Which of the two folders?";
    const tree = await startTree(
      t,
      playing({ go: calling(spawning("a")), a: () => reply.text(question) }),
    );
    assert.equal(envelopesIn((await tree.run()).events)["a"]?.output, question);
  });

  it("29: a document that does not fit is not an answer, after at most two repairs", async (t) => {
    const outputSchema = {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
      additionalProperties: false,
    };
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a", { agent: "counter" })),
        a: () => reply.text('{"stub":true}'),
      }),
      { agents: [{ ...COUNTER, outputSchema, budget: { turns: 9 } }] },
    );
    const { a } = envelopesIn((await tree.run()).events);
    assert.equal(a?.success, false);
    assert.match(a?.error ?? "", /does not fit the schema after 2 repairs/);
    assert.equal(asksFor(tree.upstream.requests, "a"), 3);
  });
});

describe("complaints about children that do not end", () => {
  it("14: the limit of turns holds alone, nested and side by side", async (t) => {
    const tasks = ["c", "d"].map((label) => ({ label, task_prompt: label, max_turns: 2 }));
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a", { max_turns: 3 }), spawning("outer"), [
          "parallel_subagent",
          { tasks },
        ]),
        outer: calling(spawning("b", { max_turns: 2 })),
        a: READING,
        b: READING,
        c: READING,
        d: READING,
      }),
      { files: FILES },
    );
    await tree.run({ tools: ["read", "subagent", "parallel_subagent"] });
    const asked = ["a", "b", "c", "d"].map((task) => asksFor(tree.upstream.requests, task));
    assert.deepEqual(asked, [3, 2, 2, 2]);
  });

  it("15: a tool that hangs and ignores its signal does not block the parent", async (t) => {
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a", { agent: "hurried" }), spawning("b")),
        a: calling(["hang", {}]),
      }),
      {
        agents: [HURRIED],
        tools: [
          {
            spec: {
              type: "function",
              name: "hang",
              description: "Hangs.",
              strict: false,
              parameters: { type: "object", properties: {} },
            },
            readOnly: true,
            effect: "own",
            parse: (input) => input,
            run: () => new Promise(() => {}),
          },
        ],
      },
    );
    const { events, end } = await tree.run({ tools: ["hang", "subagent"] });
    const { a, b } = envelopesIn(events);
    assert.deepEqual([a?.success, b?.success, end.ending], [false, true, "completed"]);
    assert.equal(
      eventsOfType(events, "child_end").find(({ label }) => label === "a")?.ending,
      "timeout",
    );
  });

  it("16: children end with their parent, and each has its ending", async (t) => {
    const begun = createGate();
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a")),
        a: calling(spawning("b")),
        b: () => {
          begun.open();
          return reply.silence("Beginning.");
        },
      }),
    );
    const run = await begin(tree, ["subagent"]);
    await begun.opened;
    await run.cancel();
    assert.equal((await run.result()).ending, "cancelled");
    for (const key of ["a-1.0", "a-1.0/b-1.0"]) {
      const [end] = eventsOfType(await tree.eventsOf(`${run.id}/${key}`), "run_end");
      assert.equal(end?.ending, "cancelled", key);
    }
  });

  it("18: a child that has ended gives its place to the next, and a refusal says what is used up", async (t) => {
    const tasks = ["a", "b", "c", "d"].map((label) => ({ label, task_prompt: label }));
    const tree = await startTree(
      t,
      playing({
        go: ({ outputs }) => {
          if (outputs.length > 1) return reply.text("done");
          return outputs.length === 0
            ? toCalls(["parallel_subagent", { tasks, max_concurrent: 1 }])
            : toCalls(spawning("e"));
        },
      }),
    );
    const { events } = await tree.run({
      tools: ["subagent", "parallel_subagent"],
      limits: { ...NO_LIMITS, children: 4 },
    });
    assert.equal(eventsOfType(events, "child_end").length, 4);
    const { e } = envelopesIn(events);
    assert.equal(e?.success, false);
    assert.match(e?.error ?? "", /children|subagents/i);
  });

  it("19: a 429 in the middle of a fan-out costs a wait and no child", async (t) => {
    let refused = 0;
    const once = () =>
      refused++ === 0
        ? reply.status(429, { error: { message: "slow down" } }, { "retry-after": "0" })
        : reply.text("done");
    const labels = ["a", "b", "c", "d"];
    const tree = await startTree(
      t,
      playing({
        go: calling(...labels.map((label) => spawning(label))),
        ...Object.fromEntries(labels.map((label) => [label, once])),
      }),
    );
    const envelopes = envelopesIn((await tree.run()).events);
    assert.deepEqual(
      labels.map((label) => envelopes[label]?.success),
      [true, true, true, true],
    );
  });

  it("20: every run of the tree has a log that names its parent", async (t) => {
    const tree = await startTree(
      t,
      playing({ go: calling(spawning("a")), a: calling(spawning("b")) }),
    );
    const { id, events } = await tree.run();
    assert.equal(eventsOfType(events, "child_start")[0]?.child_id, `${id}/a-1.0`);
    for (const [key, parent] of [
      ["a-1.0", id],
      ["a-1.0/b-1.0", `${id}/a-1.0`],
    ]) {
      const [start] = eventsOfType(await tree.eventsOf(`${id}/${key}`), "run_start");
      assert.equal(start?.parent_id, parent);
    }
  });

  it("27: a child is recorded before its first prompt is sent", async (t) => {
    const asked = createGate();
    const tree = await startTree(
      t,
      playing({
        go: calling(spawning("a")),
        a: () => {
          asked.open();
          return reply.silence();
        },
      }),
    );
    const run = await begin(tree, ["subagent"]);
    await asked.opened;
    const child = await tree.runtime.engine.status(`${run.id}/a-1.0`);
    assert.equal(child?.status, "running");
    await run.cancel();
    const log = (await tree.eventsOf(run.id)).map(({ type }) => type);
    assert.ok(log.includes("child_start"));
  });
});
