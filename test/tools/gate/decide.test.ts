import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decide } from "../../../src/tools/gate/decide.ts";
import { readCommand } from "../../../src/tools/gate/read-command.ts";
import { NOTHING_TOUCHED, parseRule } from "../../../src/tools/gate/rules.ts";

describe("the reason of a refusal", () => {
  const rows: readonly [shell: string, rule: string, reason: string][] = [
    [
      "echo $HOME",
      "command(rm *)",
      "`$HOME` cannot be read in advance, so the rule `deny command(rm *)` (--deny) applies",
    ],
    [
      "ls *.ts $X",
      "shell(rm *)",
      "`$X` cannot be read in advance, so the rule `deny shell(rm *)` (--deny) applies",
    ],
    ["rm $HOME", "command(rm *)", "the rule `deny command(rm *)` (--deny) refuses it"],
    ["rm a", "command(rm *)", "the rule `deny command(rm *)` (--deny) refuses it"],
    ["echo $HOME", "shell", "the rule `deny shell` (--deny) refuses it"],
  ];
  for (const [shell, text, reason] of rows) {
    it(`of \`${shell}\` by \`${text}\` says why the rule applies`, () => {
      const call = {
        ...NOTHING_TOUCHED,
        ...readCommand({ shell }),
        tool: "shell",
        ...({ effect: "execute", level: "none", isChanged: false } as const),
        sensitive: undefined,
        costly: undefined,
      };
      const rules = [parseRule("deny", text, "--deny")];
      const found = decide(call, { approve: "ask", rules });
      assert.deepEqual([found.verdict, found.reason], ["deny", reason]);
    });
  }
});
