/**
 * Kinds whose calls the client makes: a call ends the answer, and the client's result continues it.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import { createApplyPatchKind } from "../../../src/responses/kinds/apply-patch.ts";
import { COMPUTER_KIND } from "../../../src/responses/kinds/computer.ts";
import { LOCAL_SHELL_KIND } from "../../../src/responses/kinds/local-shell.ts";
import { createShellKind } from "../../../src/responses/kinds/shell.ts";
import { reply } from "../../../src/testing/reply.ts";
import { callsIn, type KindRun, type KindSetup, runKinds, typesOf } from "./kind-run.ts";

const KINDS = [
  LOCAL_SHELL_KIND,
  COMPUTER_KIND,
  createShellKind({ open: undefined }),
  createApplyPatchKind({ tool: undefined }),
];

type Call = { readonly name: string; readonly arguments: string };

function toCall(name: string, input: object): Call {
  return { name, arguments: JSON.stringify(input) };
}

const ask = (tool: object, call: Call, more: Partial<KindSetup> = {}): Promise<KindRun> =>
  runKinds({ kinds: KINDS, tools: [tool], replies: [reply.calls([call])], ...more });

/** The items that the model reads once the client has answered. */
async function goOn(tool: object, run: KindRun, output: object): Promise<Item[]> {
  const items = [...run.items, output as Item];
  const next = await runKinds({ kinds: KINDS, tools: [tool], replies: [reply.text("Ok.")], items });
  return callsIn(next.requests[0]);
}

const without = <Value extends object>(value: Value | undefined, ...names: string[]): object =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => !names.includes(name)));

describe("local_shell", () => {
  const tool = { type: "local_shell" };

  it("hands a command to the client, and its output to the model", async () => {
    const input = { command: ["ls", "-a"], timeout_ms: 500, env: { A: "1", B: 2 } };
    const run = await ask(tool, toCall("local_shell", input));
    const [call] = run.response.output;
    assert.ok(call?.type === "local_shell_call");
    assert.deepEqual(without(call, "id", "call_id"), {
      type: "local_shell_call",
      status: "completed",
      action: {
        type: "exec",
        command: ["ls", "-a"],
        timeout_ms: 500,
        env: { A: "1" },
        user: null,
        working_directory: null,
      },
    });
    assert.deepEqual(typesOf(run), ["output_item.added", "output_item.done"]);
    for (const pair of [{ id: call.id }, { call_id: call.call_id }]) {
      const output = { type: "local_shell_call_output", ...pair, output: "a.txt" };
      const [asked, answered] = await goOn(tool, run, output);
      assert.ok(asked?.type === "function_call" && answered?.type === "function_call_output");
      assert.deepEqual([asked.name, answered.output], ["local_shell", "a.txt"]);
      assert.equal(asked.call_id, answered.call_id);
      assert.deepEqual(JSON.parse(asked.arguments).command, ["ls", "-a"]);
    }
  });

  it("accepts what a model makes of it: one text, or invalid JSON", async () => {
    const one = await ask(tool, toCall("local_shell", { command: "ls" }));
    const [call] = one.response.output;
    assert.ok(call?.type === "local_shell_call");
    assert.deepEqual(call.action.command, ["ls"]);
    const broken = await ask(tool, { name: "local_shell", arguments: "ls -a" });
    const [none] = broken.response.output;
    assert.ok(none?.type === "local_shell_call");
    assert.deepEqual(none.action.command, []);
  });
});

describe("shell of the client", () => {
  for (const tool of [{ type: "shell" }, { type: "shell", environment: { type: "local" } }]) {
    it(`hands commands to the client: ${JSON.stringify(tool)}`, async () => {
      const input = { commands: ["ls", "pwd"], max_output_length: 100 };
      const run = await ask(tool, toCall("shell", input));
      const [call] = run.response.output;
      assert.ok(call?.type === "shell_call");
      assert.deepEqual(without(call, "id", "call_id"), {
        type: "shell_call",
        status: "completed",
        environment: { type: "local" },
        action: { commands: ["ls", "pwd"], timeout_ms: null, max_output_length: 100 },
      });
      const ran = { stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } };
      const output = { type: "shell_call_output", call_id: call.call_id, output: [ran] };
      const [asked, answered] = await goOn(tool, run, output);
      assert.ok(asked?.type === "function_call" && answered?.type === "function_call_output");
      assert.equal(asked.call_id, answered.call_id);
      assert.deepEqual(JSON.parse(String(answered.output)), [ran]);
    });
  }

  it("is refused in a container where the server runs none", async () => {
    const tool = { type: "shell", environment: { type: "container_auto" } };
    await assert.rejects(
      createShellKind({ open: undefined }).open(tool as never, {} as never),
      /This server runs no shell\. Give/,
    );
  });
});

