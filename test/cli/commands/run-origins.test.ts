/** Values of settings that are refused when they are used name the place that they come from. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

describe("a setting that cannot be used", () => {
  const rows: readonly (readonly [env: Readonly<Record<string, string>>, said: RegExp])[] = [
    [{ OFFSHOOT_MODEL: "opnai/x" }, /^offshoot: `OFFSHOOT_MODEL`: Unknown vendor `opnai`/m],
    [{ OFFSHOOT_TOOLS: "raed" }, /^offshoot: `OFFSHOOT_TOOLS`: No tool fits `raed`/m],
    [{ OFFSHOOT_SYSTEM_FILE: "gone.md" }, /^offshoot: `OFFSHOOT_SYSTEM_FILE`: .*gone\.md/m],
    [
      { OFFSHOOT_OUTPUT_MODE: "json_schema", OFFSHOOT_OUTPUT_SCHEMA: "gone.json" },
      /^offshoot: `OFFSHOOT_OUTPUT_SCHEMA`: .*gone\.json/m,
    ],
  ];
  for (const [variables, said] of rows) {
    it(`is refused by the name of its variable: ${JSON.stringify(variables)}`, async (t) => {
      const sandbox = createSandbox(t);
      put(sandbox.userFile, "probe_local: false\nmodel: embedded\n");
      const io = createFakeIo({ ...sandbox, env: variables });
      assert.equal(await main(["run", "--no-store", "Hi"], io), 2, io.written.stderr);
      assert.match(io.written.stderr, said);
    });
  }
});
