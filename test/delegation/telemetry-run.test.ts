import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { toUsage } from "../../src/protocol/usage.ts";
import {
  childEnd,
  childStart,
  logOf,
  runEnd,
  runStart,
  toolDecision,
  toolEnd,
  toolStart,
  turn,
} from "./telemetry-events.ts";
import { find, fold } from "./telemetry-fold.ts";

describe("spans of a run", () => {
  it("name a run `invoke_agent`, with its identity and its usage", () => {
    const usage = toUsage({ input: 100, cached: 20, cacheWrite: 5, output: 10, reasoning: 4 });
    const folded = fold(
      logOf("run_1", [runStart("run_1", { label: "planner" }), ...turn(), runEnd({ usage })]),
    );
    const { kind, startMs, endMs, attributes, error, parent } = find(
      folded,
      "invoke_agent planner",
    );
    assert.deepEqual(
      [kind, startMs, endMs, error, parent],
      ["internal", 1_000, 6_000, undefined, undefined],
    );
    assert.deepEqual(attributes, {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": "run_1",
      "gen_ai.agent.name": "planner",
      "gen_ai.conversation.id": "run_1",
      "gen_ai.provider.name": "mistral_ai",
      "gen_ai.request.model": "large",
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 20,
      "gen_ai.usage.cache_creation.input_tokens": 5,
      "gen_ai.usage.reasoning.output_tokens": 4,
      "offshoot.run.path": "/root",
      "offshoot.run.depth": 0,
      "offshoot.run.ending": "completed",
      "offshoot.run.turns": 1,
      "offshoot.run.tool_calls": 0,
      "offshoot.cost_usd": 0.25,
    });
  });

  it("name a run without a label by the program's name", () => {
    find(fold(logOf("run_1", [runStart("run_1"), runEnd()])), "invoke_agent offshoot");
  });

  it("name a turn `chat`, below its run, with the answer's id, model and tokens", () => {
    const folded = fold(logOf("run_1", [runStart("run_1"), ...turn(), runEnd()]));
    const { kind, startMs, endMs, attributes, parent } = find(folded, "chat large");
    assert.deepEqual([kind, startMs, endMs], ["client", 2_000, 3_000]);
    assert.equal(parent?.spanId, find(folded, "invoke_agent offshoot").context.spanId);
    assert.deepEqual(attributes, {
      "gen_ai.operation.name": "chat",
      "gen_ai.agent.id": "run_1",
      "gen_ai.agent.name": "offshoot",
      "gen_ai.conversation.id": "run_1",
      "gen_ai.provider.name": "mistral_ai",
      "gen_ai.request.model": "large",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.max_tokens": 900,
      "gen_ai.output.type": "text",
      "gen_ai.response.id": "resp_9",
      "gen_ai.response.model": "large-2607",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 20,
      "gen_ai.usage.cache_creation.input_tokens": 5,
      "gen_ai.usage.reasoning.output_tokens": 4,
      "offshoot.turn": 1,
      "offshoot.cost_usd": 0.25,
    });
  });

  it("name a tool call `execute_tool`, with its id and its decision", () => {
    const events = [toolStart("call_7"), toolDecision("call_7"), toolEnd("call_7")];
    const folded = fold(logOf("run_1", [runStart("run_1"), ...turn(), ...events, runEnd()]));
    const span = find(folded, "execute_tool read");
    assert.deepEqual(
      [span.kind, span.startMs, span.endMs, span.error],
      ["internal", 4_000, 5_000, undefined],
    );
    assert.deepEqual(span.attributes, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.agent.id": "run_1",
      "gen_ai.agent.name": "offshoot",
      "gen_ai.conversation.id": "run_1",
      "gen_ai.tool.name": "read",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "call_7",
    });
    assert.deepEqual(span.events, [
      {
        name: "offshoot.tool.decision",
        atMs: 4_100,
        attributes: {
          "offshoot.decision.verdict": "allow",
          "offshoot.decision.by": "rule",
          "offshoot.decision.rule": "allow read(*)",
          "offshoot.decision.sandbox": "process",
        },
      },
    ]);
  });

  for (const [what, events, type] of [
    ["failed", [toolStart("c"), toolDecision("c"), toolEnd("c", { failed: true })], "tool_failed"],
    [
      "denied",
      [toolStart("c"), toolDecision("c", "deny"), toolEnd("c", { failed: true })],
      "forbidden",
    ],
    [
      "stopped by a guard",
      [
        toolStart("c"),
        toolDecision("c"),
        toolDecision("c", "deny"),
        toolEnd("c", { failed: true }),
      ],
      "forbidden",
    ],
  ] as const satisfies readonly (readonly [string, readonly RunEvent[], string])[]) {
    it(`report a call that was ${what}`, () => {
      const folded = fold(logOf("run_1", [runStart("run_1"), ...turn(), ...events, runEnd()]));
      const { attributes, error } = find(folded, "execute_tool read");
      assert.equal(attributes["error.type"], type);
      assert.ok(error);
    });
  }

  it("separate calls that have the same id", () => {
    const calls = [toolStart("0", "read", 10_000), toolStart("0", "read", 11_000)];
    const ends = [toolEnd("0", { at_ms: 12_000 }), toolEnd("0", { at_ms: 13_000 })];
    const { spans } = fold(
      logOf("run_1", [runStart("run_1"), ...turn(), ...calls, ...ends, runEnd()]),
    );
    const tools = spans.filter(({ name }) => name === "execute_tool read");
    assert.deepEqual(
      tools.map(({ startMs, endMs }) => [startMs, endMs]),
      [
        [10_000, 12_000],
        [11_000, 13_000],
      ],
    );
    assert.equal(new Set(tools.map(({ context }) => context.spanId)).size, 2);
  });

  for (const ending of [
    "max_turns",
    "budget",
    "refused",
    "cancelled",
    "timeout",
    "failed",
  ] as const) {
    it(`never show a run that ended as \`${ending}\` as done`, () => {
      const folded = fold(
        logOf("run_1", [runStart("run_1"), runEnd({ ending, message: "SECRET" })]),
      );
      const { attributes, error } = find(folded, "invoke_agent offshoot");
      assert.deepEqual(
        [attributes["offshoot.run.ending"], attributes["error.type"]],
        [ending, ending],
      );
      assert.ok(error && !error.includes("SECRET"), error);
    });
  }

  it("give an interrupted turn the run's failure", () => {
    const error = { code: "provider_overloaded", message: "SECRET said the server" } as const;
    const cut = [...turn().slice(0, 3), runEnd({ ending: "failed", error })];
    const folded = fold(logOf("run_1", [runStart("run_1"), ...cut]));
    for (const name of ["chat large", "invoke_agent offshoot"]) {
      const span = find(folded, name);
      assert.equal(span.attributes["error.type"], "provider_overloaded");
      assert.equal(span.endMs, 6_000);
    }
    const durations = folded.measurements.map(({ attributes }) => attributes["error.type"]);
    assert.deepEqual(durations, ["provider_overloaded", "provider_overloaded"]);
  });

  it("contain nothing of what was said", () => {
    const errors = {
      ending: "failed",
      message: "SECRET",
      error: { code: "internal", message: "SECRET" },
    };
    const events = [toolStart("c"), toolDecision("c"), toolEnd("c")];
    const notice = { type: "notice", code: "repair", message: "SECRET" } as const;
    const child = [
      childStart("run_1/x", "run_1/tool:1.0"),
      childEnd("run_1/x", { ending: "failed" }),
    ];
    const log = [
      runStart("run_1"),
      ...turn(),
      ...events,
      ...child,
      notice,
      runEnd(errors as never),
    ];
    const folded = fold(logOf("run_1", log));
    assert.equal(folded.spans.length, 3);
    assert.ok(!JSON.stringify(folded).includes("SECRET"));
  });

  it("show a retry inside the turn it happened in", () => {
    const notice = { type: "notice", code: "retry", message: "busy" } as const;
    const [start, ...rest] = turn();
    assert.ok(start);
    const folded = fold(logOf("run_1", [runStart("run_1"), start, notice, ...rest, runEnd()]));
    assert.deepEqual(find(folded, "chat large").events, [
      { name: "offshoot.notice", atMs: 2_000, attributes: { "offshoot.notice.code": "retry" } },
    ]);
  });

  it("count tokens by type and durations by operation", () => {
    const { measurements } = fold(logOf("run_1", [runStart("run_1"), ...turn(), runEnd()]));
    const chat = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "mistral_ai",
      "gen_ai.request.model": "large",
      "gen_ai.response.model": "large-2607",
    };
    assert.deepEqual(measurements, [
      { histogram: "tokens", value: 100, attributes: { ...chat, "gen_ai.token.type": "input" } },
      { histogram: "tokens", value: 10, attributes: { ...chat, "gen_ai.token.type": "output" } },
      { histogram: "duration", value: 1, attributes: chat },
      {
        histogram: "duration",
        value: 5,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.provider.name": "mistral_ai",
          "gen_ai.request.model": "large",
        },
      },
    ]);
  });

  it("count no event twice, and none of a run whose beginning was not seen", () => {
    const call = [toolStart("c"), toolDecision("c"), toolEnd("c")];
    const log = logOf("run_1", [runStart("run_1"), ...turn(), ...call, runEnd()]);
    const doubled = fold(log.flatMap((one) => [one, one]));
    assert.deepEqual(doubled, fold(log));
    assert.equal(doubled.spans.length, 3);
    assert.equal(fold(log.slice(1)).spans.length, 0);
  });
});
