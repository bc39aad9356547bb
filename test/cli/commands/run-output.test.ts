/** The form of an answer as settings, in place of flags. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { reply, respond, startChatUpstream } from "../../../src/testing/index.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

const ROWS: readonly [string, Record<string, string>, RegExp | undefined, string][] = [
  ["a schema", { OUTPUT_SCHEMA: "n.json" }, /"response_format":\{"type":"json_schema"/, ""],
  ["an object", { OUTPUT_MODE: "json_object" }, /"response_format":\{"type":"json_object"/, ""],
  ["text after all", { OUTPUT_SCHEMA: "n.json", OUTPUT_MODE: "text" }, undefined, ""],
  ["the marker", { DONE_MARKER: "true" }, undefined, "\n=== [ DONE ] ===\n"],
];

describe("the output of `offshoot run`", () => {
  for (const [what, settings, sent, behind] of ROWS) {
    it(`is ${what} if the settings say so`, async (t) => {
      const upstream = await startChatUpstream({ engine: respond(() => reply.text('{"n":3}')) });
      t.after(() => upstream.close());
      const sandbox = createSandbox(t);
      put(join(sandbox.cwd, "n.json"), '{"type":"object"}');
      const own = Object.entries(settings).map(([name, value]) => [`OFFSHOOT_${name}`, value]);
      const env = { ...Object.fromEntries(own), OFFSHOOT_PROBE_LOCAL: "false" };
      const io = createFakeIo({ ...sandbox, env });
      const asked = ["run", "--no-store", "-m", "custom/m", "--url", upstream.url, "Count"];
      assert.equal(await main(asked, io), 0, io.written.stderr);
      assert.equal(io.written.stdout, `{"n":3}\n${behind}`);
      const body = JSON.stringify(upstream.requests[0]?.body);
      if (sent) assert.match(body, sent);
      else assert.ok(!body.includes("response_format"));
    });
  }
});
