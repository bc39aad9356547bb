/** A past conversation as updates for an editor, like those that it got when they happened. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toHistory } from "../../../src/cli/acp/history.ts";
import type { Item } from "../../../src/protocol/items.ts";

const PLACE = { name: "conv_1", cwd: "/project" };

function call(call_id: string, name: string, given: object): Item {
  return { type: "function_call", call_id, name, arguments: JSON.stringify(given) } as Item;
}

function output(call_id: string, text: string): Item {
  return { type: "function_call_output", call_id, output: text } as Item;
}

describe("a conversation that is loaded again", () => {
  it("shows the user's pictures between the words", () => {
    const content = [
      { type: "input_text", text: "Look:" },
      { type: "input_image", image_url: "data:image/png;base64,AAEC" },
      { type: "input_image", image_url: "https://example.com/a/cat.png" },
    ];
    const updates = [...toHistory([{ type: "message", role: "user", content } as Item], PLACE)];
    assert.deepEqual(
      updates.map((update) => ("content" in update ? update.content : update)),
      [
        { type: "text", text: "Look:" },
        { type: "image", mimeType: "image/png", data: "AAEC" },
        {
          type: "resource_link",
          name: "https://example.com/a/cat.png",
          uri: "https://example.com/a/cat.png",
        },
      ],
    );
    assert.deepEqual(
      updates.map((update) => update.sessionUpdate),
      Array.from({ length: 3 }, () => "user_message_chunk"),
    );
  });

  it("shows edits with their diffs, which the results do not replace", () => {
    const items = [
      call("1", "edit", { path: "a.txt", old_string: "old", new_string: "new" }),
      output("1", "done"),
      call("2", "write", { path: "b.txt", content: "whole" }),
      output("2", "Error: refused"),
    ];
    const [edit, edited, write, refused] = [...toHistory(items, PLACE)];
    assert.ok(edit?.sessionUpdate === "tool_call" && write?.sessionUpdate === "tool_call");
    const path = "/project/a.txt";
    assert.deepEqual(edit.content, [{ type: "diff", path, oldText: "old", newText: "new" }]);
    assert.deepEqual(write.content, [
      { type: "diff", path: "/project/b.txt", oldText: null, newText: "whole" },
    ]);
    const id = (at: number) => ({ sessionUpdate: "tool_call_update", toolCallId: `conv_1:${at}` });
    assert.deepEqual(edited, { ...id(0), status: "completed", rawOutput: "done" });
    assert.deepEqual(refused, { ...id(2), status: "failed", rawOutput: "Error: refused" });
  });

  it("shows subagents with their reports", () => {
    const tasks = [{ label: "one" }, { label: "two" }];
    const items = [
      call("1", "subagent", { label: "scout", task_prompt: "Look." }),
      output("1", "Found it."),
      call("2", "parallel_subagent", { tasks }),
      output("2", "Error: no budget"),
    ];
    const [scout, report, both, failed] = [...toHistory(items, PLACE)];
    assert.ok(scout?.sessionUpdate === "tool_call" && both?.sessionUpdate === "tool_call");
    assert.deepEqual([scout.title, scout.kind, scout.name], ["subagent scout", "think", undefined]);
    assert.equal(both.title, "subagent one, two");
    const text = (said: string) => [{ type: "content", content: { type: "text", text: said } }];
    assert.ok(report?.sessionUpdate === "tool_call_update" && report.status === "completed");
    assert.deepEqual(report.content, text("Found it."));
    assert.ok(failed?.sessionUpdate === "tool_call_update" && failed.status === "failed");
  });
});
