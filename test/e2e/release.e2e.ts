/** What `npm run release` of docs/releasing.md would do, without doing it. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";
import { ROOT, readBlocks } from "../doc-blocks.ts";

it("a dry run of a release names the next version and changes nothing", async () => {
  const run = promisify(execFile);
  const options = { cwd: ROOT };
  const before = (await run("git", ["status", "--porcelain"], options)).stdout;
  const [first] = readBlocks("docs/releasing.md");
  const [, words = ""] = /^npm run release -- (.*)\n$/.exec(first?.text ?? "") ?? [];
  assert.equal(words, "--dry-run", "the page's first block");
  const args = [join(ROOT, "scripts/release.js"), words];
  const { stdout } = await run(process.execPath, args, options);
  const count = (await readdir(join(ROOT, ".changeset"))).filter((name) => name.endsWith(".md"));
  assert.match(stdout, /^\d+\.\d+\.\d+ → \d+\.\d+\.\d+ \(\w+, (\d+) changesets\)\n/);
  assert.ok(stdout.includes(`${count.length} changesets`));
  assert.match(stdout, /git tag v\d+\.\d+\.\d+\n$/);
  assert.equal((await run("git", ["status", "--porcelain"], options)).stdout, before);
});
