import assert from "node:assert/strict";
import { linkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { bashRipgrepTool } from "../../../src/tools/files/bash-ripgrep.ts";
import type { ResultPage } from "../../../src/tools/files/ripgrep/page.ts";
import { createWorkspaceFolder, toContext, type WorkspaceFolder } from "../workspace-folder.ts";

async function search(folder: WorkspaceFolder, input: object): Promise<ResultPage> {
  const { output, failed } = await folder.call(bashRipgrepTool, { pattern: "needle", ...input });
  assert.ok(!failed, output);
  return JSON.parse(output) as ResultPage;
}

const PROJECT = {
  "b.ts": "one\nneedle two\nneedle three\n",
  "a/x.ts": "needle: a\n",
  "a-b/x.md": "NEEDLE\n",
  ".hidden/y.ts": "needle hidden\n",
  ".env": "needle=1\n",
  ".env.example": "needle=example\n",
  "key.pem": "needle\n",
  ".git/config": "needle\n",
  "late.txt": "0\n1\nneedle\n3\n4\n5\n6\nneedle\n8\n",
  "windows.txt": "needle\r\nother\r\n",
};

describe("bash_ripgrep", () => {
  const cases: readonly [name: string, input: object, found: readonly string[]][] = [
    [
      "lines in the order of their files and numbers",
      {},
      [
        "a/x.ts:1:needle: a",
        "b.ts:2:needle two",
        "b.ts:3:needle three",
        "late.txt:3:needle",
        "late.txt:8:needle",
        "windows.txt:1:needle",
      ],
    ],
    ["below a folder, paths from the workspace", { files: "a" }, ["a/x.ts:1:needle: a"]],
    ["in one file", { files: "b.ts", extra_args: "-m1" }, ["b.ts:2:needle two"]],
    ["a file that is asked for by name", { files: ".env" }, [".env:1:needle=1"]],
    ["without case", { files: "a-b", extra_args: "-i" }, ["a-b/x.md:1:NEEDLE"]],
    [
      "hidden files, but not those with secrets",
      { extra_args: "--hidden -g .*" },
      [".env.example:1:needle=example"],
    ],
    [
      "nothing that is protected, whatever is asked for",
      { extra_args: "-uu --no-ignore -g '.git/**' -g '**/config' -g .hidden/**" },
      [".hidden/y.ts:1:needle hidden"],
    ],
    [
      "flags of one letter in one word",
      { extra_args: "-inw", files: "a-b" },
      ["a-b/x.md:1:NEEDLE"],
    ],
    ["paths alone", { extra_args: "-l -g *.ts" }, ["a/x.ts", "b.ts"]],
    [
      "lines around a match",
      { files: "late.txt", extra_args: "-C1", limit: 3 },
      ["late.txt-2-1", "late.txt:3:needle", "late.txt-4-3"],
    ],
    ["a pattern that looks like a flag", { pattern: "--pre" }, []],
    ["nothing", { pattern: "absent" }, []],
    ["a fixed text", { pattern: ": a", extra_args: "-F" }, ["a/x.ts:1:needle: a"]],
  ];
  for (const [name, input, found] of cases) {
    it(`finds ${name}`, async () => {
      using folder = createWorkspaceFolder(PROJECT);
      assert.deepEqual((await search(folder, input)).results, found);
    });
  }

  it("counts on every page", async () => {
    using folder = createWorkspaceFolder(PROJECT);
    for (const offset of [0, 1, 2, 3, 4, 5, 6, 9]) {
      const all = (await search(folder, { limit: 0 })).results;
      const page = await search(folder, { limit: 2, offset });
      const results = all.slice(offset, offset + 2);
      const has_more = offset + 2 < 6;
      const expected = { results, total: 6, offset, limit: 2, has_more, returned: results.length };
      assert.deepEqual(page, expected);
    }
  });

  it("keeps its order if there is more than is kept", async () => {
    const files = Array.from({ length: 3000 }, (_, at) => [`f${at}`, "needle\nneedle\n"] as const);
    using folder = createWorkspaceFolder(Object.fromEntries(files));
    const sorted = files.map(([name]) => name).sort();
    const page = await search(folder, { offset: 2999, limit: 3 });
    assert.equal(page.total, 6000);
    assert.deepEqual(page.results, [
      `${sorted[1499]}:2:needle`,
      `${sorted[1500]}:1:needle`,
      `${sorted[1500]}:2:needle`,
    ]);
  });

  it("keeps the beginning of a page that is too large, says so, and counts everything", async () => {
    using folder = createWorkspaceFolder({ b: "needle\n".repeat(500_000), a: "needle\n" });
    const run = async (input: object): Promise<ResultPage> => {
      const parsed = bashRipgrepTool.parse({ pattern: "needle", ...input });
      return (await bashRipgrepTool.run(parsed, await toContext(folder.root))) as ResultPage;
    };
    const page = await run({ limit: 0 });
    assert.equal(page.total, 500_001);
    assert.ok(page.returned > 100_000 && page.returned < 500_000, String(page.returned));
    assert.deepEqual(page.results.slice(0, 2), ["a:1:needle", "b:1:needle"]);
    assert.equal(page.results.at(-1), `b:${page.returned - 1}:needle`);
    assert.match(page.note ?? "", /^Too large: /);
    assert.ok(page.has_more);
    const far = await run({ offset: 499_990 });
    assert.deepEqual([far.returned, far.total, far.has_more], [0, 500_001, true]);
    assert.match(far.note ?? "", /Narrow the search/);
  });

  it("shows nothing of a link that leads out, nor of a file with a second name", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "needle\n" });
    const secret = join(dirname(folder.root), "secret");
    writeFileSync(secret, "needle secret\n");
    symlinkSync(secret, join(folder.root, "link"));
    linkSync(secret, join(folder.root, "hard"));
    const page = await search(folder, {});
    assert.deepEqual([page.results, page.total], [["a.txt:1:needle"], 1]);
    const { output } = await folder.call(bashRipgrepTool, { pattern: "x", files: "hard" });
    assert.match(output, /^Error: .*hard_links/);
  });

  it("cuts long lines and says so", async () => {
    using folder = createWorkspaceFolder({ "a.txt": `needle${"x".repeat(5000)}\n` });
    const [line = ""] = (await search(folder, {})).results;
    assert.ok(line.length < 1200 && line.includes("omitted"), line.slice(-100));
  });

  it("reports an invalid pattern", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "" });
    const { output } = await folder.call(bashRipgrepTool, { pattern: "(" });
    assert.match(output, /^Error: No matches found or command failed: .*unclosed group/);
  });

  for (const extra_args of [
    "--pre cat",
    "--pre=cat",
    "--hostname-bin x",
    "-z",
    "--search-zip",
    "-L",
    "--follow",
    "-f /etc/passwd",
    "--file=/etc/passwd",
    "--ignore-file=/etc/passwd",
    "-iL",
    "-a",
    "--",
    "/etc",
    "--null-data",
    "--json",
  ]) {
    it(`starts nothing with a flag that is not listed: ${extra_args}`, async () => {
      using folder = createWorkspaceFolder({ "a.txt": "needle" });
      const { output, decisions } = await folder.call(bashRipgrepTool, {
        pattern: "x",
        extra_args,
      });
      assert.match(output, /^Error: `.+` is not allowed in extra_args\.$/);
      assert.equal(decisions.at(-1)?.verdict, "deny");
    });
  }

  it("stops if the run is cancelled", async () => {
    using folder = createWorkspaceFolder({ "a.txt": "" });
    const control = new AbortController();
    const input = bashRipgrepTool.parse({ pattern: "x" });
    const running = bashRipgrepTool.run(input, await toContext(folder.root, control.signal));
    control.abort();
    await assert.rejects(running, { code: "cancelled" });
  });
});
