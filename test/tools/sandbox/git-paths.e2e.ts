/** What git obeys outside of `.git`, shown by commands that try to change it and the user's git after them. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gitCovers } from "../../../src/runtime/sandbox-covers.ts";
import { parseGitConfig } from "../../../src/tools/sandbox/git-config.ts";
import { parseSubmodules } from "../../../src/tools/sandbox/git-index.ts";
import { findGitPaths } from "../../../src/tools/sandbox/git-paths.ts";
import { LINUX_LACK, SANDBOX_LACK, unless } from "../../needs.ts";
import { openTestSandbox, type TestSandbox } from "./test-sandbox.ts";

const held = unless(SANDBOX_LACK);

/** A git that knows its user, and accepts submodules from this machine. */
function asUser({ root, outer }: TestSandbox, script: string): void {
  const words = ["-ec", `g() { git -c protocol.file.allow=always "$@"; }; ${script}`];
  const user = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a" };
  const env = { PATH: process.env["PATH"], HOME: join(outer, "home"), ...user };
  execFileSync("/bin/sh", words, {
    cwd: root,
    env: { ...env, GIT_COMMITTER_EMAIL: "a@b" },
    stdio: "ignore",
  });
}

async function open(setup: string): Promise<TestSandbox> {
  let covers: ReturnType<typeof gitCovers> | undefined;
  const place = await openTestSandbox(
    "sandbox",
    {},
    {
      readOnly: [".git"],
      isReadOnly: (path) => path.split("/").at(-1) === ".git",
      findReadOnly: () => covers?.findReadOnly() ?? [],
      leadsTo: (path) => covers?.leadsTo(path) ?? [],
    },
  );
  covers = gitCovers(place.root, { HOME: join(place.outer, "home") });
  asUser(place, setup);
  return place;
}

/** `$RAN` is a file that only a program of the attacker would create. */
const PLANT = (file: string): string =>
  `printf '[core]\\n\\tfsmonitor = "touch %s; false"\\n' "$RAN" >> ${file}`;
const HOOK = (file: string): string =>
  `mkdir -p $(dirname ${file}); printf '#!/bin/sh\\ntouch %s\\n' "$RAN" > ${file}; chmod +x ${file}`;
const LIBRARY =
  "git init -q ../lib; (cd ../lib; echo x > x; git add x; git commit -qm x); git init -q .; g submodule --quiet add ../lib libs/sub; git commit -qm x";

const ROWS: readonly [why: string, setup: string, attack: string][] = [
  [
    "the repository that a `.git` file leads to",
    "git init -q --bare .bare; echo 'gitdir: ./.bare' > .git; git config core.bare false",
    PLANT(".bare/config"),
  ],
  [
    "a git folder of its own",
    "git init -q --separate-git-dir=store.git .",
    PLANT("store.git/config"),
  ],
  [
    "a file of settings that is included",
    "git init -q .; git config include.path ../.gitconfig; touch .gitconfig",
    PLANT(".gitconfig"),
  ],
  [
    "a file that another included file includes",
    "git init -q .; git config include.path ../one; git config -f one includeIf.onbranch:x.path two; touch two; git checkout -q -b x",
    PLANT("two"),
  ],
  [
    "a folder of hooks",
    "git init -q .; mkdir .hooks; touch .hooks/read-me; git config core.hooksPath .hooks",
    HOOK(".hooks/pre-commit"),
  ],
  [
    "a folder of hooks that is missing",
    "git init -q .; git config core.hooksPath tools/git/hooks",
    HOOK("tools/git/hooks/pre-commit"),
  ],
  [
    "hooks that the user's own settings name",
    "git init -q .; git config --global core.hooksPath .githooks",
    HOOK(".githooks/pre-commit"),
  ],
  [
    "the files that Husky's hooks run",
    'git init -q .; mkdir -p .husky/_; echo \'. "$(dirname "$0")/../pre-commit"\' > .husky/_/pre-commit; chmod +x .husky/_/pre-commit; echo true > .husky/pre-commit; git config core.hooksPath .husky/_',
    HOOK(".husky/pre-commit"),
  ],
  [
    "a program that a setting names",
    "git init -q .; mkdir tools; echo true > tools/monitor; chmod +x tools/monitor; git config core.fsmonitor tools/monitor",
    HOOK("tools/monitor"),
  ],
  [
    "the place of a submodule that is not there yet",
    `${LIBRARY}; git submodule deinit -q --all; rm -rf .git/modules`,
    `git init -q libs/sub; ${PLANT("libs/sub/.git/config")}`,
  ],
  [
    "the folder of a submodule that was removed",
    `${LIBRARY}; rm -rf libs`,
    `git init -q libs/sub; ${PLANT("libs/sub/.git/config")}`,
  ],
  [
    "a submodule in the folder above",
    LIBRARY,
    `mv libs old; git init -q libs/sub; ${PLANT("libs/sub/.git/config")}`,
  ],
  [
    "the repository of a folder further down",
    "mkdir -p deep/er; cd deep/er; git init -q --bare ../.bare; echo 'gitdir: ../.bare' > .git; git config core.bare false",
    PLANT("deep/.bare/config"),
  ],
];

