import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { showEvents } from "../../../src/cli/commands/runs-events.ts";
import { readDenials, renderDenial } from "../../../src/cli/denials.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { call, childEnd, childStart, end, record, start } from "../../delegation/ledger-record.ts";
import { createFakeIo } from "../fake-io.ts";

const answered = (envelope: object, at_ms: number): RunEvent => ({
  type: "tool_end",
  call_id: "call_1",
  name: "subagent",
  item: { type: "function_call_output", call_id: "call_1", output: JSON.stringify(envelope) },
  failed: false,
  at_ms,
});

const DEEP =
  "Maximum subagent recursion depth (3) exceeded. Current depth: 0. Cannot spawn nested subagent.";

const denied: RunEvent[] = [
  { type: "tool_start", call_id: "c", name: "write", arguments: "{}", at_ms: 1450 },
  {
    type: "tool_decision",
    call_id: "c",
    name: "write",
    verdict: "deny",
    by: "nobody",
    rule: null,
    source: null,
    reason: "nobody was there",
    sandbox: "process",
    at_ms: 1451,
  },
];

const TREE = {
  run_1: [
    start("run_1", 1000),
    ...call(1, 1000, 1200, 0),
    childStart("run_1/a-1.0", "a", 1300),
    childStart("run_1/b-1.1", "b", 1301),
    childEnd("run_1/a-1.0", "a", { at_ms: 2000, ending: "max_turns" }),
    childEnd("run_1/b-1.1", "b", { at_ms: 2001, ending: "failed", message: "Broke." }),
    answered(
      {
        success: true,
        output: "xxxx\n(The whole: offshoot runs show run_1/a-1.0)\n[Output truncated]",
        error: null,
        metadata: { subagent_label: "a" },
      },
      2002,
    ),
    answered({ success: false, error: DEEP, metadata: { subagent_label: "c" } }, 2003),
    end(3000, { turns: 1 }),
  ],
  "run_1/a-1.0": [
    start("run_1/a-1.0", 1300, "a"),
    ...call(1, 1400, 1500, 0),
    ...denied,
    end(1900, { output_text: "x".repeat(40) }),
  ],
};

describe("runs events", () => {
  it("says what happened to all subagents, as the log does", async () => {
    const io = createFakeIo();
    await showEvents(await record(TREE), "run_1", { io, call: { options: {}, words: [] } });
    const lines = io.written.stdout.trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => line.replace(/^\S+Z /, "")),
      [
        "info subagent subagent.event=spawn subagent.label=a subagent.depth=1 subagent.max_turns=0 subagent.allowed_tools=[] name=a-1.0 Spawning subagent",
        "info subagent subagent.event=spawn subagent.label=b subagent.depth=1 subagent.max_turns=0 subagent.allowed_tools=[] name=b-1.1 Spawning subagent",
        "warn subagent subagent.event=max_turns_exceeded subagent.label=a subagent.depth=1 subagent.max_turns=2 name=a-1.0 Subagent exceeded max turns",
        "info subagent subagent.event=complete subagent.label=a subagent.depth=1 subagent.turns_used=2 subagent.tokens_consumed=1234 subagent.status=incomplete name=a-1.0 Subagent completed",
        "error subagent subagent.event=error subagent.label=b subagent.depth=1 subagent.error=Broke. name=b-1.1 Subagent execution failed",
        "warn subagent subagent.event=truncation subagent.label=a subagent.original_size=40 subagent.truncated_size=4 name=a-1.0 Subagent output truncated",
        "info subagent subagent.event=depth_limit subagent.label=c subagent.current_depth=0 subagent.max_depth=3 Subagent recursion depth limit enforced",
        `error subagent subagent.event=error subagent.label=c subagent.depth=1 subagent.error=${JSON.stringify(DEEP)} Subagent execution failed`,
      ],
    );
    assert.match(lines[0] ?? "", /^1970-01-01T00:00:01\.300Z /);
  });

  it("is JSON for a program, with the run that delegates", async () => {
    const io = createFakeIo();
    await showEvents(await record(TREE), "run_1", {
      io,
      call: { options: { json: true }, words: [] },
    });
    const rows = JSON.parse(io.written.stdout);
    assert.deepEqual([rows[0].path, rows[0]["subagent.event"]], ["/root", "spawn"]);
    assert.deepEqual([rows[0].name, rows.at(-1).name], ["a-1.0", null]);
  });
});

describe("runs why-denied", () => {
  it("names the calls of a root's subagents too, with their subagent", async () => {
    const [denial, ...others] = await readDenials(await record(TREE), "run_1");
    assert.ok(denial);
    assert.deepEqual([denial.path, denial.name, others.length], ["/root/a-1.0", "write", 0]);
    assert.match(renderDenial(denial), /^write\(\{\}\)\n {2}in {6}a-1\.0\n {2}by/);
  });

  it("says what allows a call that could not be asked about", async () => {
    const [known] = await readDenials(await record(TREE), "run_1");
    assert.ok(known);
    const unasked = { ...known, by: "nobody", rule: null } as const;
    const cases: readonly [name: string, text: string, flag: string][] = [
      ["write", '{"path":"a.txt"}', "--allow write"],
      ["shell", '{"command":"git log -3"}', "--allow 'shell(git *)'"],
      ["shell", '{"command":"$(which git) log"}', "--allow shell"],
    ];
    for (const [name, text, flag] of cases) {
      const shown = renderDenial({ ...unasked, name, arguments: text });
      assert.equal(shown.trimEnd().split("\n").at(-1), `  allow   ${flag}`);
    }
    assert.doesNotMatch(renderDenial({ ...unasked, rule: "ask write" }), /allow {3}/);
    assert.doesNotMatch(renderDenial({ ...unasked, by: "person" }), /allow {3}/);
  });
});
