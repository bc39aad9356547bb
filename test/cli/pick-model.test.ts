/** The line that says which model is asked, and where. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { pickModel } from "../../src/cli/pick-model.ts";
import { loadConfig } from "../../src/runtime/config/config.ts";
import { createNetwork } from "../../src/runtime/network.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";

interface Setup {
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string>>;
}

async function reasonOf(t: TestContext, { file = "", env = {}, flags }: Setup): Promise<string> {
  const sandbox = createSandbox(t);
  put(sandbox.userFile, `probe_local: false\n${file}`);
  const network = createNetwork(env);
  t.after(() => network.close());
  const config = await loadConfig({ ...sandbox, env, ...(flags ? { flags } : {}) });
  return (await pickModel(config, network, { env })).reason;
}

describe("a wrong model or provider", () => {
  const rows: readonly (readonly [Setup, RegExp])[] = [
    [{ env: { OFFSHOOT_MODEL: "opnai/x" } }, /^`OFFSHOOT_MODEL`: Unknown vendor `opnai`\. Did/],
    [{ env: { OFFSHOOT_PROVIDER: "zzz" } }, /^`OFFSHOOT_PROVIDER`: Unknown provider `zzz`\./],
    [{ env: { OFFSHOOT_PROVIDER: "openai" } }, /^`OFFSHOOT_PROVIDER`: Unknown provider/],
    [{ file: "model: zzz" }, /^`model` \(user file .*config\.yaml\): Unknown model or vendor/],
    [{ file: "provider: zzz" }, /^`provider` \(user file .*config\.yaml\): Unknown provider/],
    // The user has just written it.
    [{ flags: { model: "opnai/x" } }, /^Unknown vendor `opnai`/],
  ];
  for (const [setup, message] of rows) {
    it(`is refused by the name of its place: ${JSON.stringify(setup)}`, async (t) => {
      await assert.rejects(reasonOf(t, setup), { code: "invalid_request", message });
    });
  }
});

describe("the reason for a model", () => {
  const flags = { model: "openai/gpt-5.1" };

  it("says the address where a variable moves the vendor", async (t) => {
    const env = { OPENAI_BASE_URL: "http://me:hunter2@127.0.0.1:8593/v1/" };
    assert.equal(
      await reasonOf(t, { flags, env }),
      "openai/gpt-5.1 (--model); asked at http://127.0.0.1:8593/v1 (`OPENAI_BASE_URL`)",
    );
  });

  it("says the address that a file gives", async (t) => {
    const file = "model: custom/any\nurl: http://127.0.0.1:9/v1\n";
    assert.match(
      await reasonOf(t, { file }),
      /^custom\/any \(.*\); asked at http:\/\/127\.0\.0\.1:9\/v1 \(`url`, .*config\.yaml\)$/,
    );
  });

  it("does not name the vendor's own address, or one of this command line", async (t) => {
    assert.equal(await reasonOf(t, { flags }), "openai/gpt-5.1 (--model)");
    const given = { model: "custom/any", url: "http://127.0.0.1:9/v1" };
    assert.equal(await reasonOf(t, { flags: given }), "custom/any (--model)");
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
    assert.equal(await reasonOf(t, { flags: given, env }), "custom/any (--model)");
  });
});
