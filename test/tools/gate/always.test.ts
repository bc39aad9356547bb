import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shellTool } from "../../../src/tools/commands/shell.ts";
import { toAlwaysRules } from "../../../src/tools/gate/always.ts";
import { createGate } from "../../../src/tools/gate/gate.ts";
import { readCommand } from "../../../src/tools/gate/read-command.ts";
import { NOTHING_TOUCHED } from "../../../src/tools/gate/rules.ts";
import { patience } from "../../patience.ts";
import { createWorkspaceFolder, toGateParts } from "../workspace-folder.ts";
import { asking } from "./gate-fixture.ts";

describe("the rules that `always` adds", () => {
  const rows: readonly [command: string, rules: readonly string[]][] = [
    ["git log -5", ["shell(git log *)"]],
    ["git log | head -3", ["shell(git log *)", "shell(head *)"]],
    ["ls -la src", ["shell(ls *)"]],
    ["npm test", ["shell(npm test *)"]],
    ["git --no-pager log", ["shell(git --no-pager log *)", "shell(git log *)"]],
    ["python3 build.py --fast", ["shell(python3 build.py *)"]],
    ["timeout 5 git push", ["shell(timeout 5 *)", "shell(git push *)"]],
    ["git -C sub log", []],
    ["git log > out.txt", []],
    ["echo $(date)", []],
    ["python3 -c 'print(1)'", []],
  ];
  for (const [command, rules] of rows) {
    it(`are ${rules.join(" and ") || "none"} for ${command}`, () => {
      const reading = readCommand({ shell: command });
      const touched = { ...NOTHING_TOUCHED, ...reading, tool: "shell" };
      assert.deepEqual(toAlwaysRules({ ...touched, redirects: reading.writes }), rules);
    });
  }

  it("are the tool itself for one that runs no commands", () => {
    assert.deepEqual(toAlwaysRules({ ...NOTHING_TOUCHED, tool: "write" }), ["write"]);
  });
});

describe("`always` for a command", () => {
  it("covers commands with the same beginning, and asks about others", async () => {
    using folder = createWorkspaceFolder({});
    const terminal = asking("always");
    const gate = createGate({ ...(await toGateParts(folder.root, [shellTool])), ...terminal });
    const reasons: string[] = [];
    const context = {
      signal: patience(),
      idempotencyKey: "1",
      take: () => {},
      decided: async ({ reason }: { readonly reason: string }) => void reasons.push(reason),
    };
    const asked = async (command: string): Promise<boolean> => {
      const before = terminal.questions.length;
      await gate.call({ name: "shell", arguments: JSON.stringify({ command }) }, context);
      return terminal.questions.length > before;
    };
    assert.equal(await asked("git log -5"), true);
    assert.deepEqual(terminal.questions[0]?.always, ["shell(git log *)"]);
    assert.equal(await asked("git log --stat"), false);
    assert.match(reasons.at(-1) ?? "", /always allows it \(shell\(git log \*\)\)/);
    assert.equal(await asked("git push"), true);
    assert.equal(await asked("git log; git push"), false, "each of them is allowed");
    assert.equal(await asked("git log; rm -rf x"), true);
    assert.equal(await asked("git -C x log"), true);
    assert.equal(await asked("git -C x log"), false, "the very same call");
    assert.equal(await asked("git -C y log"), true);
    assert.equal(await asked("git log > x"), true);
  });
});
