/** What a sandboxed command sees of hidden and read-only files, shown by running commands. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createCoverSearch } from "../../../src/tools/sandbox/covers.ts";
import type { Weigh } from "../../../src/tools/sandbox/holder.ts";
import { runCommand } from "../../../src/tools/sandbox/run-command.ts";
import { SANDBOX_LACK, unless } from "../../needs.ts";
import { patience } from "../../patience.ts";
import { openTestSandbox, RUN_OPTIONS, type TestSandbox } from "./test-sandbox.ts";

const held = unless(SANDBOX_LACK);
const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const isReadOnly: Weigh = (path) => nameOf(path) === ".git";
const isHidden: Weigh = (path, kind) =>
  kind === "file" ? nameOf(path) === ".env" : nameOf(path) === ".ssh";
const isHiddenByPath: Weigh = (path, kind) =>
  path.startsWith("conf/secrets/") ||
  /(?:^|\/)\.config\/gh(?:\/|$)/.test(path) ||
  isHidden(path, kind);
const RULES = { hidden: [".offshoot"], readOnly: [".git"], isHidden, isReadOnly };

describe("what is hidden in the sandbox", () => {
  it(...held("is hidden at any depth, and what is fixed stays as it is"), async () => {
    const files = {
      "root/.env": "secret",
      "root/a/b/.env": "secret",
      "root/a/.ssh/id": "secret",
      "root/a/.git/config": "before",
      "root/a/plain": "plain",
    };
    await using place = await openTestSandbox("sandbox", files, RULES);
    const { stdout } = await place.sh(
      "cat .e?v a/*/.env a/.ssh/* a/plain a/.git/config; echo after > a/.git/config; rm -rf a/.git",
    );
    assert.equal(stdout, "plainbefore");
    for (const [path, content] of Object.entries(files)) {
      assert.equal(readFileSync(join(place.outer, path), "utf8"), content, path);
    }
  });

  it(
    ...held("stays where it is with all folders above it, by whatever name it is known"),
    async () => {
      const files = {
        "root/conf/secrets/key": "secret",
        "root/a/b/.env": "secret",
        "root/app/.config/gh/token": "secret",
        "root/lib/sub/.git": "gitdir: elsewhere",
      };
      const parts = { ...RULES, isHidden: isHiddenByPath };
      await using place = await openTestSandbox("sandbox", files, parts);
      for (const folder of ["conf", "a", "a/b", "app", "app/.config", "lib", "lib/sub"]) {
        const { exitCode } = await place.sh(`mv -T ${folder} ${folder}-moved`);
        assert.notEqual(exitCode, 0, folder);
      }
      const { stdout } = await place.sh(
        "rm -rf conf a app lib 2> /dev/null; grep -rs secret .; echo end",
      );
      assert.equal(stdout, "end\n");
      for (const [path, content] of Object.entries(files)) {
        assert.equal(readFileSync(join(place.outer, path), "utf8"), content, path);
      }
    },
  );

  it(...held("leaves the folders above it to work in"), async () => {
    const files = { "root/a/b/.env": "secret", "root/a/b/old": "old", "root/a/c/x": "x" };
    await using place = await openTestSandbox("sandbox", files, RULES);
    const { stdout, stderr } = await place.sh(
      "set -e; echo new > a/b/new; mv a/b/old a/b/kept; mv a/b/kept a/kept; mv a/c a/d; mv a/d e; rm a/b/new; mkdir a/b/f; ls . a a/b e",
    );
    assert.equal(stderr, "");
    assert.equal(stdout, ".:\na\ne\n\na:\nb\nkept\n\na/b:\nf\n\ne:\nx\n");
  });

  it(...held("is hidden through a link, and where the link leads"), async () => {
    await using place = await openTestSandbox("sandbox", { "root/real": "secret" }, RULES);
    symlinkSync("real", join(place.root, ".env"));
    symlinkSync("loop", join(place.root, "loop"));
    mkdirSync(join(place.root, "sub"));
    symlinkSync("nowhere", join(place.root, "sub/.env"));
    assert.equal((await place.sh("cat .env real; echo end")).stdout, "end\n");
  });

  it(...held("does not trip over a link into a folder that is hidden itself"), async () => {
    await using place = await openTestSandbox("sandbox", { "root/.ssh/env": "secret" }, RULES);
    mkdirSync(join(place.root, "sub"));
    symlinkSync("../.ssh/env", join(place.root, "sub/.env"));
    assert.equal((await place.sh("cat sub/.env .ssh/env; echo end")).stdout, "end\n");
  });

  it("is a folder as a whole where every name in it is", async () => {
    const isBelow: Weigh = (path) => path.startsWith("data/");
    await using place = await openTestSandbox("none", { "root/data/x": "secret" });
    const find = createCoverSearch({ root: place.root, hidden: [], isHidden: isBelow });
    const path = join(place.root, "data");
    assert.deepEqual(await find(), { hidden: [{ path, isFolder: true }], readOnly: [] });
  });
});

describe("what is missing in the sandbox", () => {
  it(...held("cannot be created where it is protected, and leaves nothing"), async () => {
    await using place = await openTestSandbox("sandbox", {}, RULES);
    const { stdout } = await place.sh(
      "mkdir -p .offshoot .git/hooks; echo x > .offshoot/config.yaml; echo x > .git/config; rmdir .git; mv .git g; git init -q; cat .git/* .offshoot/*; echo end",
    );
    assert.equal(stdout, "end\n");
    assert.deepEqual(readdirSync(place.root), []);
  });

  it(...held("stays covered while another command ends"), async () => {
    await using place = await openTestSandbox("sandbox", {}, RULES);
    const running = await place.sandbox.start({
      argv: ["/bin/sh", "-c", "read line; mkdir -p .git/hooks && echo made; echo end"],
      cwd: place.root,
    });
    try {
      await Promise.all([place.sh("true"), place.sh("true")]);
      assert.deepEqual(readdirSync(place.root).sort(), [".git", ".offshoot"]);
      running.stdin.end("go\n");
      assert.equal(await textOf(running.stdout), "end\n");
    } finally {
      await running.kill();
    }
    assert.deepEqual(readdirSync(place.root), []);
  });

  it(...held("is cleared of what a crashed process left"), async () => {
    await using place = await openTestSandbox("sandbox", {}, RULES);
    const dead = execFileSync("/bin/sh", ["-c", "echo $$"], { encoding: "utf8" }).trim();
    mkdirSync(join(place.root, ".git"));
    writeFileSync(join(place.root, ".git", `.offshoot-cover-${dead}-0`), "");
    await place.sh("true");
    assert.deepEqual(readdirSync(place.root), []);
  });

  it(...held("is left alone if another process created it meanwhile"), async () => {
    await using place = await openTestSandbox("sandbox", {}, RULES);
    const running = await place.sandbox.start({ argv: ["cat"], cwd: place.root });
    writeFileSync(join(place.root, ".git", "HEAD"), "head");
    await running.kill();
    assert.deepEqual(readdirSync(join(place.root, ".git")), ["HEAD"]);
    assert.equal((await place.sh("cat .git/HEAD; echo x > .git/HEAD")).stdout, "head");
  });

  it(...held("is not held where a link stands in its place"), async () => {
    await using place = await openTestSandbox("sandbox", {}, RULES);
    const home = join(place.outer, "home");
    symlinkSync(home, join(place.root, ".git"));
    const running = await place.sandbox.start({ argv: ["cat"], cwd: place.root });
    const held = readdirSync(home);
    await running.kill();
    assert.deepEqual(held, []);
  });

  it(...held("is given back when the command cannot be started"), async () => {
    await using place = await openTestSandbox("sandbox", {}, RULES);
    await assert.rejects(place.sandbox.start({ argv: ["cat"], cwd: join(place.root, "no") }));
    assert.deepEqual(readdirSync(place.root), []);
  });
});

describe("createCoverSearch", () => {
  it("sees what changes between two walks, however fast", async () => {
    await using place = await openTestSandbox("none", { "root/a/x": "" });
    const { root } = place;
    const find = createCoverSearch({ root, hidden: [], isHidden });
    for (let round = 0; round < 20; round++) {
      writeFileSync(join(root, "a/.env"), "");
      assert.equal((await find()).hidden[0]?.path, join(root, "a/.env"));
      renameSync(join(root, "a/.env"), join(root, "a/x"));
      assert.deepEqual((await find()).hidden, []);
    }
  });

  it("refuses folders whose names cannot be read", async () => {
    await using place = await openTestSandbox("none");
    execFileSync("/bin/sh", ["-c", "mkdir \"$(printf 'a\\377')\""], { cwd: place.root });
    const find = createCoverSearch({ root: place.root, hidden: [], isHidden });
    await assert.rejects(find(), { code: "forbidden", message: /its name is not Unicode/ });
  });

  it("refuses more folders above covered files than can be held in place", async () => {
    await using place = await openTestSandbox("none");
    for (let at = 0; at <= 250; at++) {
      mkdirSync(join(place.root, `${at}/b/c/d`), { recursive: true });
      writeFileSync(join(place.root, `${at}/b/c/d/.env`), "");
    }
    const find = createCoverSearch({ root: place.root, hidden: [], isHidden });
    await assert.rejects(find(), { code: "forbidden", message: /more than 1000 folders/ });
  });

  it("refuses more than can be covered", async () => {
    await using place = await openTestSandbox("none");
    for (let at = 0; at <= 1000; at++) writeFileSync(join(place.root, `${at}.x`), "");
    const find = createCoverSearch({
      root: place.root,
      hidden: [],
      isHidden: (path) => path.endsWith(".x"),
    });
    await assert.rejects(find(), { code: "forbidden", message: /more than 1000 files to cover/ });
  });
});

describe("a program that is named by its path", () => {
  const files = {
    "victim/bin/tool": '#!/bin/sh\ncat "$@"\n',
    "victim/.env": "secret",
    "victim/lib/key": "secret",
    "root/own": '#!/bin/sh\ncat "$@"\n',
  };
  const run = async (place: TestSandbox, program: string): Promise<string> => {
    const words = [join(place.outer, "victim/.env"), join(place.outer, "victim/lib/key")];
    const ran = await runCommand(
      place.sandbox,
      { argv: [program, ...words], cwd: place.root },
      { ...RUN_OPTIONS, signal: patience() },
    );
    return ran.stdout;
  };

  it(...held("is refused outside the workspace, and its folder is not shown"), async () => {
    await using place = await openTestSandbox("sandbox", files, RULES);
    const tool = join(place.outer, "victim/bin/tool");
    chmodSync(tool, 0o755);
    symlinkSync(tool, join(place.root, "link"));
    const refused = { code: "forbidden", message: /is outside the workspace/ };
    for (const program of [tool, "../victim/bin/tool", "./link"]) {
      await assert.rejects(run(place, program), refused);
    }
    assert.deepEqual(readdirSync(place.root).sort(), ["link", "own"]);
  });

  it(...held("runs inside the workspace"), async () => {
    await using place = await openTestSandbox("sandbox", files);
    chmodSync(join(place.root, "own"), 0o755);
    assert.equal(await run(place, "./own"), "");
    assert.equal((await place.sh("./own own")).stdout, files["root/own"]);
  });

  it(...held("shows no more than its file where a link on the path leads to it"), async () => {
    const home = { "home/bin/.keep": "", ...files };
    await using place = await openTestSandbox("none", home);
    const bin = join(place.outer, "home/bin");
    const { root, outer } = place;
    chmodSync(join(outer, "victim/bin/tool"), 0o755);
    symlinkSync(join(outer, "victim/bin/tool"), join(bin, "thing"));
    const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: join(outer, "home") };
    await using held = await openTestSandbox("sandbox", {}, { root, env });
    assert.equal(await run({ ...held, outer, root }, "thing"), "");
  });
});

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