describe("what git obeys outside of `.git`", () => {
  for (const [why, setup, attack] of ROWS) {
    it(...held(`cannot be changed by a command: ${why}`), async () => {
      await using place = await open(setup);
      const ran = join(place.outer, "ran");
      const before = readdirSync(place.root);
      await place.sh(`RAN=${ran}; ${attack}; echo end`);
      assert.deepEqual(readdirSync(place.root), before);
      asUser(
        place,
        "for at in . deep/er; do (cd $at && git status && git commit --allow-empty -m x) || true; done",
      );
      assert.equal(existsSync(ran), false);
    });
  }

  it(...held("leaves the rest of the workspace to commands"), async () => {
    await using place = await open(`${LIBRARY}; git config core.hooksPath .hooks; mkdir .hooks`);
    const { stdout, stderr } = await place.sh(
      "set -e; echo a > a; echo y > libs/sub/x; mkdir libs/c; git status --short; git log --oneline | wc -l",
    );
    assert.equal(stderr, "");
    assert.match(stdout, /\?\? a\n.*\b1\n$/s);
  });

  it(
    ...held("leaves nothing where it was missing, whichever process ends last or has crashed"),
    async () => {
      await using place = await open("git init -q .; git config core.hooksPath tools/git/hooks");
      const first = await place.sandbox.start({ argv: ["cat"], cwd: place.root });
      const second = await place.sandbox.start({ argv: ["cat"], cwd: place.root });
      assert.deepEqual(readdirSync(place.root), [".git", "tools"]);
      await first.kill();
      const { stdout } = await place.sh("mkdir -p tools/git/hooks 2> /dev/null; ls -A tools");
      assert.equal(stdout, "");
      await second.kill();
      assert.deepEqual(readdirSync(place.root), [".git"]);
      asUser(place, "mkdir -p tools/.offshoot-cover-$(sh -c 'echo $$')-0");
      await place.sh("true");
      assert.deepEqual(readdirSync(place.root), [".git"]);
    },
  );

  it(...held("says what to do where it cannot be kept from commands"), async () => {
    await using place = await open("git init -q .; git config include.path ../missing");
    const refused = { code: "forbidden", message: /include `missing`, which is not a file/ };
    await assert.rejects(place.sh("true"), refused);
    asUser(place, "touch missing; mv .git ../moved; ln -s ../moved .git");
    const link = { code: "forbidden", message: /`\.git` is a symbolic link/ };
    await assert.rejects(place.sh("true"), link);
  });

  it(...unless(LINUX_LACK)("is not waited for where a command put a pipe there"), async () => {
    await using place = await openTestSandbox("none");
    asUser(place, "git init -q .; git config include.path ../pipe; mkfifo pipe; mv .git/config c");
    asUser(place, "mkfifo .git/config");
    assert.deepEqual(findGitPaths(place.root, {}), []);
  });
});

describe("git's own files", () => {
  it("are read like by git: settings", () => {
    const text = `; said\n[Core] hooksPath = "a b" # said\n[include "x"]\n[includeIf "gitdir:~/w/"]\n\tpath = one\\\ntwo\n\tbare\n[filter "L.x"]\nClean=a \\"b\\"\n`;
    assert.deepEqual(parseGitConfig(text), [
      { key: "core.hookspath", value: "a b" },
      { key: "includeif.gitdir:~/w/.path", value: "onetwo" },
      { key: "filter.L.x.clean", value: 'a "b"' },
    ]);
  });

  for (const version of [2, 3, 4]) {
    it(`are read like by git: an index of version ${version}`, async () => {
      await using place = await openTestSandbox("none");
      const more = version === 3 ? "echo x > later; git add -N later" : "true";
      asUser(
        place,
        `${LIBRARY}; touch libs/a libs/z; git add libs; ${more}; git update-index --index-version ${version}`,
      );
      const index = readFileSync(join(place.root, ".git/index"));
      assert.equal(index.readUInt32BE(4), version);
      assert.deepEqual(parseSubmodules(index, 20), ["libs/sub"]);
      assert.deepEqual(parseSubmodules(index.subarray(0, 100), 20), []);
    });
  }
});
