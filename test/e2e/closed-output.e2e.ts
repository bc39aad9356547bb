/** The built command with a standard output that is closed, and with outputs that only look closed. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { CLI, createPlace, type Place } from "./command.ts";

interface Ran {
  readonly status: number | null;
  readonly stderr: string;
}

/** `$NODE` and `$CLI` are the command. The second line keeps the shell from becoming the command. */
function runInShell({ cwd, home }: Place, line: string): Ran {
  const env = { PATH: process.env["PATH"], HOME: home, OFFSHOOT_PROBE_LOCAL: "false" };
  const command = { ...env, CLI, NODE: process.execPath };
  return spawnSync("/bin/sh", ["-c", `${line}\nexit $?`], { cwd, env: command, encoding: "utf8" });
}

const RUN = '"$NODE" "$CLI" run -q -m embedded --approve auto';

describe("the command with a closed standard output", {
  skip: process.platform !== "linux",
}, () => {
  const lines = [
    `${RUN} "write 'x' to a.txt" >&-`,
    `exec >&-\n${RUN} "write 'x' to a.txt"`,
    `(${RUN} "write 'x' to a.txt" >&-) | cat`,
    `env ${RUN} "write 'x' to a.txt" >&-`,
  ];
  for (const line of lines) {
    it(`does nothing and reports it: ${line.split("\n").join("; ")}`, async () => {
      await using place = await createPlace();
      const { status, stderr } = runInShell(place, line);
      assert.equal(stderr, `offshoot: ${CLOSED}\n`);
      if (!line.includes("| cat")) assert.equal(status, 1);
      await assert.rejects(readFile(join(place.cwd, "a.txt")));
    });
  }
});

const CLOSED =
  "Standard output is closed, so there is nowhere to write the answer. Use >/dev/null to drop it.";

describe("the command whose output is dropped", () => {
  const lines = [
    `${RUN} "write 'x' to a.txt" >/dev/null`,
    `exec >/dev/null\n${RUN} "write 'x' to a.txt"`,
    `exec 1<>/dev/null\n${RUN} "write 'x' to a.txt"`,
  ];
  for (const line of lines) {
    it(`continues: ${line.split("\n").join("; ")}`, async () => {
      await using place = await createPlace();
      assert.deepEqual(pick(runInShell(place, line)), { status: 0, stderr: "" });
      assert.equal(await readFile(join(place.cwd, "a.txt"), "utf8"), "x");
    });
  }

  it("continues for a program that ignores it", async () => {
    await using place = await createPlace();
    const { cwd, home } = place;
    const env = { PATH: process.env["PATH"], HOME: home, OFFSHOOT_PROBE_LOCAL: "false" };
    const args = ["run", "-q", "-m", "embedded", "--approve", "auto", "write 'x' to a.txt"];
    const stdio = ["ignore", "ignore", "pipe"] as const;
    const ran = spawnSync(process.execPath, [CLI, ...args], {
      cwd,
      env,
      stdio: [...stdio],
      encoding: "utf8",
    });
    assert.deepEqual(pick(ran), { status: 0, stderr: "" });
  });
});

function pick({ status, stderr }: Ran): Ran {
  return { status, stderr };
}
