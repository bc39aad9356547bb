/** The first request of docs/server.md, as written there. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { createEmbeddedEngine } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

// From build/test/server/ up to the checkout.
const page = readFileSync(new URL("../../../docs/server.md", import.meta.url), "utf8");

describe("the first request of docs/server.md", () => {
  it("is answered with the text that the page says", async (t) => {
    const [, body = ""] = /^ {2}-d '(.*)'$/m.exec(page) ?? assert.fail("no request");
    const [, text] = /`"text":"(.*?)"`/.exec(page) ?? assert.fail("no answer");
    const { create } = await startServer(t, createEmbeddedEngine());
    const { status, output_text } = await create(JSON.parse(body));
    assert.deepEqual([status, output_text], ["completed", text]);
  });
});
