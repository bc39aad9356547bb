import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createQueueFold } from "../../src/delegation/ledger/queued-children.ts";
import type { ChildQueue, WaitReason } from "../../src/protocol/child-queue.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { childEnd, childStart, end } from "./ledger-record.ts";

const asks = (call_id: string, name: string, input: object): RunEvent => ({
  type: "tool_start",
  call_id,
  name,
  arguments: JSON.stringify(input),
  at_ms: 1,
});
const answers = (call_id: string, name = "subagent"): RunEvent => ({
  type: "tool_end",
  call_id,
  name,
  failed: false,
  at_ms: 2,
  item: { type: "function_call_output", call_id, output: "ok" },
});
const waits = (why: WaitReason, ...labels: readonly string[]): ChildQueue => ({
  type: "child_queue",
  why,
  children: labels.map((label) => ({ child_id: `run/${label}-1.0`, label })),
  at_ms: 1,
});
const RESUME: RunEvent = { type: "run_resume", epoch: 2, at_ms: 3 };
const TASKS = { tasks: [{ label: "a" }, { label: "b" }, { label: "c" }] };

function fold(...events: readonly RunEvent[]): string[] {
  const queue = createQueueFold();
  for (const event of events) queue.read(event);
  assert.equal(queue.size, queue.queued.length);
  return queue.queued.map(({ id, label, why }) => `${label} ${id ?? "?"} ${why ?? "?"}`);
}

describe("the children that a run has asked for and not started", () => {
  const cases: readonly (readonly [string, readonly RunEvent[], readonly string[]])[] = [
    [
      "are those of its calls",
      [asks("1", "parallel_subagent", TASKS)],
      ["a ? ?", "b ? ?", "c ? ?"],
    ],
    [
      "have an id and a reason once the log says so",
      [asks("1", "parallel_subagent", TASKS), waits("place", "b", "c"), waits("budget", "c")],
      ["a ? ?", "b run/b-1.0 place", "c run/c-1.0 budget"],
    ],
    [
      "are not those that have started",
      [
        asks("1", "subagent", { label: "a" }),
        asks("2", "subagent", { label: "b" }),
        waits("budget", "b"),
        childStart("run/b-1.0", "b", 2),
        childStart("run/a-1.0", "a", 2),
      ],
      [],
    ],
    [
      "are not those of a call that has ended",
      [asks("1", "parallel_subagent", TASKS), answers("1", "parallel_subagent")],
      [],
    ],
    ["are gone once the run has ended", [asks("1", "subagent", { label: "a" }), end(3)], []],
    [
      "are known by the log alone where no call names them",
      [waits("process", "x")],
      ["x run/x-1.0 process"],
    ],
    [
      "are asked for again by the process that resumes the run, those at work not",
      [
        ...[asks("1", "parallel_subagent", TASKS), childStart("run/a-1.0", "a", 2)],
        ...[childStart("run/b-1.0", "b", 2), childEnd("run/b-1.0", "b"), RESUME],
        asks("1", "parallel_subagent", TASKS),
      ],
      ["b ? ?", "c ? ?"],
    ],
    ["are not asked for by other tools", [asks("1", "read", { label: "a" })], []],
  ];
  for (const [name, events, expected] of cases) {
    it(name, () => assert.deepEqual(fold(...events), expected));
  }
});
