/** The definition and the pure parts; `test/e2e/python.e2e.ts` starts interpreters. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseMem } from "../../../src/tools/python/mem.ts";
import { toRunReply } from "../../../src/tools/python/messages.ts";
import { guardFlags } from "../../../src/tools/python/pyodide-command.ts";
import { createPythonTool } from "../../../src/tools/python/python-execute.ts";
import { toResult, truncate } from "../../../src/tools/python/to-result.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

const OPTIONS = { host: false, wheels: undefined, index: undefined, mounts: [] };
const NOTHING = { stdout: "", stderr: "", result: null, files: [], moreFiles: 0 };

describe("python_execute", () => {
  it("accepts code, mem and timeout", () => {
    const tool = createPythonTool(OPTIONS);
    assert.equal(tool.spec.name, "python_execute");
    assert.deepEqual(tool.parse({ code: "1" }), { code: "1", mem: "512m", timeout: 30 });
    assert.throws(() => tool.parse({ code: "1", timeout: 301 }), /timeout: must be 1 to 300/);
    assert.equal(tool.effect, "compute");
    assert.deepEqual(tool.targets?.({ code: "1" }), { reads: [] });
  });

  it("is a command if it runs the machine's Python", () => {
    const tool = createPythonTool({ ...OPTIONS, host: true, mounts: ["data"] });
    assert.equal(tool.effect, "execute");
    assert.deepEqual(tool.targets?.({ code: "1" }), {
      reads: ["data"],
      command: { argv: ["python3", "-c", "1"] },
    });
  });

  it("reports missing code, and valid values of mem", async () => {
    using folder = createWorkspaceFolder();
    const tool = createPythonTool(OPTIONS);
    assert.equal((await folder.call(tool, { code: " \n" })).output, "Error: No code provided");
    const { output } = await folder.call(tool, { code: "1", mem: "lots" });
    assert.equal(output, 'Error: mem: must be "64m" to "4g", not "lots".');
  });
});

describe("mem", () => {
  const sizes: readonly (readonly [string, number])[] = [
    ["64m", 64 * 2 ** 20],
    ["512M", 512 * 2 ** 20],
    ["1g", 2 ** 30],
    ["4GiB", 4 * 2 ** 30],
    ["131072k", 128 * 2 ** 20],
  ];
  for (const [text, bytes] of sizes) {
    it(`reads ${text}`, () => assert.equal(parseMem(text), bytes));
  }
  for (const text of ["", "512", "63m", "5g", "-1g", "1t", "1.5g", "0x40m", "99999999999g"]) {
    it(`refuses "${text}"`, () => {
      assert.throws(() => parseMem(text), { code: "invalid_request" });
    });
  }
});

describe("the result", () => {
  it("cuts streams at 10,000 characters and splits no character", () => {
    assert.equal(truncate("x".repeat(10_000)), "x".repeat(10_000));
    assert.equal(truncate("x".repeat(10_001)), `${"x".repeat(10_000)}... (truncated)`);
    assert.equal(truncate(`${"x".repeat(9999)}😀y`), `${"x".repeat(9999)}... (truncated)`);
  });

  it("is three fields if there is nothing else", () => {
    const { value, parts } = toResult(NOTHING);
    assert.deepEqual(value, { stdout: "", stderr: "", result: null });
    assert.deepEqual(parts, []);
  });

  it("knows images by their bytes, shows short texts and lists the rest", () => {
    const files = [
      { path: "a.txt", size: 4, data: Buffer.from("\x89PNG\r\n\x1a\n", "latin1") },
      { path: "b.png", size: 4, data: Buffer.from("text") },
      { path: "c.webp", size: 12, data: Buffer.from("RIFF1234WEBP", "latin1") },
      { path: "d.bin", size: 2, data: Buffer.from([0xff, 0]) },
      { path: "e.csv", size: 9_000_000, data: undefined },
    ];
    const { value, parts } = toResult({ ...NOTHING, files, moreFiles: 3, note: "new" });
    assert.deepEqual((value as { files: unknown }).files, [
      { path: "a.txt", size: 4, type: "image/png" },
      { path: "b.png", size: 4, text: "text" },
      { path: "c.webp", size: 12, type: "image/webp" },
      { path: "d.bin", size: 2 },
      { path: "e.csv", size: 9_000_000 },
    ]);
    assert.deepEqual(
      parts.map((part) => part.type),
      ["input_image", "input_image"],
    );
    assert.equal((value as { more_files: unknown }).more_files, 3);
    assert.equal((value as { note: unknown }).note, "new");
  });

  it("ignores invalid parts of a reply", () => {
    const forged = {
      stdout: 1,
      stderr: null,
      result: {},
      files: [1, { path: 2 }, null],
      more_files: -1,
    };
    assert.deepEqual(toRunReply(forged), NOTHING);
    assert.deepEqual(toRunReply({ files: "no" }), NOTHING);
    const [file] = toRunReply({ files: [{ path: "a", size: "big", data: "YQ==" }] }).files;
    assert.deepEqual(file, { path: "a", size: 0, data: Buffer.from("a") });
  });
});

describe("the flags of Pyodide's process", () => {
  it("name the permission model like this Node, and keep signals from starting a debugger", () => {
    const old = new Set(["--experimental-permission"]);
    const both = new Set(["--experimental-permission", "--permission", "--disable-sigusr1"]);
    assert.deepEqual(guardFlags(old), ["--experimental-permission"]);
    assert.deepEqual(guardFlags(both), ["--permission", "--disable-sigusr1"]);
    assert.match(guardFlags(process.allowedNodeEnvironmentFlags)[0] ?? "", /permission$/);
  });
});
