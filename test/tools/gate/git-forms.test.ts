import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { shellTool } from "../../../src/tools/commands/shell.ts";
import { parseRule } from "../../../src/tools/gate/rules.ts";
import { createWorkspaceFolder, type WorkspaceFolder } from "../workspace-folder.ts";

const allowing = (pattern: string) =>
  ({ approve: "deny", rules: [parseRule("allow", `shell(${pattern})`, "the test")] }) as const;

/** A workspace with a repository as plain files, and a link that leads out of it. */
function createHostileFolder(): WorkspaceFolder {
  const folder = createWorkspaceFolder({ "assets/HEAD": "", "docs/a.md": "", f: "" });
  const outside = join(dirname(folder.root), "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(folder.root, "link"));
  symlinkSync(".", join(folder.root, "docs", "here"));
  return folder;
}

async function findDecider(command: string, pattern: string): Promise<string | undefined> {
  using folder = createHostileFolder();
  const { decisions } = await folder.call(shellTool, { command }, { policy: allowing(pattern) });
  return decisions[0]?.by;
}

const KNOWN = [
  "git",
  "git --version",
  "git status --short",
  "git --no-pager log --oneline -5 -- docs/a.md",
  "git diff --stat HEAD~1 @~2 '@{u}'",
  "git show HEAD:docs/a.md",
  "git hash-object -w f",
  "git blame -L 1,5 docs/a.md",
  "git grep -n hi",
  "git rev-parse --git-dir",
  "git add -A",
  "git commit -m 'A message: with/slashes, and ../dots'",
  "git checkout -b topic",
  "git switch main",
  "git restore docs/a.md",
  "git reset --hard HEAD~1",
  "git stash pop",
  "git merge --no-ff topic",
  "git merge -Xours topic",
  "git rebase main",
  "git cherry-pick -x abc",
  "git tag -a v1 -m x",
  "git branch -D topic",
  "git symbolic-ref --short HEAD",
  "git remote",
  "git remote -v",
  "git remote get-url origin",
  "git worktree list",
  "git bisect start HEAD HEAD~1",
  "git config --get user.name",
  "git push",
  "git push origin",
  "git push -u origin HEAD:refs/heads/x --force-with-lease",
  "git push --tags origin docs",
  "git fetch --all --prune",
  "git fetch --depth 1 origin main",
  "git fetch --depth=1 origin main",
  "git pull --rebase origin main",
  "git ls-remote --heads origin",
];

const ASKED = [
  // Another repository's side of the transport, which runs its hooks and obeys its settings.
  "git push assets HEAD:refs/heads/x",
  "git push ./assets HEAD:refs/heads/x",
  "git push --force -- assets main",
  "git push --repo=assets",
  "git push --repo assets",
  "git push --rep assets main",
  "git push .",
  "git push file:///somewhere/assets HEAD:refs/heads/x",
  "git push https://example.com/x main",
  "git push user@example.com:x main",
  "git push --receive-pack=./evil origin",
  "git push --recurse-submodules=on-demand origin",
  "git send-pack ./assets HEAD:refs/heads/x",
  "git fetch assets",
  "git fetch --depth 1 assets",
  "git fetch --upload-pack ./evil origin",
  "git fetch --multiple origin assets",
  "git fetch --recurse-submodules origin",
  "git fetch-pack ./assets HEAD",
  "git pull assets x",
  "git pull --rebase=interactive origin",
  "git ls-remote assets",
  "git clone assets copy",
  "git clone https://example.com/x",
  "git remote add ev ./assets",
  "git remote add ev assets",
  "git remote -v add ev assets",
  "git remote set-url origin assets",
  "git remote update",
  "git submodule add ./assets sub",
  "git submodule update --init",
  "git archive --remote=assets --format=foo HEAD",
  "git archive HEAD",
  "git-receive-pack assets",
  "git-upload-archive assets",
  // Programs that the words name.
  "git merge-index ./evil -a",
  "git x/evil",
  "git merge -s x/evil topic",
  "git merge --strategy=x/evil topic",
  "git merge --strat x/evil topic",
  "git rebase --strategy=x/evil main",
  "git cherry-pick --strategy=x/evil abc",
  "git revert --strategy x/evil abc",
  "git stash show --ext-diff",
  "git range-diff --ext-diff a b c",
  "git help --web log",
  "git bisect run ./evil",
  "git for-each-repo --config=x status",
  "git maintenance start",
  "git credential fill",
  "git credential-store --file x store",
  "git hook run pre-commit",
  "git no-such-command",
  // Files that the words name.
  "git bundle create x HEAD",
  "git worktree add wt",
  "git checkout-index --prefix=x/ -a",
  "git fast-export --export-marks=m HEAD",
  "git fast-import --export-marks=m",
  "git read-tree --index-output=idx HEAD",
  "git mailinfo msg patch",
  "git format-patch HEAD~1",
  "git merge-file a b c",
  "git mv f g",
  "git init sub",
  "git init --bare",
  "git apply --reject p.diff",
  "git apply --unsafe-paths p.diff",
  "git apply --directory=x p.diff",
  "git apply --build-fake-ancestor=x p.diff",
  "git symbolic-ref config refs/heads/x",
  "git show HEAD:f | git hash-object -w --stdin-paths",
  "git bugreport",
  // Ways out of the workspace through a link, even if the path as text stays inside.
  "git add link/x",
  "git checkout -- link/x",
  "git commit -F link/x",
  "git commit -Flink/x",
  "git commit --file=link/x",
  "git commit -qFlink/x",
  "git add link/../x",
  "git add docs/here/../../x",
];

describe("the coverage of a rule that allows git", () => {
  for (const command of KNOWN) {
    it(`covers: ${command}`, async () => {
      assert.equal(await findDecider(command, "git*"), "rule");
    });
  }
  for (const command of ASKED) {
    it(`does not cover: ${command}`, async () => {
      assert.notEqual(await findDecider(command, "git*"), "rule");
    });
  }
  for (const command of [
    "env -i git status",
    "env -u GIT_CONFIG_COUNT git status",
    "env --unset=GIT_CONFIG_COUNT git status",
    "env --ignore-env git status",
    "unset GIT_CONFIG_COUNT; git status",
    "exec -c git status",
    "sudo git status",
  ]) {
    it(`does not cover git without its environment: ${command}`, async () => {
      assert.equal(await findDecider("env LANG=C git status", "*"), "rule");
      assert.notEqual(await findDecider(command, "*"), "rule");
    });
  }

  it("only asks: a rule about other programs does not apply to it", async () => {
    using folder = createHostileFolder();
    const rules = [parseRule("deny", "command(rm *)", "the test")];
    const command = "git clone https://example.com/x";
    const policy = { approve: "auto", rules } as const;
    const { decisions } = await folder.call(shellTool, { command }, { policy });
    assert.equal(decisions[0]?.by, "mode");
  });
});
