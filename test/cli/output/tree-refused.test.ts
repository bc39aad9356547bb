import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { childEnd, childStart, end, start } from "../../delegation/ledger-record.ts";
import { openPipe, openTerminal, orders, text } from "./tree-fixture.ts";

const WHY = "its first call may take $0.0048, and the budget has $0.0036 left for it.";

/** The end of a call of `subagent` that started none. */
function refuses(label: string): RunEvent {
  const metadata = { subagent_label: label, recursion_depth: "1" };
  const answer = { success: false, output: "", error: `Not started: ${WHY}`, metadata };
  const call_id = `call_${label}`;
  const item = { type: "function_call_output", call_id, output: JSON.stringify(answer) } as const;
  return { type: "tool_end", call_id, name: "subagent", item, failed: true, at_ms: 1100 };
}

describe("subagents that are not started", () => {
  it("are named on a pipe, with the reason, and counted at the end", async () => {
    const { said, write } = openPipe();
    await write("run_1", start("run_1", 1000), ...orders("a", "part 09"));
    await write("run_1", childStart("run_1/a", "a", 1000), refuses("part 09"));
    await write("run_1", childEnd("run_1/a", "a"), text("Done."), end(2400));
    assert.match(
      said.stderr,
      new RegExp(`^subagent part 09: not started: ${toPattern(WHY)}$`, "m"),
    );
    assert.doesNotMatch(said.stderr, /→/);
    assert.match(said.stderr.trimEnd(), /\nwith 1 subagent, 1 not started: .*$/);
  });

  it("are distinguished in the result of one call for several", async () => {
    const { said, write } = openPipe();
    const results = [
      { label: "a", error: null },
      { label: "b", error: "Cancelled: `c` failed (fail_fast)" },
      { label: "c", error: "Subagent execution failed: It broke." },
      { label: "d", error: "Not started: `c` failed (fail_fast)" },
    ];
    const tasks = results.map(({ label }) => ({ label, task_prompt: "Look." }));
    const called = { call_id: "call_1", name: "parallel_subagent", at_ms: 1000 };
    const item = { type: "function_call_output", call_id: "call_1" } as const;
    const begun = ["a", "b", "c"].map((label) => childStart(`run_1/${label}`, label, 1000));
    await write("run_1", start("run_1", 1000), {
      type: "tool_start",
      ...called,
      arguments: JSON.stringify({ tasks }),
    });
    await write("run_1", ...begun, {
      type: "tool_end",
      ...called,
      failed: false,
      item: { ...item, output: JSON.stringify({ results }) },
    });
    const told = said.stderr.split("\n").filter((line) => line.includes("not started"));
    assert.deepEqual(told, ["subagent d: not started: `c` failed (fail_fast)"]);
  });

  it("have a line on a terminal, also below another subagent and on a narrow one", async () => {
    for (const columns of [120, 40]) {
      const { screen, write, clock, tree } = openTerminal({ columns });
      await write("run_1", start("run_1", 1000), childStart("run_1/a", "a", 1000));
      await write("run_1/a", start("run_1/a", 1000, "a"), ...orders("part 09"), refuses("part 09"));
      await clock.advance(100);
      const shown = screen.lines.join("\n");
      assert.match(
        shown.replace(/\s+/g, " "),
        new RegExp(`^– part 09: not started:? ${toPattern(WHY)}`),
      );
      assert.match(shown, columns === 40 ? /^● root · /m : /● root · 1 running, 1 not started · /m);
      tree.close();
    }
  });
});

function toPattern(words: string): string {
  return words.replace(/[$.]/g, "\\$&");
}
