import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Item } from "../../../src/protocol/items.ts";
import { editContext } from "../../../src/responses/messages/context-edits.ts";
import type { ContextEdit } from "../../../src/responses/messages/messages-request.ts";

const said = (content: string): Item => ({ type: "message", role: "user", content });
const thought = (text: string): Item => ({
  type: "reasoning",
  summary: [],
  content: [{ type: "reasoning_text", text }],
});
/** A call with a long result, so that clearing it saves tokens. */
const called = (id: string, name = "read"): Item[] => [
  { type: "function_call", call_id: id, name, arguments: '{"path":"a"}' },
  { type: "function_call_output", call_id: id, output: "word ".repeat(200) },
];

function edit(items: readonly Item[], ...edits: object[]) {
  return editContext(items, edits as ContextEdit[], {
    instructions: null,
    tools: null,
    nameOf: (name) => name,
  });
}

const isCleared = (item: Item): boolean =>
  item.type === "function_call_output" && /was cleared/.test(String(item.output));
const clearedIn = (items: readonly Item[]): string[] =>
  items.flatMap((item) => (isCleared(item) && "call_id" in item ? [String(item.call_id)] : []));

describe("clearing the results of tools", () => {
  const CLEAR = { type: "clear_tool_uses_20250919" };
  const NOW = { ...CLEAR, trigger: { type: "tool_uses", value: 0 } };
  const five = [said("Go."), ...["1", "2", "3", "4", "5"].flatMap((id) => called(id))];

  it("keeps the last three, and tells how much was cleared", () => {
    const { items, applied } = edit(five, NOW);
    assert.deepEqual(clearedIn(items), ["1", "2"]);
    const [told] = applied;
    assert.ok(told?.type === "clear_tool_uses_20250919");
    assert.equal(told.cleared_tool_uses, 2);
    assert.ok(told.cleared_input_tokens > 100);
  });

  const cases: readonly (readonly [string, object, string[]])[] = [
    [
      "keeps as many as it is told",
      { keep: { type: "tool_uses", value: 1 } },
      ["1", "2", "3", "4"],
    ],
    ["waits for its number of calls", { trigger: { type: "tool_uses", value: 5 } }, []],
    ["waits for its number of tokens", { trigger: { type: "input_tokens", value: 100_000 } }, []],
    [
      "begins at its number of tokens",
      { trigger: { type: "input_tokens", value: 100 } },
      ["1", "2"],
    ],
    ["waits for a hundred thousand tokens if it is not told", { trigger: undefined }, []],
    ["leaves out tools that it is told", { exclude_tools: ["read"] }, []],
    [
      "does nothing for less than it must save",
      { clear_at_least: { type: "input_tokens", value: 1e6 } },
      [],
    ],
  ];
  for (const [what, more, cleared] of cases) {
    it(what, () => {
      const { items, applied } = edit(five, { ...NOW, ...more });
      assert.deepEqual(clearedIn(items), cleared);
      assert.equal(applied.length, cleared.length > 0 ? 1 : 0);
    });
  }

  it("clears the inputs of the calls too, of all or of some tools", () => {
    const items = [
      ...called("1", "read"),
      ...called("2", "find"),
      ...called("3"),
      ...called("4"),
      ...called("5"),
    ];
    const inputsOf = (clear_tool_inputs: unknown): unknown[] =>
      edit(items, { ...NOW, clear_tool_inputs }).items.flatMap((item) =>
        item.type === "function_call" ? [item.arguments] : [],
      );
    const whole = '{"path":"a"}';
    assert.deepEqual(inputsOf(true), ["{}", "{}", whole, whole, whole]);
    assert.deepEqual(inputsOf(["find"]), [whole, "{}", whole, whole, whole]);
    assert.deepEqual(inputsOf(false), [whole, whole, whole, whole, whole]);
  });

  it("never takes away an item, and clears nothing twice", () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/), { maxLength: 12 });
    const property = fc.property(ids, fc.nat(6), (list, value) => {
      const before = list.flatMap((id) => called(id));
      const wish = { ...NOW, keep: { type: "tool_uses", value } };
      const once = edit(before, wish);
      assert.deepEqual(
        once.items.map(({ type }) => type),
        before.map(({ type }) => type),
      );
      assert.equal(clearedIn(once.items).length, Math.max(0, list.length - value));
      assert.deepEqual(edit(once.items, wish).applied, []);
    });
    fc.assert(property, { numRuns: 100 });
  });
});

describe("clearing thoughts", () => {
  const CLEAR = { type: "clear_thinking_20251015" };
  const talk = [
    said("a"),
    thought("1"),
    thought("1b"),
    said("b"),
    thought("2"),
    said("c"),
    thought("3"),
  ];
  const left = (keep: unknown): unknown[] =>
    edit(talk, { ...CLEAR, keep }).items.flatMap((item) =>
      item.type === "reasoning" ? [item.content?.[0]?.text] : [],
    );

  it("keeps those of the last turn, and counts turns", () => {
    assert.deepEqual(left(undefined), ["3"]);
    const [told] = edit(talk, CLEAR).applied;
    assert.equal(told?.type === "clear_thinking_20251015" && told.cleared_thinking_turns, 2);
  });

  it("keeps as many turns as it is told, or all", () => {
    assert.deepEqual(left({ type: "thinking_turns", value: 2 }), ["2", "3"]);
    assert.deepEqual(left("all"), ["1", "1b", "2", "3"]);
    assert.deepEqual(left({ type: "all" }), ["1", "1b", "2", "3"]);
  });
});

describe("other edits of a conversation", () => {
  it("are compactions of this server, from the published number of tokens", () => {
    const compaction = (compact_threshold: number) => ({
      context_management: [{ type: "compaction", compact_threshold }],
    });
    const of = (trigger?: object) => edit([], { type: "compact_20260112", trigger }).fields;
    assert.deepEqual(of(), compaction(150_000));
    assert.deepEqual(of({ type: "input_tokens", value: 80_000 }), compaction(80_000));
    assert.deepEqual(of({ type: "input_tokens", value: 5 }), compaction(1000));
  });

  it("are named if they, or their fields, are left out", () => {
    const { ignored } = edit(
      [],
      { type: "acme" },
      { type: "compact_20260112", instructions: "Short." },
    );
    assert.deepEqual(ignored, [
      "context_management.edits[0] (acme)",
      "context_management.edits[1].instructions",
    ]);
  });
});