describe("apply_patch of the client", () => {
  const tool = { type: "apply_patch" };
  const operations: readonly object[] = [
    { type: "create_file", path: "a.md", diff: "+One\n" },
    { type: "update_file", path: "a.md", diff: "@@\n-One\n+Two\n" },
    { type: "delete_file", path: "a.md" },
  ];
  for (const operation of operations) {
    it(`hands an operation to the client: ${JSON.stringify(operation)}`, async () => {
      const run = await ask(tool, toCall("apply_patch", operation), {
        toolChoice: { type: "apply_patch" },
      });
      assert.deepEqual(run.requests[0]?.tool_choice, { type: "function", name: "apply_patch" });
      const [call] = run.response.output;
      assert.ok(call?.type === "apply_patch_call");
      assert.deepEqual([call.operation, call.status], [operation, "completed"]);
      const about = { call_id: call.call_id, status: "failed", output: "No such file" };
      const [asked, answered] = await goOn(tool, run, {
        type: "apply_patch_call_output",
        ...about,
      });
      assert.ok(asked?.type === "function_call" && answered?.type === "function_call_output");
      assert.deepEqual(JSON.parse(asked.arguments), operation);
      assert.equal(answered.output, "No such file");
    });
  }
});

describe("computer", () => {
  const older = {
    type: "computer_use_preview",
    environment: "browser",
    display_width: 800,
    display_height: 600,
  };

  it("hands one action of the older tool to the client, and a picture to the model", async () => {
    const input = { actions: [{ type: "click", x: 10.4, y: 20 }] };
    const run = await ask(older, toCall("computer", input));
    assert.match(
      run.requests[0]?.tools[0]?.type === "function"
        ? String(run.requests[0].tools[0].description)
        : "",
      /800 by 600/,
    );
    const [call] = run.response.output;
    assert.ok(call?.type === "computer_call");
    assert.deepEqual(without(call, "id", "call_id"), {
      type: "computer_call",
      status: "completed",
      pending_safety_checks: [],
      action: { type: "click", button: "left", x: 10, y: 20 },
    });
    const image_url = "data:image/png;base64,AAAA";
    const [asked, answered] = await goOn(older, run, {
      type: "computer_call_output",
      call_id: call.call_id,
      output: { type: "computer_screenshot", image_url },
    });
    assert.ok(asked?.type === "function_call" && answered?.type === "function_call_output");
    assert.deepEqual(answered.output, [{ type: "input_image", image_url }]);
    assert.deepEqual(JSON.parse(asked.arguments), { actions: [call.action] });
  });

  const actions: readonly object[] = [
    { type: "screenshot" },
    { type: "double_click", x: 1, y: 2 },
    { type: "drag", path: [{ x: 1, y: 2 }] },
    { type: "keypress", keys: ["CTRL", "C"] },
    { type: "move", x: 1, y: 2 },
    { type: "scroll", x: 1, y: 2, scroll_y: 100 },
    { type: "type", text: "Hi" },
    { type: "wait" },
  ];

  it("takes every action of the newer tool, in a form that is published", async () => {
    const run = await ask({ type: "computer" }, toCall("computer", { actions }));
    const [call] = run.response.output;
    assert.ok(call?.type === "computer_call");
    assert.deepEqual(
      call.actions?.map(({ type }) => type),
      actions.map((action) => (action as { type: string }).type),
    );
    assert.equal(call.action, undefined);
  });

  it("makes a screenshot of what it does not understand", async () => {
    const run = await ask(older, toCall("computer", { actions: [{ type: "dance" }] }));
    const [call] = run.response.output;
    assert.ok(call?.type === "computer_call");
    assert.deepEqual(call.action, { type: "screenshot" });
  });
});
