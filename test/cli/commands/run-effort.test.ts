/** How much a model thinks: `--effort`, `--think` and their settings. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { startOpenUpstream } from "../../open-upstream.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

describe("the effort of `offshoot run`", () => {
  const rows: readonly (readonly [flags: string[], file: string, effort: string | undefined])[] = [
    [[], "", undefined],
    [["--think"], "", "high"],
    [["--effort", "low"], "", "low"],
    [["--effort", "low", "--think"], "", "low"],
    [[], "effort: max", "max"],
    [["--think"], "effort: max", "max"],
    [["--effort", "low"], "effort: max", "low"],
  ];
  for (const [flags, file, effort] of rows) {
    it(`is ${effort} with ${[...flags, file].join(" ") || "nothing"}`, async (t) => {
      const upstream = await startOpenUpstream(() => ({ text: "Done." }));
      t.after(() => upstream.close());
      const sandbox = createSandbox(t);
      put(sandbox.userFile, `probe_local: false\n${file}\n`);
      const io = createFakeIo(sandbox);
      const words = ["--no-store", "-m", "custom/m", "--url", upstream.url, "Hi"];
      assert.equal(await main(["run", ...flags, ...words], io), 0, io.written.stderr);
      assert.equal(upstream.sent[0]?.body["reasoning_effort"], effort);
    });
  }
});
