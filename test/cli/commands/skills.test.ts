import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

describe("offshoot skills check", () => {
  const good = "---\nname: NAME\ndescription: Does it.\n---\nDo it.\n";
  const rows: readonly (readonly [good: number, broken: number, said: string])[] = [
    [0, 0, "No skills to check."],
    [1, 0, "1 skill checked, none is broken."],
    [2, 0, "2 skills checked, none is broken."],
    [0, 1, "1 skill checked, 1 is broken."],
    [1, 2, "3 skills checked, 2 are broken."],
  ];
  for (const [whole, broken, said] of rows) {
    it(`counts in plain words: ${said}`, async (t) => {
      const sandbox = createSandbox(t);
      for (let at = 0; at < whole + broken; at++) {
        const name = `skill-${at}`;
        const text = at < whole ? good.replace("NAME", name) : "---\n";
        put(join(sandbox.cwd, ".agents/skills", name, "SKILL.md"), text);
      }
      const io = createFakeIo(sandbox);
      assert.equal(await main(["skills", "check"], io), broken > 0 ? 1 : 0);
      assert.equal(io.written.stderr, `${said}\n`);
    });
  }
});
