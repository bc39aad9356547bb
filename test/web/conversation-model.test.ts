import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EventView } from "../../src/runtime/record/views.ts";
import { addEvents, type Block, EMPTY } from "../../web/views/run/conversation-model.ts";

let seq = 0;

function event(type: string, fields: object): EventView {
  seq += 1;
  return {
    seq,
    last_seq: seq,
    type,
    at_ms: null,
    event: { type, ...fields } as never,
    clipped: [],
  };
}

function shown(events: readonly EventView[]): Block[] {
  return addEvents(EMPTY, events).blocks.filter(
    (block) => block.kind !== "note" || block.text !== "",
  );
}

const said = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});

describe("a log as a conversation in the console", () => {
  it("shows an answer as it comes, then the finished item in its place", () => {
    const open = shown([
      event("text_delta", { index: 0, part: 0, delta: "Hel" }),
      event("text_delta", { index: 0, part: 0, delta: "lo" }),
    ]);
    assert.deepEqual(
      open.map((block) => block.kind === "words" && [block.text, block.isOpen]),
      [["Hello", true]],
    );
    const done = shown([
      event("text_delta", { index: 0, part: 0, delta: "Hel" }),
      event("item_end", { index: 0, item: said("Hello") }),
    ]);
    assert.deepEqual(
      done.map((block) => block.kind === "words" && [block.text, block.isOpen]),
      [["Hello", false]],
    );
  });

  it("keeps the answers of two turns apart, although both are item 0", () => {
    const blocks = shown([
      event("item_end", { index: 0, item: said("One") }),
      event("text_delta", { index: 0, part: 0, delta: "Two" }),
      event("item_end", { index: 0, item: said("Two") }),
    ]);
    assert.deepEqual(
      blocks.map((block) => block.kind === "words" && block.text),
      ["One", "Two"],
    );
  });

  it("gathers a call, who decided about it and its result in one block", () => {
    const blocks = shown([
      event("item_end", {
        index: 0,
        item: { type: "function_call", call_id: "c1", name: "shell", arguments: "{}" },
      }),
      event("tool_start", { call_id: "c1", name: "shell" }),
      event("tool_decision", {
        call_id: "c1",
        verdict: "deny",
        by: "rule",
        rule: "deny shell(rm *)",
        reason: "A rule denies it.",
      }),
      event("tool_end", {
        call_id: "c1",
        item: { type: "function_call_output", output: "denied" },
        failed: true,
      }),
    ]);
    assert.equal(blocks.length, 1);
    const [block] = blocks;
    assert.ok(block?.kind === "call");
    assert.deepEqual(block.call, {
      ...{ id: "c1", name: "shell", given: "{}", isDenied: true, output: "denied", failed: true },
      decision: "denied by deny shell(rm *): A rule denies it.",
    });
  });

  it("never makes a finished block again, so a long conversation costs what is new in it", () => {
    const first = addEvents(EMPTY, [event("item_end", { index: 0, item: said("One") })]);
    const second = addEvents(first, [event("item_end", { index: 0, item: said("Two") })]);
    assert.equal(second.blocks[0], first.blocks[0]);
  });

  it("shows instructions, input, children and the ending", () => {
    const blocks = shown([
      event("run_start", {
        settings: { instructions: "Be brief." },
        input: [{ type: "message", role: "user", content: "Hi" }],
      }),
      event("child_start", { child_id: "r/1", label: "parser" }),
      event("child_end", { child_id: "r/1", label: "parser", ending: "failed" }),
      event("run_end", { ending: "budget", message: "Used up." }),
    ]);
    assert.deepEqual(
      blocks.map((block) => (block.kind === "words" ? block.who : block.kind)),
      ["system", "user", "child", "note"],
    );
    assert.ok(blocks[2]?.kind === "child" && blocks[2].ending === "failed");
  });
});
