import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { grepTool } from "../../../src/tools/files/grep.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("grep", () => {
  it("returns matches with the lines around them", async () => {
    using folder = createWorkspaceFolder({
      "a.txt": "1\n2\n3\nNeedle\n5\n6\n7\n",
      "b.md": "needle",
      big: `needle\n${"x".repeat(1024 * 1024)}`,
    });
    const { output } = await folder.call(grepTool, { pattern: "needle" });
    assert.deepEqual(JSON.parse(output), {
      matches: [
        { path: "a.txt", line: 4, text: "Needle", before: ["2", "3"], after: ["5", "6"] },
        { path: "b.md", line: 1, text: "needle", before: [], after: [] },
      ],
      total: 2,
      offset: 0,
      has_more: false,
    });
  });

  it("respects case and files if requested", async () => {
    using folder = createWorkspaceFolder({
      "a.txt": "Needle\n",
      "b.md": "needle",
      "c.txt": "needle",
    });
    const input = { pattern: "needle", case_sensitive: true, include: "*.txt" };
    const { matches } = JSON.parse((await folder.call(grepTool, input)).output);
    assert.deepEqual(
      matches.map(({ path }: { path: string }) => path),
      ["c.txt"],
    );
  });

  it("returns twenty on each page", async () => {
    using folder = createWorkspaceFolder({ f: "needle\n".repeat(25) });
    const { output } = await folder.call(grepTool, { pattern: "needle", offset: 20 });
    const { matches, total, has_more } = JSON.parse(output);
    assert.deepEqual([matches.length, matches[0].line, total, has_more], [5, 21, 25, false]);
    const first = JSON.parse((await folder.call(grepTool, { pattern: "needle" })).output);
    assert.deepEqual([first.matches.length, first.has_more], [20, true]);
  });
});
