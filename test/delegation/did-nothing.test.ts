import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { showTree } from "../../src/cli/output/show-tree.ts";
import { readSubagentEvents } from "../../src/delegation/ledger/subagent-record.ts";
import { toChildEndEvent } from "../../src/delegation/telemetry/child-events.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { createManualClock, type Reply, reply, respond } from "../../src/testing/index.ts";
import { createFakeIo } from "../cli/fake-io.ts";
import { call, childEnd, childStart, end, record, start } from "./ledger-record.ts";
import { startTree } from "./tree-fixture.ts";

/** What a root learns of one child with this answer. */
async function delegate(
  t: TestContext,
  child: (request: ModelRequest) => Reply,
  input: object = {},
) {
  const engine = respond((request) => {
    const [first] = request.items;
    if (first?.type !== "message" || first.content !== "go") return child(request);
    if (request.items.length > 1) return reply.text("done");
    const wish = { label: "count", task_prompt: "Count.", ...input };
    return reply.calls([{ name: "subagent", arguments: JSON.stringify(wish) }]);
  });
  const tree = await startTree(t, engine, { files: { "a.txt": "a" } });
  const { id, events } = await tree.run();
  const recorded = await readSubagentEvents(tree.runtime.engine.record, id);
  const told = { observed: tree.observed, recorded: recorded.map(({ event }) => event) };
  return { ended: endedIn(events), envelope: envelopeIn(events), ...told };
}

function endedIn(events: readonly RunEvent[]) {
  const ended = events.find((event) => event.type === "child_end");
  return ended ?? assert.fail("no child has ended");
}

function envelopeIn(events: readonly RunEvent[]) {
  const result = events.find((event) => event.type === "tool_end");
  assert.ok(result?.item.type === "function_call_output");
  return JSON.parse(String(result.item.output));
}

const READ = { name: "read", arguments: '{"path":"a.txt"}' };

describe("a child that did nothing", () => {
  it("is flagged when it had tools and completed without a call", async (t) => {
    const { ended, envelope } = await delegate(t, () => reply.text("There are 3."));
    assert.equal(ended.did_nothing, true);
    assert.deepEqual([envelope.success, Object.keys(envelope.metadata).length], [true, 6]);
  });

  const OTHERS: readonly [string, (request: ModelRequest) => Reply, object][] = [
    [
      "it called one",
      ({ items }) => (items.length === 1 ? reply.calls([READ]) : reply.text("There is 1.")),
      {},
    ],
    ["it had no tools", () => reply.text("Forty-two."), { allowed_tools: [] }],
    ["it failed", () => reply.status(400, "The server broke."), {}],
  ];
  for (const [name, child, input] of OTHERS) {
    it(`is not flagged when ${name}`, async (t) => {
      const { ended } = await delegate(t, child, input);
      assert.equal("did_nothing" in ended, false);
    });
  }

  it("has failed when its answer is empty", async (t) => {
    const { envelope, observed } = await delegate(t, () => reply.text(" \n"));
    const error = "Subagent execution failed: it gave no answer";
    assert.deepEqual([envelope.success, envelope.error], [false, error]);
    assert.deepEqual(observed.at(-1), { event: "error", label: "count", depth: 1, error });
  });

  for (const [how, child, input, expected] of [
    ["its answer is empty", () => reply.text(" "), {}, ["spawn", "error"]],
    [
      "its only turn was a call",
      () => reply.calls([READ]),
      { max_turns: 1 },
      ["spawn", "max_turns_exceeded", "error"],
    ],
  ] as const) {
    it(`is reported the same by the record as by the log when ${how}`, async (t) => {
      const { ended, envelope, observed, recorded } = await delegate(t, child, input);
      assert.deepEqual([ended.no_answer, envelope.success], [true, false]);
      for (const told of [observed, recorded]) {
        assert.deepEqual(
          told.map(({ event }) => event),
          expected,
        );
      }
      const { name } = toChildEndEvent(ended, 1);
      assert.equal(name, `subagent.${expected[1]}`);
    });
  }

  it("is marked in the tree, with a log of its own or without", async () => {
    const flagged = { did_nothing: true };
    const store = await record({
      run_1: [
        start("run_1", 1000),
        ...["a", "b", "c"].map((key) => childStart(`run_1/${key}`, key, 1300)),
        childEnd("run_1/a", "a", flagged),
        childEnd("run_1/b", "b"),
        childEnd("run_1/c", "c", flagged),
        end(4000),
      ],
      "run_1/a": [start("run_1/a", 1300, "a"), ...call(1, 1400, 1500, 0), end(1900)],
      "run_1/b": [start("run_1/b", 1300, "b"), ...call(1, 1400, 1500, 0), end(1900)],
    });
    const io = createFakeIo();
    const clock = createManualClock(5000);
    await showTree(store, "run_1", { io, call: { options: {}, words: [] }, clock });
    const marked = io.written.stdout.split("\n").filter((line) => line.includes("(no tool call)"));
    assert.deepEqual(
      marked.map((line) => line.split(" · ", 1)[0]),
      ["├─ a [a]: completed (no tool call)", "└─ c [c]: completed (no tool call)"],
    );
  });
});
