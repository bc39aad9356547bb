import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLog } from "../../src/base/log.ts";
import { createRedact } from "../../src/base/redact.ts";
import type { SubagentEvent } from "../../src/delegation/subagent-events.ts";
import { createSubagentLog } from "../../src/delegation/telemetry/subagent-log.ts";
import { createManualClock } from "../../src/testing/index.ts";

/** The log lines of these events, without their time. */
function linesOf(
  events: readonly SubagentEvent[],
  { setting = "debug", telemetryEnabled = true, secrets = [] as string[] } = {},
): string[] {
  const lines: string[] = [];
  const log = createLog("subagent", {
    setting,
    clock: createManualClock(),
    redact: createRedact(secrets),
    write: (line) => lines.push(line),
  });
  const tell = createSubagentLog(log, { telemetryEnabled });
  for (const event of events) tell(event);
  return lines.map((line) => line.slice(line.indexOf(" ") + 1).trimEnd());
}

const label = "research_quantum";

/** Every event of the contract's tables, with the line its example shows. */
const EVENTS: readonly (readonly [SubagentEvent, string])[] = [
  [
    { event: "spawn", label, depth: 1, max_turns: 8, allowed_tools: ["fetch", "grep"] },
    'info subagent subagent.event=spawn subagent.label=research_quantum subagent.depth=1 subagent.max_turns=8 subagent.allowed_tools=["fetch","grep"] Spawning subagent',
  ],
  [
    {
      event: "complete",
      label,
      depth: 1,
      turns_used: 4,
      tokens_consumed: 3200,
      status: "complete",
    },
    "info subagent subagent.event=complete subagent.label=research_quantum subagent.depth=1 subagent.turns_used=4 subagent.tokens_consumed=3200 subagent.status=complete Subagent completed",
  ],
  [
    { event: "error", label, depth: 1, error: "Tool execution failed: fetch timeout" },
    'error subagent subagent.event=error subagent.label=research_quantum subagent.depth=1 subagent.error="Tool execution failed: fetch timeout" Subagent execution failed',
  ],
  [
    { event: "max_turns_exceeded", label, depth: 1, max_turns: 8 },
    "warn subagent subagent.event=max_turns_exceeded subagent.label=research_quantum subagent.depth=1 subagent.max_turns=8 Subagent exceeded max turns",
  ],
  [
    { event: "truncation", label, original_size: 8192, truncated_size: 4096 },
    "warn subagent subagent.event=truncation subagent.label=research_quantum subagent.original_size=8192 subagent.truncated_size=4096 Subagent output truncated",
  ],
  [
    { event: "depth_limit", label, current_depth: 3, max_depth: 3 },
    "info subagent subagent.event=depth_limit subagent.label=research_quantum subagent.current_depth=3 subagent.max_depth=3 Subagent recursion depth limit enforced",
  ],
];

describe("the log of subagents", () => {
  for (const [event, line] of EVENTS) {
    it(`says \`${event.event}\` as the contract shows it`, () => {
      assert.deepEqual(linesOf([event]), [line]);
    });

    for (const name of Object.keys(event)) {
      it(`gives \`${event.event}\` its field \`subagent.${name}\``, () => {
        const [said = ""] = linesOf([event]);
        const value = event[name as keyof SubagentEvent] as unknown;
        const text = typeof value === "string" ? value : JSON.stringify(value);
        const written = text.includes(" ") ? JSON.stringify(text) : text;
        assert.ok(said.includes(` subagent.${name}=${written} `), said);
      });
    }
  }

  it("says `incomplete` for a child that reached a limit", () => {
    const figures = { depth: 2, turns_used: 3, tokens_consumed: 9 };
    const [line = ""] = linesOf([{ event: "complete", label, ...figures, status: "incomplete" }]);
    assert.match(line, / subagent\.status=incomplete Subagent completed$/);
  });

  it("leaves the label out of `depth_limit` if there is none", () => {
    const [line] = linesOf([{ event: "depth_limit", label: "", current_depth: 3, max_depth: 3 }]);
    assert.equal(
      line,
      "info subagent subagent.event=depth_limit subagent.current_depth=3 subagent.max_depth=3 Subagent recursion depth limit enforced",
    );
  });

  it("keeps a label with spaces and quotes in one field", () => {
    const named = { event: "max_turns_exceeded", depth: 1, max_turns: 8 } as const;
    const [line = ""] = linesOf([{ ...named, label: 'a "b"\nc' }]);
    assert.ok(line.includes(' subagent.label="a \\"b\\"\\nc" '), line);
  });

  it("is silent when telemetry is switched off", () => {
    const events = EVENTS.map(([event]) => event);
    assert.deepEqual(linesOf(events, { telemetryEnabled: false }), []);
  });

  for (const [setting, count] of [
    ["off", 0],
    ["", 0],
    ["error", 1],
    ["warn", 3],
    ["info", 6],
    ["subagent=debug", 6],
    ["info,subagent=error", 1],
    ["debug,subagent=off", 0],
  ] as const) {
    it(`writes ${count} of the six with OFFSHOOT_LOG=${setting}`, () => {
      const events = EVENTS.map(([event]) => event);
      assert.equal(linesOf(events, { setting }).length, count);
    });
  }

  it("keeps secrets out of an error", () => {
    const [line = ""] = linesOf(
      [{ event: "error", label, depth: 1, error: "key hunter22 refused" }],
      {
        secrets: ["hunter22"],
      },
    );
    assert.ok(!line.includes("hunter22"), line);
  });
});
