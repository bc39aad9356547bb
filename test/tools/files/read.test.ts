import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readTool } from "../../../src/tools/files/read.ts";
import { programLack, unless } from "../../needs.ts";
import { createWorkspaceFolder, toContext } from "../workspace-folder.ts";

const MEGABYTE = 1024 * 1024;
const THREE = "one\ntwo\nthree\n";

/** The result for the model about one file named `f`. */
async function read(content: string | Uint8Array, input: object = {}): Promise<string> {
  using folder = createWorkspaceFolder({ f: content });
  return (await folder.call(readTool, { path: "f", ...input })).output;
}

describe("read", () => {
  const cases: readonly [name: string, content: string, input: object, output: string][] = [
    ["numbers the lines", THREE, {}, "   1 | one\n   2 | two\n   3 | three"],
    ["reads a last line without its end", "one\ntwo", {}, "   1 | one\n   2 | two"],
    ["keeps blank lines", "\n\na\n\n", {}, "   1 | \n   2 | \n   3 | a\n   4 | "],
    ["reads CRLF as line ends", "a\r\nb\r\n", {}, "   1 | a\n   2 | b"],
    ["passes over lines", THREE, { offset: 1 }, "   2 | two\n   3 | three"],
    ["stops after some lines", THREE, { limit: 2 }, "   1 | one\n   2 | two"],
    ["reads a page", THREE, { offset: 1, limit: 1 }, "   2 | two"],
    ["takes 0 for no limit", THREE, { offset: 2, limit: 0 }, "   3 | three"],
    ["takes a limit beyond the end", THREE, { limit: 99 }, "   1 | one\n   2 | two\n   3 | three"],
    [
      "says how many lines there are after the last",
      THREE,
      { offset: 3 },
      "(no lines: the file has 3)",
    ],
    ["says that a file is empty", "", {}, "(empty file)"],
    ["says so whatever page is asked for", "", { offset: 5 }, "(empty file)"],
    ["reads a lone line end", "\n", {}, "   1 | "],
    ["reads characters of every size", "é€😀", {}, "   1 | é€😀"],
  ];
  for (const [name, content, input, output] of cases) {
    it(name, async () => {
      assert.equal(await read(content, input), output);
    });
  }

  it("lets numbers grow beyond the column", async () => {
    const content = "x\n".repeat(10_000);
    assert.equal(await read(content, { offset: 9998 }), "9999 | x\n10000 | x");
  });

  const refusals: readonly [name: string, path: string, output: string][] = [
    ["a file that is not there", "no.txt", "Error: File not found: no.txt"],
    ["a file below a file", "a.txt/b", "Error: File not found: a.txt/b"],
    ["a folder", "folder", "Error: Is a directory: folder"],
    ["the workspace", ".", "Error: Is a directory: ."],
    ["a path that leads out", "../x", "Error: Path outside CWD not allowed: ../x"],
    ["a link that leads out", "out", "Error: Path outside CWD not allowed: out"],
    ["a file that is not text", "binary", "Error: Not a text file: binary"],
    ["a file that is too large", "large", `Error: File too large (${MEGABYTE + 1} bytes): large`],
    ["a pipe", "pipe", "Error: Not a regular file: pipe"],
  ];
  for (const [name, path, output] of refusals) {
    const able = unless(path === "pipe" ? programLack("mkfifo") : undefined);
    it(...able(`refuses ${name}, in words for the model`), async () => {
      using folder = createWorkspaceFolder({
        "a.txt": "a",
        binary: Buffer.from("a\0b"),
        large: Buffer.alloc(MEGABYTE + 1, "x"),
      });
      mkdirSync(join(folder.root, "folder"));
      symlinkSync("/", join(folder.root, "out"));
      if (path === "pipe") execFileSync("mkfifo", [join(folder.root, "pipe")]);
      const { decisions: _, ...result } = await folder.call(readTool, { path });
      assert.deepEqual(result, { output, failed: true, thrown: false });
    });
  }

  it("reads a file of exactly the largest size", async () => {
    using folder = createWorkspaceFolder({ f: Buffer.alloc(MEGABYTE, "x") });
    const input = readTool.parse({ path: "f" });
    const output = String(await readTool.run(input, await toContext(folder.root)));
    assert.equal(output.length, "   1 | ".length + MEGABYTE);
  });

  it("has the arguments of its published description", () => {
    const { required, properties } = readTool.spec.parameters as {
      required: string[];
      properties: Record<string, { type: string }>;
    };
    assert.equal(readTool.spec.description, "Read the contents of a file.");
    assert.deepEqual(required, ["path"]);
    assert.deepEqual(
      Object.entries(properties).map(([name, { type }]) => [name, type]),
      [
        ["path", "string"],
        ["offset", "integer"],
        ["limit", "integer"],
      ],
    );
  });

  it("refuses arguments without a valid page", async () => {
    for (const input of [{ path: "" }, { offset: -1 }, { limit: 1.5 }, { limit: "3" }]) {
      assert.match(await read("a", input), /^Error: The arguments of `read` do not fit: /);
    }
  });
});
