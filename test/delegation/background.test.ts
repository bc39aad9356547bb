import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply } from "../../src/testing/index.ts";
import { holding, newsIn, outputsOf, startBackground, TOOLS } from "./background-fixture.ts";
import { begin, envelopesIn, eventsOfType, type Role, spawning, toCalls } from "./family.ts";

const BACKGROUND = { background: true };

/** Everything that the user has said to this run. */
const saidTo = ({ items }: ModelRequest): string[] =>
  items.flatMap((item) =>
    item.type === "message" && item.role === "user" ? [String(item.content)] : [],
  );

const holdOnce =
  (name: string, then = `${name} done`): Role =>
  ({ outputs }) =>
    outputs.length === 0 ? holding(name) : reply.text(then);

const noticeIn = (events: readonly RunEvent[]): string | undefined =>
  eventsOfType(events, "notice").find(({ code }) => code === "background")?.message;

describe("a background subagent", () => {
  it("does not delay its call, and its report comes by itself before the next turn", async (t) => {
    const asked: string[][] = [];
    const tree = await startBackground(t, {
      go({ outputs, request }) {
        asked.push(saidTo(request));
        if (outputs.length === 0) return toCalls(spawning("slow", BACKGROUND));
        if (outputs.length === 1) {
          tree.release("slow");
          return holding("until slow has ended");
        }
        return reply.text("all done");
      },
      slow: holdOnce("slow"),
    });
    const run = await begin(tree, TOOLS);
    await tree.held("until slow has ended");
    await tree.eventsOf(`${run.id}/slow-1.0`);
    // Its end is in the log of its parent when its report is available.
    for await (const batch of tree.runtime.engine.follow(run.id, -1)) {
      if (batch.some(({ event }) => event.type === "child_end")) break;
    }
    tree.release("until slow has ended");
    const end = await run.result();
    assert.equal(end.output_text, "all done");
    const events = await tree.eventsOf(run.id);
    const [envelope] = outputsOf(events, "subagent");
    assert.deepEqual(envelope, {
      success: true,
      output: "",
      error: null,
      metadata: {
        subagent_label: "slow",
        recursion_depth: "1",
        subagent_id: `${run.id}/slow-1.0`,
        completion_status: "running",
      },
    });
    assert.deepEqual(newsIn(events), ["report slow"]);
    const last = asked.at(-1)?.at(-1) ?? "";
    assert.match(last, /^Subagent slow \(run_\w+\/slow-1\.0\) has ended: \{"success":true,/);
    assert.match(last, /slow done/);
    assert.deepEqual(
      eventsOfType(events, "child_end").map(({ background }) => background),
      [true],
    );
    assert.equal(end.spent["children"], 1);
  });

  it("is awaited when the model gives its answer, and the model is asked once more", async (t) => {
    const asked: string[][] = [];
    const tree = await startBackground(t, {
      go({ outputs, request }) {
        asked.push(saidTo(request));
        if (outputs.length === 0) return toCalls(spawning("slow", BACKGROUND));
        if (asked.length === 2) tree.release("slow");
        return reply.text(asked.length === 2 ? "too early" : "with the report");
      },
      slow: holdOnce("slow"),
    });
    const { id, end, events } = await tree.run({ tools: TOOLS });
    const { left, divergence } = await tree.runtime.replay({ id });
    assert.deepEqual([left, divergence], [[], undefined], "it is replayed as it was");
    assert.deepEqual([end.output_text, end.turns], ["with the report", 3]);
    assert.deepEqual(newsIn(events), ["report slow"]);
    assert.match(asked.at(-1)?.at(-1) ?? "", /Give your whole answer again/);
  });

  it("adds no step and no event to a run without one", async (t) => {
    const tree = await startBackground(t, {
      go: ({ outputs }) => (outputs.length === 0 ? toCalls(spawning("a")) : reply.text("done")),
    });
    const { events } = await tree.run({ tools: TOOLS });
    assert.deepEqual(newsIn(events), []);
    assert.ok(!eventsOfType(events, "child_end").some(({ background }) => background));
  });

  it("is collected by `wait`, all that are named or the first, and not reported again", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs }) {
        if (outputs.length === 0) {
          return toCalls(spawning("a", BACKGROUND), spawning("b", BACKGROUND));
        }
        if (outputs.length === 2) {
          tree.release("a");
          return toCalls(["subagents", { action: "wait" }]);
        }
        if (outputs.length === 3) {
          tree.release("b");
          return toCalls(["subagents", { action: "wait", ids: ["b"] }]);
        }
        return reply.text("done");
      },
      a: holdOnce("a"),
      b: holdOnce("b"),
    });
    const { id, events, end } = await tree.run({ tools: TOOLS });
    const [first, second] = outputsOf(events, "subagents") as {
      ended: { id: string; output: string }[];
      running: string[];
    }[];
    assert.deepEqual(
      [first?.ended.map((one) => [one.id, one.output]), first?.running],
      [[[`${id}/a-1.0`, "a done"]], [`${id}/b-1.1`]],
    );
    assert.deepEqual(
      second?.ended.map(({ output }) => output),
      ["b done"],
    );
    assert.deepEqual([newsIn(events), end.turns], [[], 4]);
  });

  it("is awaited no longer than the call says", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs }) {
        if (outputs.length === 0) return toCalls(spawning("a", BACKGROUND));
        if (outputs.length > 1) tree.release("a");
        return outputs.length === 1
          ? toCalls(["subagents", { action: "wait", timeout_ms: 1 }])
          : reply.text("done");
      },
      a: holdOnce("a"),
    });
    const { id, events } = await tree.run({ tools: TOOLS });
    const [waited] = outputsOf(events, "subagents");
    assert.deepEqual(waited, { ended: [], asks: [], running: [`${id}/a-1.0`] });
    assert.deepEqual(newsIn(events), ["report a"]);
  });

  it("is listed, and stopped by its label", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs }) {
        if (outputs.length === 0) return toCalls(spawning("a", BACKGROUND));
        if (outputs.length > 2) return reply.text("done");
        const action = outputs.length === 1 ? { action: "list" } : { action: "stop", id: "a" };
        return toCalls(["subagents", action]);
      },
      a: holdOnce("a"),
    });
    const { id, events, end } = await tree.run({ tools: TOOLS });
    const [list, stopped] = outputsOf(events, "subagents");
    assert.deepEqual(list, { subagents: [{ id: `${id}/a-1.0`, label: "a", status: "running" }] });
    assert.match(JSON.stringify(stopped), /Subagent execution failed: The run was cancelled/);
    const [childEnd] = eventsOfType(events, "child_end");
    assert.deepEqual(
      [childEnd?.ending, end.ending, newsIn(events)],
      ["cancelled", "completed", []],
    );
  });

  it("is left a message on the topic `steer`", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs }) {
        if (outputs.length === 0) return toCalls(spawning("a", BACKGROUND));
        if (outputs.length === 1) {
          return toCalls(["subagents", { action: "message", id: "a", text: "hurry" }]);
        }
        tree.release("a");
        return reply.text("done");
      },
      a: holdOnce("a"),
    });
    const { id, events } = await tree.run({ tools: TOOLS });
    assert.deepEqual(outputsOf(events, "subagents"), [{ id: `${id}/a-1.0`, sent: "message" }]);
  });

  it("ends with a parent that is cancelled", async (t) => {
    const tree = await startBackground(t, {
      go: ({ outputs }) =>
        outputs.length === 0 ? toCalls(spawning("a", BACKGROUND)) : holding("for ever"),
      a: holdOnce("a"),
    });
    const run = await begin(tree, TOOLS);
    await tree.held("for ever");
    await tree.held("a");
    await tree.runtime.engine.cancel(run.id, { tree: true });
    const end = await run.result();
    const child = await tree.eventsOf(`${run.id}/a-1.0`);
    const last = child.at(-1);
    assert.ok(last?.type === "run_end");
    assert.deepEqual([end.ending, last.ending], ["cancelled", "cancelled"]);
    assert.equal(
      noticeIn(await tree.eventsOf(run.id)),
      `Stopped with the run: \`a\` (${run.id}/a-1.0).`,
    );
  });

  it("that was stopped, failed or finished is named with its ending if its report was not read", async (t) => {
    const labels = ["good", "bad", "stopped"];
    const tree = await startBackground(t, {
      go: ({ outputs }) =>
        outputs.length === 0
          ? toCalls(...labels.map((label) => spawning(label, BACKGROUND)))
          : holding("the answer"),
      good: () => reply.text("good done"),
      bad: () => reply.failure("It broke.", { text: "It" }),
      stopped: holdOnce("stopped"),
    });
    const run = await begin(tree, TOOLS);
    await tree.held("the answer");
    await tree.held("stopped");
    await tree.runtime.engine.cancel(`${run.id}/stopped-1.2`, { tree: true });
    const ended = new Set<string>();
    for await (const batch of tree.runtime.engine.follow(run.id, -1)) {
      for (const { event } of batch) if (event.type === "child_end") ended.add(event.child_id);
      if (ended.size === labels.length) break;
    }
    await tree.runtime.engine.cancel(run.id, { tree: true });
    await run.result();
    const [good, bad, stopped] = labels.map(
      (label, at) => `\`${label}\` (${run.id}/${label}-1.${at}, `,
    );
    assert.equal(
      noticeIn(await tree.eventsOf(run.id)),
      `Ended before, and the run did not read their reports: ${good}finished), ${bad}failed), ${stopped}stopped).`,
    );
  });

  it("ends with a parent that fails, which says so", async (t) => {
    const tree = await startBackground(t, {
      go: ({ outputs }) =>
        outputs.length === 0 ? toCalls(spawning("a", BACKGROUND)) : reply.refusal("no"),
      a: holdOnce("a"),
    });
    const { id, end, events } = await tree.run({ tools: TOOLS });
    assert.equal(end.ending, "refused");
    const [childEnd] = eventsOfType(events, "child_end");
    assert.equal(childEnd?.ending, "cancelled");
    assert.equal(noticeIn(events), `Stopped with the run: \`a\` (${id}/a-1.0).`);
    assert.equal(end.spent["children"], 1);
  });

  it("does not extend a run beyond its turns: unread reports are named", async (t) => {
    const tree = await startBackground(t, {
      go: ({ outputs }) =>
        outputs.length === 0 ? toCalls(spawning("a", BACKGROUND)) : reply.text("an answer"),
      a: holdOnce("a"),
    });
    const { end, events } = await tree.run({ tools: TOOLS, max_turns: 2 });
    assert.deepEqual([end.ending, end.output_text], ["max_turns", "an answer"]);
    assert.ok(eventsOfType(events, "notice").some(({ code }) => code === "background"));
  });

  it("is refused at once if the run has reached its limit", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs }) {
        if (outputs.length === 0) {
          return toCalls(spawning("a", BACKGROUND), spawning("b", BACKGROUND));
        }
        tree.release("a");
        return reply.text("done");
      },
      a: holdOnce("a"),
    });
    const { end, events } = await tree.run({ tools: TOOLS, limits: { children: 1 } });
    const { a, b } = envelopesIn(events);
    assert.deepEqual(
      [a?.success, b?.success, b?.error],
      [true, false, "The budget of 1 subagent is used up."],
    );
    assert.deepEqual([end.ending, end.spent["children"]], ["completed", 1]);
  });

  it("has its share of the budget, and returns what it does not use", async (t) => {
    const tree = await startBackground(t, {
      go({ outputs }) {
        if (outputs.length === 0) {
          return toCalls(spawning("a", BACKGROUND), spawning("b", BACKGROUND), spawning("c"));
        }
        for (const name of ["a", "b"]) tree.release(name);
        return reply.text("done");
      },
      a: holdOnce("a"),
      b: holdOnce("b"),
    });
    const { end, events } = await tree.run({ tools: TOOLS, limits: { tokens: 60_000 } });
    assert.equal(end.ending, "completed");
    const shares = eventsOfType(events, "child_start").map(
      ({ effective }) => (effective["limits"] as { tokens: number }).tokens,
    );
    assert.ok(Math.max(...shares) - Math.min(...shares) < 2000, `${shares}`);
    assert.ok(Number(end.spent["tokens"]) <= 60_000);
    assert.equal(end.spent["children"], 3);
  });
});
