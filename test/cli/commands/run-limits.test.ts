/** Settings that limit what a model's server may send: they hold in `offshoot run` as in a server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { reply, script, startChatUpstream } from "../../../src/testing/index.ts";
import { createSandbox } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

const ENDLESS = "All work and no play makes a model a dull one. ".repeat(2000);

describe("max_answer_bytes", () => {
  it("ends an answer of `offshoot run` that is larger, and keeps its beginning", async (t) => {
    const upstream = await startChatUpstream({ engine: script(reply.text(ENDLESS)) });
    t.after(() => upstream.close());
    const env = { OFFSHOOT_MAX_ANSWER_BYTES: "20000", OFFSHOOT_PROBE_LOCAL: "false" };
    const io = createFakeIo({ ...createSandbox(t), env });
    const asked = ["run", "--no-store", "-m", "custom/m", "--url", upstream.url, "Write on"];
    assert.equal(await main(asked, io), 1);
    assert.match(io.written.stderr, /larger than 20000 bytes.*`max_answer_bytes`/);
    const text = io.written.stdout.trim();
    assert.ok(text.length > 0 && text.length < 20_000, `${text.length} characters`);
    assert.equal(upstream.requests.length, 1);
  });
});
