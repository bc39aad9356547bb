import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { readMachine, readStartTime } from "../../../src/base/processes.ts";
import { isLeft, makeOwnFolder } from "../../../src/tools/sandbox/own-folder.ts";
import { LINUX_LACK, unless } from "../../needs.ts";

/** A name that no process has: the names of processes are not all zeros. */
const NOBODY = LINUX_LACK ? String(2 ** 30) : "0".repeat(16);

describe("temporary folders of a process", () => {
  it("are removed by the next process if their own was killed, and no others", async () => {
    const tempDir = mkdtempSync(join(tmpdir(), "offshoot-own-"));
    // Each place is searched once, so the names are made in another one.
    const other = mkdtempSync(join(tmpdir(), "offshoot-own-"));
    const mine = basename(await makeOwnFolder("home", { tempDir: other }));
    const left = change(mine, 3, NOBODY);
    for (const name of [mine, left, "offshoot-else"]) mkdirSync(join(tempDir, name));
    writeFileSync(join(tempDir, left, "file"), "");
    await makeOwnFolder("home", { tempDir });
    assert.ok(!existsSync(join(tempDir, left)));
    assert.ok(existsSync(join(tempDir, mine)) && existsSync(join(tempDir, "offshoot-else")));
    for (const folder of [tempDir, other]) rmSync(folder, { recursive: true });
  });

  it("are recognized by their process, and not by its number alone", async () => {
    const tempDir = mkdtempSync(join(tmpdir(), "offshoot-own-"));
    const mine = basename(await makeOwnFolder("python", { tempDir }));
    rmSync(tempDir, { recursive: true });
    const cases: [string, string, boolean][] = [
      ["this process", mine, false],
      ["a process that is gone", change(mine, 3, NOBODY), true],
      ["one before the system's last start", change(mine, 1, "abcdef01"), true],
      ["one of another PID namespace", change(change(mine, 2, "00000000"), 3, NOBODY), false],
      ["one of another host", change(mine, 0, "00000000"), false],
      ["a name of another kind", "offshoot-abcdef", false],
    ];
    for (const [what, name, expected] of cases) assert.equal(isLeft(name), expected, what);
  });
});

describe("the name of a temporary folder", () => {
  it(...unless(LINUX_LACK)("says nothing of the process and the machine to others"), async () => {
    const tempDir = mkdtempSync(join(tmpdir(), "offshoot-own-"));
    const name = basename(await makeOwnFolder("home", { tempDir }));
    rmSync(tempDir, { recursive: true });
    const { boot, pidNamespace } = readMachine();
    const host = createHash("sha256").update(hostname()).digest("hex");
    const told = [boot.slice(0, 8), pidNamespace, readStartTime(process.pid), host.slice(0, 8)];
    for (const one of told) assert.ok(!name.includes(one), `${name} has ${one}`);
    assert.ok(!name.split(/[.-]/).includes(String(process.pid)), name);
  });

  it(...unless(LINUX_LACK)("is that of a living process while it lives"), async () => {
    const tempDir = mkdtempSync(join(tmpdir(), "offshoot-own-"));
    const url = new URL("../../../src/tools/sandbox/own-folder.js", import.meta.url);
    const script = `const { makeOwnFolder } = await import(${JSON.stringify(url.href)}); console.log(await makeOwnFolder("home", { tempDir: ${JSON.stringify(tempDir)} })); process.stdin.resume();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const name = basename(line.toString().trim());
    assert.equal(isLeft(name), false);
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.equal(isLeft(name), true);
    rmSync(tempDir, { recursive: true });
  });
});

/** Another name, with one of its four parts changed. */
function change(name: string, part: number, value: string): string {
  const [, kind, id = "", random] = name.split("-");
  const parts = id.split(".");
  parts[part] = value;
  return `offshoot-${kind}-${parts.join(".")}-${random}`;
}
