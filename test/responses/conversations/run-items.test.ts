import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isSummary } from "../../../src/agent/context/expand-compactions.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { NO_USAGE } from "../../../src/protocol/usage.ts";
import { sinceSummary, toRunItems } from "../../../src/responses/conversations/run-items.ts";
import {
  countTurns,
  readTurns,
  upToTurn,
} from "../../../src/responses/conversations/session-turns.ts";

const user = (content: string): Item => ({ type: "message", role: "user", content });
const answer = (content: string): Item => ({ type: "message", role: "assistant", content });
const call = (call_id: string): Item => ({
  type: "function_call",
  call_id,
  name: "look",
  arguments: "{}",
});
const result = (call_id: string): Item => ({
  type: "function_call_output",
  call_id,
  output: "seen",
});
const thought: Item = { type: "reasoning", id: "rs_1", summary: [] };

const start = (...input: Item[]): RunEvent => ({ type: "run_start", input }) as unknown as RunEvent;
const said = (item: Item, index = 0): RunEvent => ({ type: "item_end", index, item });
const turn = (type: "turn_start" | "turn_end", number = 1): RunEvent =>
  ({ type, turn: number, at_ms: 0 }) as unknown as RunEvent;
const toolStart = (call_id: string): RunEvent =>
  ({ type: "tool_start", call_id, name: "look", arguments: "{}", at_ms: 0 }) as RunEvent;
const toolEnd = (call_id: string): RunEvent =>
  ({ type: "tool_end", call_id, name: "look", item: result(call_id) }) as unknown as RunEvent;
const compaction = (summary: string, kept: number): RunEvent => ({
  type: "compaction",
  turn: 3,
  summary,
  kept,
  items: 1,
  tokens_before: 1,
  tokens_after: 1,
  usage: NO_USAGE,
  cost_usd: 0,
  at_ms: 0,
});

describe("what a run adds to its session", () => {
  it("is what it was asked, said and was given", () => {
    const log = [
      ...[start(user("Go")), turn("turn_start"), said(call("a")), turn("turn_end")],
      ...[toolStart("a"), toolEnd("a")],
      { type: "run_input", items: [user("Wait")], at_ms: 0 } as RunEvent,
      ...[turn("turn_start", 2), said(answer("Done.")), turn("turn_end", 2)],
    ];
    assert.deepEqual(toRunItems(log), [
      ...[user("Go"), call("a"), result("a"), user("Wait"), answer("Done.")],
    ]);
  });

  it("has nothing of what a takeover abandoned", () => {
    const log: RunEvent[] = [
      ...[start(user("Go")), turn("turn_start"), said(answer("Half"))],
      { type: "run_resume", epoch: 2, at_ms: 0 },
      ...[turn("turn_start"), said(answer("Whole.")), turn("turn_end")],
    ];
    assert.deepEqual(toRunItems(log), [user("Go"), answer("Whole.")]);
  });

  it("is read once, also where its beginning arrives with its ending", () => {
    const log = [start(user("Go")), said(answer("Half.")), start(user("Go"))];
    assert.deepEqual(toRunItems(log), [user("Go"), answer("Half.")]);
  });

  it("has a result for every call, after all calls of its turn", () => {
    const log = [start(user("Go")), said(call("a")), said(call("b")), toolEnd("b")];
    const items = toRunItems(log);
    assert.deepEqual(
      items.map((item) => ("call_id" in item ? `${item.type} ${item.call_id}` : item.type)),
      [
        ...["message", "function_call a", "function_call b"],
        ...["function_call_output a", "function_call_output b"],
      ],
    );
  });

  it("has no thoughts that nothing followed", () => {
    assert.deepEqual(toRunItems([start(user("Go")), said(thought)]), [user("Go")]);
    assert.equal(toRunItems([start(user("Go")), said(thought), said(answer("x"))]).length, 3);
  });

  it("has a summary before the turns that it did not replace, never between a call and its result", () => {
    const log = [
      ...[start(user("Go")), turn("turn_start"), said(call("a")), turn("turn_end"), toolEnd("a")],
      ...[turn("turn_start", 2), said(call("b")), turn("turn_end", 2), toolEnd("b")],
      ...[
        compaction("All of a.", 1),
        turn("turn_start", 3),
        said(answer("End.")),
        turn("turn_end"),
      ],
    ];
    const items = toRunItems(log);
    const at = items.findIndex(isSummary);
    assert.deepEqual(items.slice(at + 1), [call("b"), result("b"), answer("End.")]);
    assert.deepEqual(sinceSummary(items), items.slice(at));
    assert.equal(items.length, 7);
  });
});

describe("the turns of a session", () => {
  const items = [
    ...[user("One"), thought, call("a"), call("b"), result("a"), result("b"), answer("First.")],
    ...[user("Two"), user("and"), answer("Second."), user("Unanswered")],
  ];

  it("are the model's, with what its calls gave", () => {
    assert.deepEqual(readTurns(items), [
      { turn: 1, prompt: "One", text: "", calls: ["look", "look"] },
      { turn: 2, prompt: null, text: "First.", calls: [] },
      { turn: 3, prompt: "Two\n\nand", text: "Second.", calls: [] },
    ]);
  });

  it("are where a session can be divided, and no call loses its result", () => {
    assert.equal(countTurns(items), 3);
    assert.deepEqual(upToTurn(items, 1), items.slice(0, 6));
    assert.deepEqual(upToTurn(items, 2), items.slice(0, 7));
    assert.deepEqual(upToTurn(items, 3), items.slice(0, 10));
    assert.deepEqual([upToTurn(items, 0), upToTurn(items, 4)], [[], undefined]);
  });

  it("divide any conversation so that each call in it has its result", () => {
    // Every list of 7 of these, in an order that a run can write.
    const kinds = [user("u"), answer("a"), "call"] as const;
    for (let seed = 0; seed < 3 ** 7; seed++) {
      const list: Item[] = [];
      for (let at = 0, rest = seed; at < 7; at++, rest = Math.floor(rest / 3)) {
        const kind = kinds[rest % 3] ?? "call";
        if (kind === "call") list.push(call(`c${at}`), result(`c${at}`));
        else list.push(kind);
      }
      for (let cut = 0; cut <= countTurns(list); cut++) {
        const kept = upToTurn(list, cut) ?? assert.fail();
        const calls = kept.filter(({ type }) => type === "function_call").length;
        assert.equal(calls, kept.filter(({ type }) => type === "function_call_output").length);
        assert.equal(countTurns(kept), cut);
      }
    }
  });
});
