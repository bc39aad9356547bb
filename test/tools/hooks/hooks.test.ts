import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { writeTool } from "../../../src/tools/files/write.ts";
import { checkHooks, toHooks } from "../../../src/tools/hooks/hook.ts";
import type { HookCall, HookDenial, Hooks } from "../../../src/tools/hooks/run-hooks.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("the setting `hooks`", () => {
  const BAD: readonly (readonly [JsonObject, RegExp])[] = [
    [{ "a b": { on: "before_tool", command: "true" } }, /is not a name/],
    [{ x: { command: "true" } }, /needs `on`/],
    [{ x: { on: "before_tool" } }, /needs `command`/],
    [{ x: { on: "before", command: "true" } }, /`on` must be one of before_tool/],
    [{ x: { on: "before_tool", command: ["./x"] } }, /bare name or an absolute path/],
    [{ x: { on: "before_tool", command: [] } }, /bare name or an absolute path/],
    [{ x: { on: "before_tool", command: "true", match: "shell(" } }, /`match` must be a rule/],
    [{ x: { on: "before_run", command: "true", match: "shell" } }, /`match` is for tool calls/],
    [{ x: { on: "before_tool", command: "true", timeout: 0 } }, /seconds up to 600/],
    [{ x: { on: "before_tool", comand: "true" } }, /Did you mean `command`\?/],
    [{ x: "true" }, /must be a map/],
  ];
  for (const [map, message] of BAD) {
    it(`refuses ${JSON.stringify(map)}`, () => {
      assert.throws(() => checkHooks(map, "hooks"), message);
    });
  }

  it("denies by default if a hook fails, and gives a line to sh", () => {
    const [hook] = toHooks({ x: { on: "before_tool", command: "exit 2" } });
    assert.deepEqual(hook?.argv, ["/bin/sh", "-c", "exit 2"]);
    assert.deepEqual([hook?.onError, hook?.timeoutMs], ["deny", 30_000]);
  });
});

/** Hooks that answer in this process. */
function answer(on: string, denial: HookDenial | undefined, told: JsonObject[] = []): Hooks {
  return {
    has: (event) => event === on,
    run: async (_, fields: JsonObject, __: HookCall) => {
      told.push(fields);
      return denial;
    },
    close: async () => {},
  };
}

describe("a hook at the gate", () => {
  const input = { path: "a.txt", content: "x" };
  const denial = { hook: "mine", reason: "not now" };

  it("denies a call that the rules allow, and the decision names it", async () => {
    using folder = createWorkspaceFolder();
    const told: JsonObject[] = [];
    const hooks = answer("before_tool", denial, told);
    const { output, decisions, failed } = await folder.call(writeTool, input, { hooks });
    assert.match(output, /denied: hook mine denied it: not now\./);
    assert.equal(failed, true);
    const [decision] = decisions;
    assert.deepEqual([decision?.verdict, decision?.by, decision?.hook], ["deny", "hook", "mine"]);
    assert.deepEqual(told, [{ run_id: "run_1/1", tool: "write", arguments: input }]);
  });

  it("allows nothing that a rule denies, and is not run", async () => {
    using folder = createWorkspaceFolder();
    const told: JsonObject[] = [];
    const hooks = answer("before_tool", undefined, told);
    const policy = { approve: "deny", rules: [] } as const;
    const { decisions } = await folder.call(writeTool, input, { hooks, policy });
    assert.equal(decisions[0]?.verdict, "deny");
    assert.notEqual(decisions[0]?.by, "hook");
  });

  it("gives the model its reason after the result", async () => {
    using folder = createWorkspaceFolder();
    const { output, failed } = await folder.call(writeTool, input, {
      hooks: answer("after_tool", denial),
    });
    assert.match(output, /"success":true[\s\S]*\[hook mine: not now\]$/);
    assert.equal(failed, true);
  });
});
