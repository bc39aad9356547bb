/** Python that starts from a snapshot: as fast as it should be, and as limited as one that starts by itself. */

import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { SANDBOX_LACK, unless } from "../needs.ts";
import { openPythonRun, type PythonRun } from "../tools/python/python-run.ts";
import { FORGED_REPLIES, forge, REACH, REALM_ATTACKS } from "../tools/python/realm-attacks.ts";
import { CLI } from "./command.ts";

/** The program in the form in which it is bundled with the command. */
const workerPath = join(dirname(CLI), "python-worker.js");

const folder = mkdtempSync(join(tmpdir(), "offshoot-snapshots-"));
after(() => rm(folder, { recursive: true }));

describe("the realm around Python, from a snapshot", () => {
  let python: PythonRun;
  before(async () => {
    python = await openPythonRun({ workerPath, snapshots: folder });
    await python.run("1");
    assert.equal((await readdir(folder)).length, 1);
  });
  after(() => python[Symbol.asyncDispose]());

  for (const [attack, code] of REALM_ATTACKS) {
    it(`gives nothing away if the code ${attack}`, async () => {
      const { stderr, result } = await python.run(REACH + code);
      assert.equal(result ?? stderr, "[]");
      assert.equal((await python.run("got")).result, "[]");
    });
  }

  for (const [reply, expression] of FORGED_REPLIES) {
    it(`does not take ${reply} for a reply`, async () => {
      const code = REACH + forge(expression);
      await assert.rejects(python.run(code), /^Failure: Execution failed: no reply\./);
      assert.equal((await python.run("1 + 1")).result, "2");
    });
  }
});

describe("a snapshot of Python", () => {
  it("is made once, and others start from it with random numbers of their own", async () => {
    const draw = "import random\nrandom.random()";
    const drawn = new Set<unknown>();
    for (const level of ["none", "none", "process"] as const) {
      await using python = await openPythonRun({ level, workerPath, snapshots: folder });
      drawn.add((await python.run(draw)).result);
      const [file, ...others] = await readdir(folder);
      assert.match(file ?? "", /^python-[\w.-]+\.bin$/);
      assert.deepEqual(others, []);
    }
    assert.equal(drawn.size, 3);
  });

  it(...unless(SANDBOX_LACK)("is read in a sandbox, too"), async () => {
    await using python = await openPythonRun({ level: "sandbox", workerPath, snapshots: folder });
    assert.equal((await python.run("6 * 7")).result, "42");
  });

  it("shows no data of another", async () => {
    for (const _ of [1, 2]) {
      await using python = await openPythonRun({ snapshots: folder });
      const code = "import json\nbefore = getattr(json, 'mark', None)\njson.mark = 1\nbefore";
      assert.equal((await python.run(code)).result, null);
    }
  });

  it("that is broken, or cannot be stored, is ignored", async () => {
    const [file = ""] = await readdir(folder);
    await writeFile(join(folder, file), "no snapshot");
    for (const snapshots of [folder, join(folder, file, "below")]) {
      await using python = await openPythonRun({ snapshots });
      assert.equal((await python.run("6 * 7")).result, "42");
    }
  });
});
