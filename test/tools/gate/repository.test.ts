import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { terminalTool } from "../../../src/tools/commands/terminal.ts";
import { parseRule } from "../../../src/tools/gate/rules.ts";
import { gitVariables } from "../../../src/tools/sandbox/git-variables.ts";
import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

const ALLOWED = ["git *", "cd *", "env *", "find *", "hg *", "jj *", "svn *", "sudo *"];

describe("a rule that allows git", () => {
  const rows: readonly [input: Readonly<Record<string, string>>, by: string][] = [
    [{ command: "git status" }, "rule"],
    [{ command: "git status", cwd: "." }, "rule"],
    [{ command: "git diff main..topic -- docs/a.md" }, "rule"],
    [{ command: "git log -o" }, "rule"],
    [{ command: "git commit -m 'Fix /x'" }, "rule"],
    [{ command: "cd assets" }, "rule"],
    [{ command: "git -C assets status" }, "mode"],
    [{ command: "git -Cassets status" }, "mode"],
    [{ command: "git --git-dir=assets status" }, "mode"],
    [{ command: "git --git-dir assets status" }, "mode"],
    [{ command: "git --work-tree=assets status" }, "mode"],
    [{ command: "git --bare log" }, "mode"],
    [{ command: "git status", cwd: "assets" }, "mode"],
    [{ command: "cd assets && git status" }, "mode"],
    [{ command: "env -C assets git status" }, "mode"],
    [{ command: "env --chdir=assets git status" }, "mode"],
    [{ command: "sudo -D assets git status" }, "mode"],
    [{ command: "find . -execdir git status ';'" }, "mode"],
    [{ command: "git diff --no-index a b" }, "mode"],
    [{ command: "git diff --output=x" }, "mode"],
    [{ command: "git log --outp x" }, "mode"],
    [{ command: "git archive -o x HEAD" }, "mode"],
    [{ command: "git format-patch -ox HEAD" }, "mode"],
    [{ command: "git diff /etc/passwd /etc/hosts" }, "mode"],
    [{ command: "git checkout-index --prefix=/x/ -a" }, "mode"],
    [{ command: "git worktree add ../x" }, "mode"],
    [{ command: "git clone . ~/x" }, "mode"],
    [{ command: "hg status" }, "mode"],
    [{ command: "jj log" }, "mode"],
    [{ command: "svn import docs file:///x/assets" }, "mode"],
  ];
  for (const [input, by] of rows) {
    const shown = [input["command"], input["cwd"]].join(" in ");
    it(`${by === "rule" ? "allows" : "does not allow"}: ${shown}`, async () => {
      using folder = createWorkspaceFolder({ "assets/HEAD": "" });
      mkdirSync(join(folder.root, "docs"));
      const rules = ALLOWED.map((text) => parseRule("allow", `terminal(${text})`, "the test"));
      const policy = { approve: "deny", rules } as const;
      const { decisions } = await folder.call(terminalTool, input, { policy });
      assert.equal(decisions[0]?.by, by, decisions[0]?.reason);
    });
  }

  it("still refuses git in another folder if a rule denies it", async () => {
    using folder = createWorkspaceFolder({ "assets/HEAD": "" });
    const policy = { approve: "auto", rules: [parseRule("deny", "command(git push *)", "x")] };
    const call = async (command: string) =>
      (await folder.call(terminalTool, { command }, { policy: { ...policy, approve: "auto" } }))
        .decisions[0]?.by;
    assert.equal(await call("git -C assets push"), "rule");
    assert.equal(await call("git -C assets status"), "mode");
  });
});

describe("gitVariables", () => {
  it("switches off what a repository's settings would run", () => {
    assert.deepEqual(gitVariables({}, { hooks: false }), {
      GIT_CONFIG_COUNT: "5",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_VALUE_0: "false",
      GIT_CONFIG_KEY_1: "safe.bareRepository",
      GIT_CONFIG_VALUE_1: "explicit",
      GIT_CONFIG_KEY_2: "protocol.ext.allow",
      GIT_CONFIG_VALUE_2: "never",
      GIT_CONFIG_KEY_3: "core.hooksPath",
      GIT_CONFIG_VALUE_3: "/dev/null",
      GIT_CONFIG_KEY_4: "protocol.file.allow",
      GIT_CONFIG_VALUE_4: "never",
      GIT_EDITOR: ":",
      GIT_SEQUENCE_EDITOR: ":",
    });
  });

  it("follows settings that the user passes on, and keeps hooks if they are enabled", () => {
    const given = { GIT_CONFIG_COUNT: "1", GIT_EDITOR: "mine" };
    const set = gitVariables(given, { hooks: true });
    assert.equal(set["GIT_EDITOR"], "mine");
    assert.equal(set["GIT_CONFIG_COUNT"], "4");
    assert.equal(set["GIT_CONFIG_KEY_1"], "core.fsmonitor");
    assert.ok(!Object.values(set).includes("core.hooksPath"));
  });

  it("is in the environment of every command", async () => {
    using folder = createWorkspaceFolder({});
    const { env } = process;
    const parts = { root: folder.root, env, network: false, hidden: [] };
    const sandbox = await openSandbox("none", parts);
    const { output } = await folder.call(terminalTool, { command: "env" }, { sandbox });
    assert.match(output, /GIT_CONFIG_KEY_0=core\.fsmonitor/);
  });
});
