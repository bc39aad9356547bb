/** Kinds whose calls the server makes, with tools of the gate in place of containers. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { createApplyPatchKind } from "../../../src/responses/kinds/apply-patch.ts";
import { createCodeInterpreterKind } from "../../../src/responses/kinds/code-interpreter.ts";
import { createShellKind } from "../../../src/responses/kinds/shell.ts";
import { reply } from "../../../src/testing/reply.ts";
import { defineBuiltin, text, texts } from "../../../src/tools/builtin-tool.ts";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { type Tool, ToolOutput } from "../../../src/tools/tool.ts";
import { callsIn, runKinds, typesOf } from "./kind-run.ts";

const DONE = reply.text("Done.");

function toCall(name: string, input: object) {
  return reply.calls([{ name, arguments: JSON.stringify(input) }]);
}

describe("code_interpreter", () => {
  const IMAGE = "data:image/png;base64,AAAA";

  function createTool(give: (code: string) => Promise<Json | ToolOutput>): Tool {
    return defineBuiltin({
      name: "python",
      description: "Python",
      readOnly: false,
      effect: "compute",
      parameters: { code: text("Code") },
      run: ({ code }) => give(code),
    });
  }
  const toKind = (tool: Tool) =>
    createCodeInterpreterKind({ open: async () => ({ containerId: "cntr_1", tool }) });
  const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
  const drawing = createTool(async (code) => {
    const outputs = [
      { type: "logs", logs: `ran ${code}` },
      { type: "image", url: IMAGE },
    ];
    return new ToolOutput("for the model", [], { details: { outputs } });
  });

  it("shows the code as it is written, then what came of it to those who ask", async () => {
    const kinds = [toKind(drawing)];
    const replies = [toCall("code_interpreter", { code: 'print("1")' }), DONE];
    const include = ["code_interpreter_call.outputs"];
    const run = await runKinds({ kinds, tools, replies, include });
    assert.deepEqual([...new Set(typesOf(run))].slice(0, 7), [
      "output_item.added",
      "code_interpreter_call.in_progress",
      "code_interpreter_call_code.delta",
      "code_interpreter_call_code.done",
      "code_interpreter_call.interpreting",
      "code_interpreter_call.completed",
      "output_item.done",
    ]);
    const deltas = run.events.flatMap((event) =>
      String(event.type) === "response.code_interpreter_call_code.delta" && "delta" in event
        ? [event.delta]
        : [],
    );
    assert.equal(deltas.join(""), 'print("1")');
    const [call] = run.response.output;
    assert.ok(call?.type === "code_interpreter_call");
    assert.match(String(call.id), /^ci_/);
    assert.deepEqual([call.status, call.container_id], ["completed", "cntr_1"]);
    assert.deepEqual(call.outputs, [
      { type: "logs", logs: 'ran print("1")' },
      { type: "image", url: IMAGE, image_url: IMAGE },
    ]);
  });

  it("gives the model logs and images back, and the client too, unasked", async () => {
    const replies = [toCall("code_interpreter", { code: "1" }), DONE];
    const run = await runKinds({ kinds: [toKind(drawing)], tools, replies });
    const [asked, answered] = callsIn(run.requests[1]);
    assert.ok(asked?.type === "function_call" && answered?.type === "function_call_output");
    assert.deepEqual([asked.arguments, asked.call_id], ['{"code":"1"}', answered.call_id]);
    assert.deepEqual(answered.output, [
      { type: "input_text", text: "ran 1" },
      { type: "input_image", image_url: IMAGE },
    ]);
    const [call] = run.response.output;
    assert.ok(call?.type === "code_interpreter_call");
    assert.deepEqual(
      call.outputs?.map(({ type }) => type),
      ["logs", "image"],
    );
  });

  it("takes images back under either of their names", async () => {
    const items = ["url", "image_url"].map((name, at) => ({
      type: "code_interpreter_call",
      id: `ci_${at}`,
      container_id: "cntr_1",
      code: "1",
      status: "completed",
      outputs: [{ type: "image", [name]: IMAGE }],
    }));
    const asked = { type: "message", role: "user", content: "Well?" };
    const given = [...items, asked] as unknown as Item[];
    const run = await runKinds({ kinds: [toKind(drawing)], tools, items: given, replies: [DONE] });
    const outputs = callsIn(run.requests[0]).flatMap((item) =>
      item.type === "function_call_output" ? [item.output] : [],
    );
    assert.equal(outputs.length, 2);
    for (const output of outputs) assert.ok(JSON.stringify(output).includes(IMAGE));
  });

  it("shows the files it wrote with its outputs, and cites them if the answer links to them", async () => {
    const files = [{ file_id: "cfile_1", path: "/mnt/data/a.csv" }];
    const writing = createTool(async () => new ToolOutput("ok", [], { details: { files } }));
    const link = "[a.csv](sandbox:/mnt/data/a.csv)";
    const replies = [toCall("code_interpreter", { code: "1" }), reply.text(`Here: ${link}.`)];
    const kinds = [toKind(writing)];
    const include = ["code_interpreter_call.outputs"];
    const run = await runKinds({ kinds, tools, replies, include });
    const [call, message] = run.response.output;
    assert.ok(call?.type === "code_interpreter_call" && message?.type === "message");
    assert.deepEqual((call as { files?: unknown }).files, [{ type: "file", ...files[0] }]);
    const unasked = await runKinds({ kinds, tools, replies });
    assert.ok("files" in (unasked.response.output[0] ?? {}));
    const citation = {
      type: "container_file_citation",
      container_id: "cntr_1",
      file_id: "cfile_1",
      filename: "a.csv",
      start_index: 14,
      end_index: 37,
    };
    const [part] = message.content;
    assert.ok(part?.type === "output_text");
    const path = {
      type: "file_path",
      file_id: "cfile_1",
      index: 14,
      start_index: 14,
      end_index: 37,
    };
    assert.deepEqual(part.annotations, [citation, path]);
    const added = typesOf(run).filter((type) => type === "output_text.annotation.added");
    assert.equal(added.length, 2);
    // And in the next answer of the chain.
    const next = await runKinds({ kinds, tools, items: run.items, replies: [reply.text(link)] });
    const said = next.response.output[0];
    assert.ok(said?.type === "message" && said.content[0]?.type === "output_text");
    assert.equal(said.content[0].annotations.length, 2);
  });

  it("shows the text of a tool that keeps no details, and a failure as one", async () => {
    const kinds = [
      toKind(
        createTool(async (code) => {
          if (code === "boom") throw new Error("It broke");
          return "plain";
        }),
      ),
    ];
    const include = ["code_interpreter_call.outputs"];
    const calls = ["x", "boom"].map((code) => toCall("code_interpreter", { code }));
    const run = await runKinds({ kinds, tools, replies: [...calls, DONE], include });
    const shown = run.response.output.flatMap((item) =>
      item.type === "code_interpreter_call" ? [[item.status, item.outputs]] : [],
    );
    assert.deepEqual(shown, [
      ["completed", [{ type: "logs", logs: "plain" }]],
      ["failed", [{ type: "logs", logs: "Error: It broke" }]],
    ]);
  });

  it("is left out and reported if no server runs code", async () => {
    const kinds = [createCodeInterpreterKind({ open: undefined })];
    const run = await runKinds({ kinds, tools, replies: [DONE] });
    assert.deepEqual(run.requests[0]?.tools, []);
    assert.match(run.response.metadata["offshoot_ignored"] ?? "", /code_interpreter/);
  });
});

describe("shell in a container", () => {
  const ran = { stdout: "a\n", stderr: "", outcome: { type: "exit", exit_code: 0 } };
  const tool = defineBuiltin({
    name: "shell",
    description: "Shell",
    readOnly: false,
    effect: "execute",
    parameters: { commands: texts("Commands") },
    async run({ commands = [] }) {
      if (commands[0] === "boom") throw new Error("It broke");
      return new ToolOutput("text", [], { details: { output: commands.map(() => ran) } });
    },
  });
  const kinds = [createShellKind({ open: async () => ({ containerId: "cntr_1", tool }) })];
  const tools = [{ type: "shell", environment: { type: "container_auto" } }];

  it("shows commands and what they wrote as two items, in the published order", async () => {
    const replies = [toCall("shell", { commands: ["ls", "pwd"] }), DONE];
    const run = await runKinds({ kinds, tools, replies });
    const command = ["added", "delta", "done"].map((when) => `shell_call_command.${when}`);
    const output = ["delta", "done"].map((when) => `shell_call_output_content.${when}`);
    assert.deepEqual(typesOf(run).slice(0, 14), [
      "output_item.added",
      ...command,
      ...command,
      "output_item.done",
      "output_item.added",
      ...output,
      ...output,
      "output_item.done",
    ]);
    const [call, answer] = run.response.output;
    assert.ok(call?.type === "shell_call" && answer?.type === "shell_call_output");
    assert.deepEqual(call.environment, { type: "container_reference", container_id: "cntr_1" });
    assert.deepEqual([call.status, answer.status], ["completed", "completed"]);
    assert.deepEqual([answer.call_id, answer.output], [call.call_id, [ran, ran]]);
    const [, answered] = callsIn(run.requests[1]);
    assert.ok(answered?.type === "function_call_output");
    assert.deepEqual(JSON.parse(String(answered.output)), [ran, ran]);
  });

  it("tells a call that could not be made as a command that failed", async () => {
    const replies = [toCall("shell", { commands: ["boom"] }), DONE];
    const run = await runKinds({ kinds, tools, replies });
    const answer = run.response.output[1];
    assert.ok(answer?.type === "shell_call_output");
    assert.deepEqual(answer.output, [
      { stdout: "", stderr: "Error: It broke", outcome: { type: "exit", exit_code: 1 } },
    ]);
  });
});

describe("apply_patch of the server", () => {
  it("changes files of the workspace, and says what came of it", async () => {
    const kinds = [createApplyPatchKind({ tool: applyPatchTool })];
    const tools = [{ type: "apply_patch" }];
    const diff = "@@\n-old\n+new\n";
    const replies = [
      toCall("apply_patch", { type: "update_file", path: "a.txt", diff }),
      toCall("apply_patch", { type: "update_file", path: "b.txt", diff }),
      DONE,
    ];
    const setup = { kinds, tools, replies, files: { "a.txt": "old\n" } };
    const run = await runKinds(setup, async ({ read }) => {
      assert.equal(await read("a.txt"), "new\n");
    });
    const [call, done, , failed] = run.response.output;
    assert.ok(call?.type === "apply_patch_call" && done?.type === "apply_patch_call_output");
    assert.ok(failed?.type === "apply_patch_call_output");
    assert.deepEqual(
      [call.status, done.status, done.output],
      ["completed", "completed", "Updated a.txt."],
    );
    assert.equal(failed.status, "failed");
    assert.match(String(failed.output), /^Error: .*b\.txt/);
  });
});
