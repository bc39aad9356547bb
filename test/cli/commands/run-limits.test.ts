/** Settings that limit what a model's server may send: they hold in `offshoot run` as in a server. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { loadConfig } from "../../../src/runtime/config/config.ts";
import { toRuntimeOptions } from "../../../src/runtime/settings.ts";
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

describe("max_parallel_calls", () => {
  const given = { env: "OFFSHOOT_MAX_PARALLEL_CALLS", flag: "--max-parallel-calls" };
  for (const value of ["0", "1001", "many"]) {
    it(`refuses ${value} in one line, as a flag and as a variable`, async (t) => {
      const sandbox = createSandbox(t);
      const problem = `must be a whole number from 1 to 1000, not \`${value}\`.`;
      const byFlag = createFakeIo({ ...sandbox, env: {} });
      assert.equal(await main(["run", given.flag, value, "Hi"], byFlag), 2);
      assert.equal(byFlag.written.stderr, `offshoot: \`${given.flag}\` ${problem}\n`);
      const byVariable = createFakeIo({ ...sandbox, env: { [given.env]: value } });
      assert.equal(await main(["run", "Hi"], byVariable), 2);
      assert.equal(byVariable.written.stderr, `offshoot: \`${given.env}\` ${problem}\n`);
    });
  }

  it("is 8 by default, and the flag overrides the variable", async (t) => {
    const sandbox = createSandbox(t);
    const of = async (env: Record<string, string>, flags: Record<string, string>) => {
      const config = await loadConfig({ ...sandbox, env, flags });
      const { stderr } = createFakeIo({ ...sandbox, env });
      return toRuntimeOptions(config, { env, cwd: sandbox.cwd, stderr }).parallelCalls;
    };
    assert.equal(await of({}, {}), 8);
    assert.equal(await of({ [given.env]: "3" }, {}), 3);
    assert.equal(await of({ [given.env]: "3" }, { "max-parallel-calls": "2" }), 2);
  });
});

describe("a run that ends at a limit", () => {
  const asked = ["run", "-m", "embedded", "read notes.md"];
  async function ended(t: TestContext, flags: readonly string[]): Promise<string> {
    const sandbox = createSandbox(t);
    writeFileSync(join(sandbox.cwd, "notes.md"), "Some words.\n");
    const io = createFakeIo({ ...sandbox, env: { OFFSHOOT_PROBE_LOCAL: "false" } });
    assert.notEqual(await main([...asked, ...flags], io), 0);
    return io.written.stderr.trimEnd().split("\n").at(-1) ?? "";
  }

  it("names the flag that continues it with more", async (t) => {
    assert.match(
      await ended(t, ["--max-total-tokens", "6000"]),
      /^offshoot: The budget of 6,000 tokens does not .* To continue with a larger limit: offshoot run -c --max-total-tokens N "continue"$/,
    );
    assert.match(
      await ended(t, ["--max-turns", "1"]),
      /limit of 1 turn\. To continue with a larger limit: offshoot run -c --max-turns N "continue"$/,
    );
    assert.match(
      await ended(t, ["--max-tokens", "2", "--max-total-tokens", "90000"]),
      /-c --max-total-tokens N or --max-tokens N "continue"$/,
    );
  });

  it("is to be run again if nothing of it can be continued", async (t) => {
    const again = /Run it again with a larger limit: --max-total-tokens N\.$/;
    assert.match(await ended(t, ["--max-total-tokens", "10"]), again);
    assert.match(await ended(t, ["--max-total-tokens", "6000", "--no-store"]), again);
  });
});
