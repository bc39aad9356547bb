import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { nodeReservedKib } from "../../../src/tools/sandbox/node-memory.ts";

describe("the memory that Node.js reserves", () => {
  it("is known by its version", () => {
    assert.equal(nodeReservedKib("20.19.0"), 0);
    assert.equal(nodeReservedKib("22.1.0"), 0);
    assert.equal(nodeReservedKib("24.0.0"), 512 * 1024);
    assert.equal(nodeReservedKib("26.10.0"), 512 * 1024);
  });

  const isLinux = process.platform === "linux";
  const name = "leaves an empty program of this version 256 MiB under its limit";
  it(isLinux ? name : `${name} (skipped: only Linux tells)`, { skip: !isLinux }, async () => {
    const program =
      'process.stdout.write(require("node:fs").readFileSync("/proc/self/status", "utf8"))';
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", program]);
    const usedKib = Number(/^VmData:\s*(\d+) kB/m.exec(stdout)?.[1]);
    assert.ok(usedKib < nodeReservedKib() + 256 * 1024, `${usedKib} KiB are used`);
  });
});
