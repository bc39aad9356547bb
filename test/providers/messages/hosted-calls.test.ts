import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { createDecoder } from "../../../src/providers/messages/decode.ts";
import { encodeConversation } from "../../../src/providers/messages/turns.ts";

const PROGRAM = {
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "bash_code_execution",
  input: { command: "echo 4" },
};
const RESULT = {
  type: "bash_code_execution_tool_result",
  tool_use_id: "srvtoolu_1",
  content: {
    type: "bash_code_execution_result",
    stdout: "4",
    stderr: "",
    return_code: 0,
    content: [],
  },
};
const TOOLS = [{ type: "code_interpreter" }] as unknown as Tool[];
const USER: Item = { type: "message", role: "user", content: "Go." };

function itemsOf(blocks: readonly JsonObject[], tools: readonly Tool[], stop = "end_turn"): Item[] {
  const out: ModelEvent[] = [];
  const decoder = createDecoder(tools);
  const answer = { type: "message", id: "msg_1", model: "m", content: blocks, stop_reason: stop };
  decoder.read(JSON.stringify(answer), out);
  decoder.end(out);
  return out.flatMap((event) => (event.type === "item_end" ? [event.item] : []));
}

describe("programs that Claude runs", () => {
  it("are calls of the code interpreter if that was requested, and are sent back unchanged", () => {
    const [item] = itemsOf([PROGRAM, RESULT], TOOLS);
    assert.deepEqual(item, {
      type: "code_interpreter_call",
      id: "srvtoolu_1",
      status: "completed",
      code: "echo 4",
      container_id: "",
      outputs: [{ type: "logs", logs: "4" }],
      anthropic: { blocks: [PROGRAM, RESULT] },
    });
    const { turns } = encodeConversation([USER, item as Item]);
    assert.deepEqual(turns[1]?.content, [PROGRAM, RESULT]);
  });

  it("are the vendor's own blocks if its own tool was requested", () => {
    const own = [{ type: "code_execution_20250825" }] as unknown as Tool[];
    const types = itemsOf([PROGRAM, RESULT], own).map(({ type }) => type);
    assert.deepEqual(types, [
      "anthropic:server_tool_use",
      "anthropic:bash_code_execution_tool_result",
    ]);
  });

  it("continue after a pause: the result of the next answer follows its call", () => {
    const before = itemsOf([PROGRAM], TOOLS, "pause_turn");
    const after = itemsOf([RESULT, { type: "text", text: "4." }], TOOLS);
    const { turns } = encodeConversation([USER, ...before, ...after]);
    assert.deepEqual(turns[1]?.content.slice(0, 2), [PROGRAM, RESULT]);
  });

  it("a program that Claude runs reports its failure", () => {
    const content = { type: "bash_code_execution_tool_result_error", error_code: "unavailable" };
    const [item] = itemsOf([PROGRAM, { ...RESULT, content }], TOOLS);
    assert.match(JSON.stringify(item), /"status":"failed".*"logs":"unavailable"/);
  });

  for (const id of [undefined, null, 7, {}, [], ""]) {
    it(`have an id, also if the vendor sends ${JSON.stringify(id)}`, () => {
      const thinking = { type: "thinking", thinking: "Hm.", signature: "s" };
      const { id: _, ...nameless } = PROGRAM;
      const program = (id === undefined ? nameless : { ...PROGRAM, id }) as JsonObject;
      // The call waits for its result until the end.
      const [thought, call] = itemsOf([program, thinking], TOOLS);
      assert.equal(thought?.type, "reasoning", "what comes after it is not its result");
      assert.ok(call?.type === "code_interpreter_call");
      assert.equal(call.id, "msg_1_0");
      const { turns } = encodeConversation([USER, call]);
      assert.deepEqual(turns[1]?.content, [{ ...PROGRAM, id: "msg_1_0" }]);
    });
  }

  it("have an id each, even if the vendor sends one twice", () => {
    const calls = itemsOf([PROGRAM, PROGRAM, RESULT], TOOLS);
    const seen = calls.map((item) => item.type === "code_interpreter_call" && item.id);
    assert.deepEqual(seen, ["srvtoolu_1", "msg_1_1"]);
  });
});
