import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isOwnerGone, ownerMark } from "../../../src/tools/sandbox/marker-owner.ts";
import { clearPlaces, holdPlace } from "../../../src/tools/sandbox/placeholder.ts";
import { SANDBOX_LACK, unless } from "../../needs.ts";
import { openTestSandbox } from "./test-sandbox.ts";

const inSandbox = unless(SANDBOX_LACK);

const RULES = { hidden: [".offshoot"], readOnly: [".git", ".hg", ".jj"] };
const HOUR_MS = 60 * 60 * 1000;

describe("a placeholder of the sandbox", () => {
  it(...inSandbox("is nothing that git stages while a command runs"), async () => {
    await using place = await openTestSandbox("sandbox", { "root/own.txt": "own" }, RULES);
    const git = (...words: string[]): string =>
      execFileSync("git", words, { cwd: place.root, encoding: "utf8" });
    git("init", "-q");
    const running = await place.sandbox.start({ argv: ["cat"], cwd: place.root });
    try {
      assert.ok(existsSync(join(place.root, ".hg")));
      git("add", "-A");
      assert.equal(git("ls-files"), "own.txt\n");
    } finally {
      await running.kill();
    }
  });

  it(...inSandbox("of a crashed process is removed when the next sandbox is opened"), async () => {
    await using outer = await openTestSandbox("none");
    const { root } = outer;
    for (const name of [".hg", ".jj", ".offshoot"]) {
      mkdirSync(join(root, name, `.offshoot-cover-${ownerOfTheDead()}-1`), { recursive: true });
    }
    // In the form of older versions.
    writeFileSync(join(root, ".hg", ".offshoot-cover-999999999-0"), "");
    const { openSandbox } = await import("../../../src/tools/sandbox/open-sandbox.ts");
    const env = { PATH: process.env["PATH"], HOME: join(outer.outer, "home") };
    const sandbox = await openSandbox("sandbox", { root, env, network: false, ...RULES });
    assert.deepEqual(readdirSync(root), []);
    await sandbox.close();
  });

  it(
    ...inSandbox(
      "stays where it is in use, is a person's own, or belongs to a process that cannot be asked",
    ),
    async () => {
      await using place = await openTestSandbox("none");
      const at = (name: string): string => join(place.root, name);
      const held = await holdPlace(at(".git"));
      mkdirSync(at(".hg/store"), { recursive: true });
      mkdirSync(at(".empty"));
      mkdirSync(at(".jj/.offshoot-cover-elsewhere4026-1-1-0"), { recursive: true });
      await clearPlaces([".git", ".hg", ".jj", ".empty", ".missing"].map(at));
      assert.deepEqual(readdirSync(place.root).sort(), [".empty", ".git", ".hg", ".jj"]);
      const long = new Date(Date.now() - 25 * HOUR_MS);
      utimesSync(at(".jj/.offshoot-cover-elsewhere4026-1-1-0"), long, long);
      await clearPlaces([at(".jj")]);
      await held?.release();
      assert.deepEqual(readdirSync(place.root).sort(), [".empty", ".hg"]);
    },
  );
});

describe("the owner of a marker", () => {
  it("is here while this process runs, and gone if its number is another's", () => {
    const [space, pid] = ownerMark().split("-");
    assert.equal(isOwnerGone(`${ownerMark()}-0`, 0), false);
    assert.equal(isOwnerGone(`${space}-${pid}-1-0`, 0), true);
  });

  it("in another namespace is assumed to run for a day, whatever its number means here", () => {
    const mark = `other-${process.pid}-1-0`;
    assert.equal(isOwnerGone(mark, 1000, 1000 + 23 * HOUR_MS), false);
    assert.equal(isOwnerGone(mark, 1000, 1000 + 25 * HOUR_MS), true);
  });
});

function ownerOfTheDead(): string {
  const [space] = ownerMark().split("-");
  return `${space}-${execFileSync("/bin/sh", ["-c", "echo $$"], { encoding: "utf8" }).trim()}-1`;
}
