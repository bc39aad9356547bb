/** The programs of docs/shape.md: what they measure, and that no number that the page calls better has become worse. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { ROOT, readBlocks, readPage } from "../doc-blocks.ts";

async function node(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: ROOT });
  return stdout;
}

const [block] = readBlocks("docs/shape.md");
const lines = (block?.text ?? "")
  .trim()
  .split("\n")
  .map((line) => line.replace(/ +#.*$/, ""));

describe("the programs of docs/shape.md", () => {
  it("are these", () => {
    assert.deepEqual(lines, [
      "node scripts/measure-house.js",
      "node scripts/measure-house.js DIR/src",
      "node scripts/measure-house.js --write",
      "node scripts/measure-house.js --check",
      "node scripts/compile.js",
      "node scripts/walk-request.js",
      "node scripts/walk-request.js direct --functions",
      "node scripts/walk-request.js --clone=DIR",
    ]);
  });

  it("measure another clone: sizes, types that share a name, files with one importer", async () => {
    const clone = await mkdtemp(join(tmpdir(), "offshoot-shape-"));
    try {
      await mkdir(join(clone, "src/base"), { recursive: true });
      await writeFile(
        join(clone, "src/base/one.ts"),
        'import { two } from "./two.ts";\nexport type Row = 1;\n// Goes on behind it.\nexport const one = two as number;\n',
      );
      await writeFile(
        join(clone, "src/base/two.ts"),
        "type Row = 2;\nexport const two: Row = 2;\n",
      );
      const printed = await node("scripts/measure-house.js", join(clone, "src"));
      for (const row of [
        /^files +2$/m,
        /^lines +6$/m,
        /^`as`, .* 166\.67 \(1\)$/m,
        /^type names that several files declare, .*\(1\)$/m,
        /^words of the old dialect in comments, .*\(2\)$/m,
        /^files under 45 lines whose one importer .* 1$/m,
        /^ {2}base\/two\.ts 2$/m,
      ]) {
        assert.match(printed, row);
      }
    } finally {
      await rm(clone, { recursive: true });
    }
  });

  it("find no number worse than it was, where the page says better or equal", async () => {
    await node("scripts/measure-house.js", "--check");
  });

  it("list the functions of a request in the order of entry, and count its way", async () => {
    const printed = await node("scripts/walk-request.js", "direct", "stored", "--functions");
    const [direct = "", stored = ""] = printed.split(/^(?=POST )/m);
    const functions = direct.match(/^ {2}[\w/-]+\.ts \S+(?: ×\d+)?$/gm) ?? [];
    const at = (name: string): number => functions.findIndex((line) => line.includes(name));
    assert.equal(at("server/running/listener.ts handle"), 0, direct);
    assert.ok(at("server/routes/responses.ts create") < at("providers/chat/encode.ts"), direct);
    assert.ok(functions.length > 100 && new Set(functions).size === functions.length);
    const count = (text: string): number => Number(/(\d+) changes of room/.exec(text)?.[1]);
    for (const [name, text] of [
      ["stored, streamed response that comes without a pause: changes of room", stored],
      ["response that is not stored: changes of room, files", direct],
    ] as const) {
      const row = readPage("docs/shape.md").split(`\n| ${name} | `)[1];
      assert.ok(count(text) <= Number.parseInt(row ?? "", 10), `${name}: ${count(text)}`);
    }
  });

  it("walk through a clone, and count a run with and without the features that came later", async () => {
    const printed = await node("scripts/walk-request.js", "--clone=.", "run");
    const [, all] = /(\d+) changes of room$/m.exec(printed) ?? [];
    const [, shared] = /(\d+) changes of room without new features$/m.exec(printed) ?? [];
    assert.ok(Number(shared) > 50 && Number(shared) < Number(all), printed);
  });
});
