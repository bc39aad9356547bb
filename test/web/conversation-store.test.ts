import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EventView } from "../../src/runtime/record/views.ts";
import type { Block } from "../../web/views/run/blocks.ts";
import {
  type ConversationStore,
  createConversationStore,
} from "../../web/views/run/conversation-store.ts";

let seq = 0;

function event(type: string, fields: object, clipped: EventView["clipped"] = []): EventView {
  seq += 1;
  return {
    seq,
    last_seq: seq,
    type,
    at_ms: null,
    clipped,
    event: { type, ...fields } as never,
  };
}

const blocksOf = ({ cells }: ConversationStore): Block[] =>
  cells.value.map(({ block }) => block.value);

function shown(events: readonly EventView[]): Block[] {
  const store = createConversationStore("run_1");
  store.add(events);
  return blocksOf(store);
}

const said = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const called = (call_id: string, given = "{}") => ({
  type: "function_call",
  call_id,
  name: "shell",
  arguments: given,
});
const result = (output: unknown) => ({ type: "function_call_output", output });

describe("a log as a conversation in the console", () => {
  it("shows an answer as it comes, and finishes it in its place", () => {
    const store = createConversationStore("run_1");
    store.add([
      event("text_delta", { index: 0, part: 0, delta: "Hel" }),
      event("text_delta", { index: 0, part: 0, delta: "lo" }),
    ]);
    const [cell] = store.cells.value;
    assert.ok(cell?.block.value.kind === "words");
    assert.deepEqual([cell.block.value.text, cell.block.value.isOpen], ["Hello", true]);
    store.add([event("item_end", { index: 0, item: said("Hello.") })]);
    assert.equal(store.cells.value.length, 1);
    assert.equal(store.cells.value[0], cell, "the same place on the page");
    assert.deepEqual([cell.block.value.text, cell.block.value.isOpen], ["Hello.", false]);
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
      event("item_end", { index: 0, item: called("c1") }),
      event("tool_start", { call_id: "c1", name: "shell", arguments: "{}" }),
      event("tool_decision", {
        call_id: "c1",
        verdict: "deny",
        by: "rule",
        rule: "deny shell(rm *)",
        reason: "A rule denies it.",
      }),
      event("tool_end", { call_id: "c1", item: result("denied"), failed: true }),
    ]);
    assert.equal(blocks.length, 1);
    const [block] = blocks;
    assert.ok(block?.kind === "call");
    const { name, decision, isDenied, output, failed } = block.call;
    assert.deepEqual(
      [name, decision, isDenied, output, failed],
      ["shell", "denied by deny shell(rm *): A rule denies it.", true, "denied", true],
    );
  });

  it("keeps two calls apart that a server gave one id", () => {
    const blocks = shown([
      event("item_end", { index: 0, item: called("c", '{"a":1}') }),
      event("tool_end", { call_id: "c", item: result("one"), failed: false }),
      event("item_end", { index: 0, item: called("c", '{"a":2}') }),
      event("tool_end", { call_id: "c", item: result("two"), failed: false }),
    ]);
    assert.deepEqual(
      blocks.map((block) => block.kind === "call" && [block.call.given, block.call.output]),
      [
        ['{"a":1}', "one"],
        ['{"a":2}', "two"],
      ],
    );
  });

  it("changes one block alone when a piece comes, and passes over what it has", () => {
    const store = createConversationStore("run_1");
    const first = event("item_end", { index: 0, item: said("One") });
    store.add([first]);
    const before = store.cells.value;
    store.add([first]);
    assert.equal(store.cells.value, before, "nothing was drawn again");
    store.add([event("text_delta", { index: 0, part: 0, delta: "T" })]);
    const grown = store.cells.value;
    const untouched = grown[0]?.block.value;
    store.add([event("text_delta", { index: 0, part: 0, delta: "wo" })]);
    assert.equal(store.cells.value, grown);
    assert.equal(grown[0]?.block.value, untouched);
  });

  it("shows instructions, input, pictures, children, notices and the ending", () => {
    const picture = "data:image/png;base64,aaaa";
    const blocks = shown([
      event("run_start", {
        settings: { instructions: "Be brief." },
        input: [
          {
            type: "message",
            role: "user",
            content: [
              { type: "input_text", text: "Hi" },
              { type: "input_image", image_url: picture },
              { type: "input_image", image_url: "https://evil.example/a.png" },
            ],
          },
        ],
      }),
      event("notice", { code: "retry", message: "Trying again." }),
      event("child_start", { child_id: "r/1", label: "parser" }),
      event("child_end", { child_id: "r/1", label: "parser", ending: "failed" }),
      event("run_end", { ending: "budget", message: "Used up." }),
    ]);
    assert.deepEqual(
      blocks.map((block) => (block.kind === "words" ? block.who : block.kind)),
      ["system", "user", "note", "child", "note"],
    );
    const [, user, , child] = blocks;
    assert.ok(user?.kind === "words" && child?.kind === "child");
    assert.deepEqual(user.pictures, [picture], "only what is inside of the item");
    assert.equal(child.ending, "failed");
  });

  it("knows where the rest of a shortened text is", () => {
    const cut = [{ path: "/item/content/0/text", length: 900_000, kind: "text" as const }];
    const [block] = shown([event("item_end", { index: 0, item: said("beginning…") }, cut)]);
    assert.ok(block?.kind === "words");
    assert.deepEqual(block.rest, { run: "run_1", seq, path: cut[0]?.path, length: 900_000 });
  });
});
