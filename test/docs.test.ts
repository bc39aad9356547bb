import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { PAGES } from "../scripts/docs/pages.ts";

// From build/test/ up to the checkout.
const docs = new URL("../../docs/", import.meta.url);

describe("generated pages", () => {
  it("finds pages to compare", () => assert.ok(Object.keys(PAGES).length >= 7));

  for (const [name, render] of Object.entries(PAGES)) {
    it(`docs/${name} is what the tables say`, async () => {
      const written = readFileSync(new URL(name, docs), "utf8");
      assert.equal(written, await render(), "run `npm run docs`");
    });
  }
});
