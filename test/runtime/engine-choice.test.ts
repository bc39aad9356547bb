import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRuntime } from "../../src/runtime/runtime.ts";

const REFUSED = {
  code: "invalid_request",
  message:
    "The engine `dbos` needs a Postgres store. Set `store` to postgres://USER@HOST/DATABASE, or `engine` to `own`.",
};

describe("the engine of a runtime", () => {
  for (const storePath of [undefined, "memory:", "/no/such/folder/runs.db"]) {
    it(`cannot be DBOS over ${storePath ?? "memory"}, which is not opened`, async () => {
      await assert.rejects(createRuntime({ engine: "dbos", storePath }), REFUSED);
    });
  }

  it("can be our own over any store", async () => {
    const runtime = await createRuntime({ engine: "own" });
    assert.equal(await runtime.engine.status("run_1"), undefined);
    await runtime.close();
  });
});
