/** The size that README.md gives for a clone. That of the package is in test/e2e/install.e2e.ts. */

import { describe, it } from "node:test";
import { ROOT } from "./doc-blocks.ts";
import { checkNumber, sizeOf } from "./folder-size.ts";

describe("README.md", () => {
  it("says how large the packages of a clone are", async () => {
    checkNumber(/\((\d+) MB on disk\)/, await sizeOf(`${ROOT}node_modules/`));
  });
});
