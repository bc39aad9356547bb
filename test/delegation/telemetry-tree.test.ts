import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRunSpans } from "../../src/delegation/telemetry/run-spans.ts";
import type { Span } from "../../src/delegation/telemetry/signals.ts";
import { parseTraceparent, readIncoming } from "../../src/delegation/telemetry/trace-context.ts";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";
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
import { type Folded, find, fold } from "./telemetry-fold.ts";

const REMOTE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A run, its turn, then a call under which a child ran, as in the log. */
function treeLog(effective: object = {}, settings: object = {}): LoggedEvent[] {
  const parent = logOf("run_1", [
    runStart("run_1"),
    ...turn(),
    toolStart("call_1", "subagent"),
    toolDecision("call_1"),
    childStart("run_1/helper-1.0", "run_1/tool:1.0", { ...effective }),
    childEnd("run_1/helper-1.0"),
    toolEnd("call_1", { name: "subagent" }),
    runEnd(),
  ]);
  const child = logOf("run_1/helper-1.0", [
    runStart("run_1/helper-1.0", { label: "helper", depth: 1, ...settings }, "run_1"),
    ...turn(),
    runEnd(),
  ]);
  return [...parent.slice(0, 8), ...child, ...parent.slice(8)];
}

describe("spans of a tree", () => {
  it("are below the call that started the child, in one trace and one conversation", () => {
    const folded = fold(treeLog());
    const child = find(folded, "invoke_agent helper");
    const call = find(folded, "execute_tool subagent");
    assert.equal(child.parent?.spanId, call.context.spanId);
    assert.equal(child.attributes["gen_ai.conversation.id"], "run_1");
    assert.equal(new Set(folded.spans.map(({ context }) => context.traceId)).size, 1);
    assert.deepEqual(child.links, []);
  });

  it("show in the parent's spans how its children ended", () => {
    const folded = fold(treeLog());
    assert.deepEqual(find(folded, "execute_tool subagent").events.at(-1), {
      name: "subagent.spawn",
      atMs: 4_200,
      attributes: {
        "subagent.event": "spawn",
        "subagent.label": "helper",
        "subagent.depth": 1,
        "subagent.max_turns": 8,
        "subagent.allowed_tools": ["fetch", "grep"],
        "offshoot.child.id": "run_1/helper-1.0",
      },
    });
    assert.deepEqual(find(folded, "invoke_agent offshoot").events, [
      {
        name: "subagent.complete",
        atMs: 4_800,
        attributes: {
          "subagent.event": "complete",
          "subagent.label": "helper",
          "subagent.depth": 1,
          "subagent.turns_used": 2,
          "subagent.tokens_consumed": 32,
          "subagent.status": "complete",
          "offshoot.child.id": "run_1/helper-1.0",
          "offshoot.run.ending": "completed",
        },
      },
    ]);
  });

  for (const [ending, event] of [
    ["budget", "subagent.complete"],
    ["max_turns", "subagent.max_turns_exceeded"],
    ["timeout", "subagent.error"],
  ] as const) {
    it(`report a child that ended as \`${ending}\` as ${event}`, () => {
      const end = childEnd("run_1/a", { ending });
      const folded = fold(logOf("run_1", [runStart("run_1"), end, runEnd()]));
      assert.equal(find(folded, "invoke_agent offshoot").events[0]?.name, event);
    });
  }

  it("separate children that were started at the same time", () => {
    const calls = ["a", "b"].flatMap((name, at) => [
      toolStart("same", "subagent", 4_000 + at),
      childStart(`run_1/${name}`, `run_1/tool:1.${at}`),
    ]);
    const parent = logOf("run_1", [runStart("run_1"), ...turn(), ...calls]);
    const child = (name: string): LoggedEvent[] =>
      logOf(`run_1/${name}`, [
        runStart(`run_1/${name}`, { label: name, depth: 1 }, "run_1"),
        runEnd(),
      ]);
    const ends = [toolEnd("same"), toolEnd("same"), runEnd()].map((event, at) => ({
      run_id: "run_1",
      seq: parent.length + at,
      event,
    }));
    const folded = fold([...parent, ...child("b"), ...child("a"), ...ends]);
    const tools = folded.spans.filter(({ name }) => name === "execute_tool subagent");
    for (const [at, name] of ["a", "b"].entries()) {
      const { parent: under } = find(folded, `invoke_agent ${name}`);
      assert.equal(
        under?.spanId,
        tools.find(({ startMs }) => startMs === 4_000 + at)?.context.spanId,
      );
    }
  });

  it("give a child in the background a trace of its own, with a link", () => {
    const folded = fold(treeLog({ background: true }));
    const child = find(folded, "invoke_agent helper");
    const call = find(folded, "execute_tool subagent");
    assert.equal(child.parent, undefined);
    assert.notEqual(child.context.traceId, call.context.traceId);
    assert.deepEqual(child.links, [call.context]);
    assert.equal(child.attributes["gen_ai.conversation.id"], "run_1");
  });

  it("put a child that is resumed below its parent's run", () => {
    const resume = { type: "run_resume", epoch: 2, at_ms: 9_000 } as const;
    const start = { run_id: "run_1", seq: 0, event: runStart("run_1") };
    const child = runStart("run_1/a", { label: "a", depth: 1 }, "run_1");
    const folded = fold([
      start,
      { run_id: "run_1", seq: 40, event: resume },
      { run_id: "run_1/a", seq: 0, event: child },
      { run_id: "run_1/a", seq: 9, event: resume },
      { run_id: "run_1/a", seq: 10, event: runEnd({ at_ms: 9_500 }) },
      { run_id: "run_1", seq: 41, event: runEnd({ at_ms: 9_900 }) },
    ]);
    const run = find(folded, "invoke_agent offshoot");
    assert.deepEqual(find(folded, "invoke_agent a").parent, run.context);
    assert.deepEqual(run.events, [
      { name: "offshoot.run.resume", atMs: 9_000, attributes: { "offshoot.run.epoch": 2 } },
    ]);
  });

  it("have the same ids when the same run is observed again, elsewhere", () => {
    const ids = ({ spans }: Folded): unknown => spans.map(({ context }) => context);
    assert.deepEqual(ids(fold(treeLog())), ids(fold(treeLog())));
  });
});

