/** A real git that a tool starts, in a folder with another repository made of plain files. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { shellTool } from "../../../src/tools/commands/shell.ts";
import { terminalTool } from "../../../src/tools/commands/terminal.ts";
import { parseRule } from "../../../src/tools/gate/rules.ts";
import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import { createWorkspaceFolder, type WorkspaceFolder } from "../workspace-folder.ts";

const RULES = [parseRule("allow", "shell(git *)", "the test")];

const HOOKS = ["pre-receive", "update", "post-receive", "post-update"];

/** A real repository, and in its folder another one as plain files whose programs all leave a mark. */
function createRealFolder(): WorkspaceFolder & { readonly mark: string } {
  const folder = createWorkspaceFolder({ f: "1" });
  const { root } = folder;
  const mark = join(root, "ran");
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  git("init", "-q", ".");
  git("add", "f");
  git("-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-qm", "x");
  git("init", "-q", "--bare", "assets");
  for (const hook of HOOKS) {
    folder.write(`assets/hooks/${hook}`, `#!/bin/sh\ntouch '${mark}'\n`);
    chmodSync(join(root, "assets/hooks", hook), 0o755);
  }
  git("--git-dir=assets", "config", "tar.foo.command", `touch '${mark}'; cat`);
  git("--git-dir=assets", "config", "tar.foo.remote", "true");
  git("--git-dir=assets", "config", "core.bare", "false");
  git("--git-dir=assets", "config", "core.worktree", "..");
  git("--git-dir=assets", "config", "core.fsmonitor", `touch '${mark}'; :`);
  return Object.assign(folder, { mark });
}

const hasGit = (() => {
  try {
    return Boolean(execFileSync("git", ["--version"]));
  } catch {
    return false;
  }
})();

describe("git that a tool starts", { skip: hasGit ? false : "no git here" }, () => {
  const transports = [
    "git push assets HEAD:refs/heads/x",
    "git push ./assets HEAD:refs/heads/x",
    'git push "file://$PWD/assets" HEAD:refs/heads/x',
    "git send-pack ./assets HEAD:refs/heads/x",
    "git remote add ev ./assets && git push ev HEAD:refs/heads/x",
    "git archive --remote=assets --format=foo HEAD",
  ];
  for (const command of transports) {
    it(`runs nothing of another folder's repository, even if approved: ${command}`, async () => {
      using folder = createRealFolder();
      const parts = { root: folder.root, env: process.env, network: false, hidden: [] };
      const sandbox = await openSandbox("none", parts);
      const { output } = await folder.call(shellTool, { command }, { sandbox });
      assert.match(output, /transport 'file' not allowed/);
      assert.equal(existsSync(folder.mark), false);
    });
  }

  it("would run a program of such a repository without our variables", () => {
    using folder = createRealFolder();
    execFileSync("git", ["--git-dir=assets", "status"], { cwd: folder.root, stdio: "ignore" });
    assert.equal(existsSync(folder.mark), true);
  });

  const elsewhere: readonly [rule: string, command: string, cwd?: string][] = [
    ["shell(git *)", "git --git-dir=assets status"],
    ["shell(git *)", "git -C assets status"],
    ["terminal(git status)", "git status", "assets"],
    ["shell(git diff *)", "git diff --no-index --output=../outside f assets/HEAD"],
  ];
  for (const [rule, command, cwd] of elsewhere) {
    for (const approve of ["deny", "auto"] as const) {
      const how = approve === "deny" ? `although a rule allows ${rule}` : "even when approved";
      // A file that an approved command writes is written.
      if (approve === "auto" && command.includes("--output")) continue;
      it(`runs and writes nothing elsewhere, ${how}: ${command}`, async () => {
        using folder = createRealFolder();
        const parts = { root: folder.root, env: process.env, network: false, hidden: [] };
        const sandbox = await openSandbox("none", parts);
        const policy = { approve, rules: [parseRule("allow", rule, "the test")] };
        const tool = cwd === undefined ? shellTool : terminalTool;
        const input = { command, ...(cwd === undefined ? {} : { cwd }) };
        const { decisions } = await folder.call(tool, input, { sandbox, policy });
        assert.equal(decisions[0]?.by, "mode", "no rule answers it");
        assert.equal(existsSync(folder.mark), false);
        assert.equal(existsSync(join(folder.root, "../outside")), false);
      });
    }
  }

  it("opens no editor, which may take piped input for keys", async () => {
    using folder = createRealFolder();
    const user = "[user]\n\tname = n\n\temail = e@example.com\n";
    folder.write(".git/config", `${user}[core]\n\teditor = touch '${folder.mark}'; :\n`);
    const parts = { root: folder.root, env: process.env, network: false, hidden: [] };
    const sandbox = await openSandbox("none", parts);
    const command = "git show HEAD:f | git tag -a v1; git var GIT_EDITOR";
    const { output } = await folder.call(shellTool, { command }, { sandbox });
    assert.match(output, /no tag message/);
    assert.equal(existsSync(folder.mark), false);
  });

  it("reaches such a repository if the command says so", async () => {
    using folder = createRealFolder();
    const parts = { root: folder.root, env: process.env, network: false, hidden: [] };
    const sandbox = await openSandbox("none", parts);
    const command = "git -c protocol.file.allow=always ls-remote assets";
    const { output } = await folder.call(shellTool, { command }, { sandbox });
    assert.doesNotMatch(output, /not allowed/);
  });

  it("neither runs a hook nor writes through a link if a rule allows git", async () => {
    using folder = createRealFolder();
    const outside = join(dirname(folder.root), "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(folder.root, "link"));
    const parts = { root: folder.root, env: process.env, network: false, hidden: [] };
    const sandbox = await openSandbox("none", parts);
    const commands = [
      ...transports,
      "git checkout-index --prefix=link/ -a",
      "git bundle create link/x HEAD",
      "git worktree add link/wt",
      "git clone . link/clone",
      "git mv f link/f",
    ];
    for (const command of commands) {
      await folder.call(
        shellTool,
        { command },
        { sandbox, policy: { approve: "deny", rules: RULES } },
      );
    }
    assert.equal(existsSync(folder.mark), false);
    assert.deepEqual(readdirSync(outside), []);
  });
});
