import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findPublishedUsers } from "./published-users.ts";

describe("the tests that hold something against the published descriptions", () => {
  it("are found by what they import, themselves or through others", () => {
    const tests = findPublishedUsers(".test.js");
    // The second and third import it through `conformance/check.ts` and `kinds/kind-run.ts`.
    for (const known of [
      "protocol/published-names.test.js",
      "server/context-oracle.test.js",
      "responses/kinds/client-kinds.test.js",
    ]) {
      assert.ok(tests.includes(known), known);
    }
    assert.ok(!tests.includes("protocol/examples.test.js"));
    assert.ok(findPublishedUsers(".e2e.js").includes("conformance/matrix/matrix.e2e.js"));
  });
});
