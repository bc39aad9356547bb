import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { bareRepositoryNames } from "../../../src/tools/sandbox/bare-repository.ts";
import { SANDBOX_LACK, unless } from "../../needs.ts";
import { openTestSandbox, type TestSandbox } from "./test-sandbox.ts";

const held = unless(SANDBOX_LACK);

const PARTS = [
  ...["HEAD", "config", "config.worktree", "commondir", "hooks", "info"],
  ...["objects", "packed-refs", "refs"],
];

/** A repository as plain files, whose settings name a program. */
const PLANT = [
  "mkdir -p objects refs hooks common/objects common/refs",
  "echo 'ref: refs/heads/main' > HEAD",
  "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = touch ran\\n' > config",
  "echo end",
].join("\n");

const open = async (files: Readonly<Record<string, string>> = {}): Promise<TestSandbox> => {
  let root = "";
  const place = await openTestSandbox("sandbox", files, {
    findReadOnly: () => bareRepositoryNames(root),
  });
  ({ root } = place);
  return place;
};

describe("a bare repository at the top of the workspace", () => {
  it(
    ...held("cannot be made by a command, so the user's next git runs nothing of it"),
    async () => {
      await using place = await open();
      const { stdout } = await place.sh(PLANT);
      assert.equal(stdout, "end\n");
      assert.ok(!existsSync(join(place.root, "HEAD")));
      tryGit(place.root);
      assert.ok(!existsSync(join(place.root, "ran")));
    },
  );

  it(...held("cannot be made while a command runs either"), async () => {
    await using place = await open();
    const running = await place.sandbox.start({
      argv: ["/bin/sh", "-c", `${PLANT}; cat`],
      cwd: place.root,
    });
    try {
      for await (const bytes of running.stdout) if (bytes.includes("end")) break;
      tryGit(place.root);
      assert.ok(!existsSync(join(place.root, "ran")));
    } finally {
      await running.kill();
    }
  });

  it(...held("that is there can be read and not changed"), async () => {
    await using place = await open({ "root/seen.txt": "seen" });
    execFileSync("git", ["init", "-q", "--bare", "."], { cwd: place.root });
    const before = readFileSync(join(place.root, "config"), "utf8");
    const { stdout } = await place.sh(
      "cat seen.txt; cat HEAD > /dev/null && echo read; echo x >> config; rm -rf hooks; echo x > commondir; mv objects o; echo end",
    );
    assert.equal(stdout, "seenread\nend\n");
    assert.equal(readFileSync(join(place.root, "config"), "utf8"), before);
    assert.ok(existsSync(join(place.root, "hooks")) && !existsSync(join(place.root, "commondir")));
  });

  it(...held("is not looked for beside `.git`, which git takes first"), async () => {
    await using place = await open();
    execFileSync("git", ["init", "-q"], { cwd: place.root });
    assert.deepEqual(bareRepositoryNames(place.root), []);
    const { stdout } = await place.sh("mkdir objects refs config && echo made");
    assert.equal(stdout, "made\n");
  });

  const rows: readonly [why: string, files: Record<string, string>, names: readonly string[]][] = [
    ["an empty folder", {}, ["HEAD"]],
    ["an empty `.git`", { ".git/.offshoot-cover-1/x": "" }, ["HEAD"]],
    ["a worktree's `.git` file", { ".git": "gitdir: elsewhere" }, []],
    ["a file called HEAD that is not a branch", { HEAD: "Some words." }, ["HEAD"]],
    ["a branch", { HEAD: "ref: refs/heads/main\n" }, PARTS],
    ["a commit", { HEAD: `${"0".repeat(40)}\n` }, PARTS],
  ];
  for (const [why, files, names] of rows) {
    it(`is guarded by name where there is ${why}`, async () => {
      await using place = await openTestSandbox("none");
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(place.root, path)), { recursive: true });
        writeFileSync(join(place.root, path), content);
      }
      assert.deepEqual(bareRepositoryNames(place.root), names);
    });
  }
});

/** Like a user would; it may find no repository. */
function tryGit(cwd: string): void {
  try {
    execFileSync("git", ["status"], { cwd, stdio: "ignore" });
  } catch {
    // Not a repository.
  }
}
