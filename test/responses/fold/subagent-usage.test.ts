import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LoggedEvent, RunEvent } from "../../../src/protocol/run-events.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import { withSubagents } from "../../../src/responses/fold/subagent-usage.ts";
import { runEnd, runStart } from "../logged-run.ts";

const ONE_CALL = toUsage({ input: 100, output: 10 });
const RESUME: RunEvent = { type: "run_resume", epoch: 2, at_ms: 0 };

function child(id: string, call = id): RunEvent[] {
  const told = { child_id: `run_01/${id}`, label: id, at_ms: 0 };
  return [
    {
      type: "child_start",
      call_key: call,
      depth: 1,
      requested: {},
      effective: {},
      ...told,
    },
    {
      type: "child_end",
      ending: "completed",
      message: "",
      turns: 1,
      usage: ONE_CALL,
      cost_usd: 0.5,
      ...told,
    },
  ];
}

async function tokensOf(logs: Readonly<Record<string, readonly RunEvent[]>>) {
  const own = { result: {}, events: [runEnd({ usage: ONE_CALL, cost_usd: 1 })] };
  const readLog = async (id: string): Promise<LoggedEvent[]> =>
    (logs[id] ?? []).map((event, seq) => ({ run_id: id, seq, event }));
  const { events } = await withSubagents({ ending: "completed", ...own }, "run_01", readLog);
  const [end] = events;
  assert.ok(end?.type === "run_end");
  return { tokens: end.usage.total_tokens, cost: end.cost_usd };
}

describe("the usage of a response with subagents", () => {
  it("is that of the whole tree", async () => {
    const logs = {
      run_01: [runStart(), ...child("a"), ...child("b")],
      "run_01/a": [runStart(), ...child("c")],
    };
    assert.deepEqual(await tokensOf(logs), { tokens: 440, cost: 2.5 });
  });

  it("counts a child once whose end a takeover has written again", async () => {
    const first = child("a");
    const logs = { run_01: [runStart(), ...first, ...child("b"), RESUME, ...first] };
    assert.deepEqual(await tokensOf(logs), { tokens: 330, cost: 2 });
  });

  it("keeps a child that ended before the takeover and was not repeated", async () => {
    const logs = { run_01: [runStart(), ...child("a"), RESUME, ...child("b")] };
    assert.deepEqual(await tokensOf(logs), { tokens: 330, cost: 2 });
  });
});
