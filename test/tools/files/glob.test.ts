import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { globTool } from "../../../src/tools/files/glob.ts";
import { createWorkspaceFolder } from "../workspace-folder.ts";

describe("glob", () => {
  const PROJECT = {
    "a.ts": "",
    "src/b.ts": "",
    "src/c/d.tsx": "",
    ".github/ci.yml": "",
    ".git/x": "",
  };
  const cases: readonly [input: object, output: string][] = [
    [{ pattern: "**/*.ts" }, "a.ts\nsrc/b.ts"],
    [{ pattern: "*.ts" }, "a.ts"],
    [{ pattern: "./src/**" }, "src/b.ts\nsrc/c/d.tsx"],
    [{ pattern: "**/*.{ts,tsx}", path: "src" }, "src/b.ts\nsrc/c/d.tsx"],
    [{ pattern: ".github/*" }, ".github/ci.yml"],
    [{ pattern: ".git/*" }, "No files matching '.git/*' in ."],
    [{ pattern: "*.rs" }, "No files matching '*.rs' in ."],
    [{ pattern: "../*" }, "Error: Path outside CWD not allowed: ../*"],
    [{ pattern: "/etc/*" }, "Error: Path outside CWD not allowed: /etc/*"],
    [{ pattern: "*", path: "none" }, "Error: File not found: none"],
    [{ pattern: "*.*.*.*.*.*" }, "No files matching '*.*.*.*.*.*' in ."],
    [{ pattern: "*".repeat(1001) }, "Error: A glob has at most 1000 characters."],
  ];
  for (const [input, output] of cases) {
    it(`answers ${JSON.stringify(input)}`, async () => {
      using folder = createWorkspaceFolder(PROJECT);
      assert.equal((await folder.call(globTool, input)).output, output);
    });
  }

  it("is fast with long names that nearly match", async () => {
    const names = Array.from({ length: 15 }, () => "a".repeat(200));
    const path = names.join("/");
    using folder = createWorkspaceFolder({ [path]: "" });
    const pattern = "**a**a**a**b";
    const { output } = await folder.call(globTool, { pattern });
    assert.equal(output, `No files matching '${pattern}' in .`);
  });

  it("shows the first hundred and the number of the others", async () => {
    const names = Array.from({ length: 130 }, (_, at) => `f${String(at).padStart(3, "0")}`);
    using folder = createWorkspaceFolder(Object.fromEntries(names.map((name) => [name, ""])));
    const { output } = await folder.call(globTool, { pattern: "f*" });
    assert.deepEqual(output.split("\n"), [...names.slice(0, 100), "... and 30 more"]);
  });
});
