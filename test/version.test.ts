import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { VERSION } from "../src/version.ts";

it("the version in the code is that of the package", () => {
  // From build/test/ up to the checkout.
  const { version } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  assert.equal(VERSION, version);
});
