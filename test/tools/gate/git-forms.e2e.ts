/** What a real git does that a tool starts, in a folder with another repository made of plain files. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { shellTool } from "../../../src/tools/commands/shell.ts";
import { parseRule } from "../../../src/tools/gate/rules.ts";
import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import { createWorkspaceFolder, type WorkspaceFolder } from "../workspace-folder.ts";

const RULES = [parseRule("allow", "shell(git *)", "the test")];

const HOOKS = ["pre-receive", "update", "post-receive", "post-update"];

/** A real repository, and in its folder another one as plain files, all of whose programs leave a mark. */
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
    it(`runs nothing of another folder's repository, even when approved: ${command}`, async () => {
      using folder = createRealFolder();
      const parts = { root: folder.root, env: process.env, network: false, hidden: [] };
      const sandbox = await openSandbox("none", parts);
      const { output } = await folder.call(shellTool, { command }, { sandbox });
      assert.match(output, /transport 'file' not allowed/);
      assert.equal(existsSync(folder.mark), false);
    });
  }

  it("opens no editor, which may take what is piped to git for keys", async () => {
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

  it("reaches such a repository where the command says so", async () => {
    using folder = createRealFolder();
    const parts = { root: folder.root, env: process.env, network: false, hidden: [] };
    const sandbox = await openSandbox("none", parts);
    const command = "git -c protocol.file.allow=always ls-remote assets";
    const { output } = await folder.call(shellTool, { command }, { sandbox });
    assert.doesNotMatch(output, /not allowed/);
  });

  it("neither runs a hook nor writes over a link where a rule allows git", async () => {
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
