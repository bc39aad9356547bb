import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bashReadTool } from "../../../src/tools/files/bash-read.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("bash_read", () => {
  it("returns a page of lines, and the same lines as one text", async () => {
    using folder = createWorkspaceFolder({ f: "1\n2\n3\n4\n" });
    const { output } = await folder.call(bashReadTool, { filepath: "f", limit: 2, offset: 1 });
    assert.deepEqual(JSON.parse(output), {
      results: ["2", "3"],
      total: 4,
      offset: 1,
      limit: 2,
      has_more: true,
      returned: 2,
      content: "2\n3",
    });
  });

  it("reports why a file is not read", async () => {
    using folder = createWorkspaceFolder({ binary: Buffer.from("\0") });
    for (const [filepath, output] of [
      ["none", "Error: Failed to read file: File not found: none"],
      ["binary", "Error: Failed to read file: Not a text file: binary"],
      [".", "Error: Failed to read file: Is a directory: ."],
      ["../x", "Error: Path outside CWD not allowed: ../x"],
    ]) {
      assert.equal((await folder.call(bashReadTool, { filepath })).output, output);
    }
  });
});
