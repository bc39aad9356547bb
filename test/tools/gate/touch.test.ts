import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { shellTool } from "../../../src/tools/commands/shell.ts";
import { parseRule } from "../../../src/tools/gate/rules.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("a rule about paths, over the words of a command", () => {
  const rows: readonly [command: string, by: string][] = [
    ["cat secrets/a.txt", "rule"],
    ["cat ./docs/../secrets/a.txt", "rule"],
    ["cat < secrets/a.txt", "rule"],
    ["echo x > secrets/a.txt", "rule"],
    ["cat link/a.txt", "rule"],
    ["cat sec*/a.txt", "rule"],
    ["cd secrets && cat a.txt", "rule"],
    ["cat $PLACE", "rule"],
    ["cat docs/a.txt", "mode"],
    ["git status", "mode"],
  ];
  for (const [command, by] of rows) {
    it(`${by === "rule" ? "refuses" : "lets through"}: ${command}`, async () => {
      using folder = createWorkspaceFolder({ "secrets/a.txt": "a", "docs/a.txt": "b" });
      mkdirSync(join(folder.root, "bin"));
      symlinkSync("secrets", join(folder.root, "link"));
      const rules = [parseRule("deny", "path(secrets/**)", "the test")];
      const policy = { approve: "auto", rules } as const;
      const { decisions } = await folder.call(shellTool, { command }, { policy });
      assert.equal(decisions[0]?.by, by, decisions[0]?.reason);
    });
  }
});