describe("traces between processes", () => {
  it("continue TRACEPARENT for a run that a person started", () => {
    const env = { TRACEPARENT: REMOTE, TRACESTATE: "vendor=1" };
    const run = find(
      fold(logOf("run_1", [runStart("run_1"), runEnd()]), env),
      "invoke_agent offshoot",
    );
    assert.equal(run.context.traceId, "0af7651916cd43dd8448eb211c80319c");
    assert.equal(run.parent?.spanId, "b7ad6b7169203331");
    assert.equal(run.context.state, "vendor=1");
    assert.deepEqual(run.links, []);
  });

  it("begin a new trace with a link in the process of a child, in its parent's conversation", () => {
    const env = { TRACEPARENT: REMOTE, BAGGAGE: "a=1, gen_ai.conversation.id=run_7;x" };
    const log = logOf("run_2", [runStart("run_2", { depth: 1, label: "far" }), runEnd()]);
    const run = find(fold(log, env), "invoke_agent far");
    assert.equal(run.parent, undefined);
    assert.notEqual(run.context.traceId, "0af7651916cd43dd8448eb211c80319c");
    assert.deepEqual(run.links, [parseTraceparent(REMOTE, undefined)]);
    assert.equal(run.attributes["gen_ai.conversation.id"], "run_7");
  });

  it("are passed to the process of a child as variables that lead back to its call", () => {
    const env = { TRACEPARENT: REMOTE, TRACESTATE: "vendor=1", BAGGAGE: "team=a" };
    const runs = createRunSpans({ incoming: readIncoming(env), isSampled: () => true });
    const spans = treeLog({ executor: "child_process" })
      .filter(({ run_id }) => run_id === "run_1")
      .flatMap((logged) => {
        const ended = runs.observe(logged).spans;
        if (logged.event.type !== "child_start") return ended;
        const given = runs.environmentOf("run_1/helper-1.0");
        assert.equal(given["BAGGAGE"], "team=a,gen_ai.conversation.id=run_1");
        assert.equal(given["TRACESTATE"], "vendor=1");
        const context = readIncoming(given).context;
        assert.equal(context?.traceId, "0af7651916cd43dd8448eb211c80319c");
        return [{ name: "given", context } as Span];
      });
    const given = spans.find(({ name }) => name === "given");
    const call = spans.find(({ name }) => name === "execute_tool subagent");
    assert.equal(given?.context.spanId, call?.context.spanId);
  });

  it("are passed only to announced children", () => {
    const runs = createRunSpans({ incoming: readIncoming({}), isSampled: () => true });
    for (const logged of treeLog()) runs.observe(logged);
    assert.deepEqual(runs.environmentOf("run_1/helper-1.0"), {});
  });

  for (const text of [
    "",
    "none",
    REMOTE.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)),
    REMOTE.replace("b7ad6b7169203331", "0".repeat(16)),
    REMOTE.replace(/^00/, "ff"),
    REMOTE.toUpperCase(),
    `${REMOTE}-more`,
  ]) {
    it(`ignore \`${text}\` as a trace`, () => {
      assert.equal(parseTraceparent(text, undefined), undefined);
    });
  }

  it("read a later version of the variable as far as it is known", () => {
    const later = parseTraceparent(`${REMOTE.replace(/^00/, "01")}-more`, undefined);
    assert.equal(later?.spanId, "b7ad6b7169203331");
  });
});
