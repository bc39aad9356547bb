import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { isLeft, makeOwnFolder } from "../../../src/tools/sandbox/own-folder.ts";

/** Above the largest number a process can have. */
const NO_PID = String(2 ** 30);

describe("temporary folders of a process", () => {
  it("are removed by the next process when theirs was killed, and no others", async () => {
    const tempDir = mkdtempSync(join(tmpdir(), "offshoot-own-"));
    // Looked through once for each place, so the names are made in another one.
    const other = mkdtempSync(join(tmpdir(), "offshoot-own-"));
    const mine = basename(await makeOwnFolder("home", { tempDir: other }));
    const left = change(mine, 3, NO_PID);
    for (const name of [mine, left, "offshoot-else"]) mkdirSync(join(tempDir, name));
    writeFileSync(join(tempDir, left, "file"), "");
    await makeOwnFolder("home", { tempDir });
    assert.ok(!existsSync(join(tempDir, left)));
    assert.ok(existsSync(join(tempDir, mine)) && existsSync(join(tempDir, "offshoot-else")));
    for (const folder of [tempDir, other]) rmSync(folder, { recursive: true });
  });

  it("are told by who made them, and not by their process id alone", async () => {
    const tempDir = mkdtempSync(join(tmpdir(), "offshoot-own-"));
    const mine = basename(await makeOwnFolder("python", { tempDir }));
    rmSync(tempDir, { recursive: true });
    const cases: [string, string, boolean][] = [
      ["this process", mine, false],
      ["a process that is gone", change(mine, 3, NO_PID), true],
      ["one of the same number, started at another time", change(mine, 4, "1"), true],
      ["one before the system's last start", change(mine, 1, "abcdef01"), true],
      ["one of another PID namespace", change(change(mine, 2, "1"), 3, NO_PID), false],
      ["one of another host", change(mine, 0, "00000000"), false],
      ["a name of another kind", "offshoot-abcdef", false],
    ];
    for (const [what, name, expected] of cases) assert.equal(isLeft(name), expected, what);
  });
});

/** Another name, with one of its five parts changed. */
function change(name: string, part: number, value: string): string {
  const [, kind, id = "", random] = name.split("-");
  const parts = id.split(".");
  parts[part] = value;
  return `offshoot-${kind}-${parts.join(".")}-${random}`;
}
