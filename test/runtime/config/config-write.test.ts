import assert from "node:assert/strict";
import { lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../../src/runtime/config/config.ts";
import { readConfigFile } from "../../../src/runtime/config/config-file.ts";
import type { ConfigName } from "../../../src/runtime/config/config-keys.ts";
import { writeSetting } from "../../../src/runtime/config/config-write.ts";
import { trust } from "../../../src/runtime/trust.ts";
import { createSandbox, put, type Sandbox } from "../sandbox.ts";

function setUser(
  sandbox: Sandbox,
  name: ConfigName,
  text: string,
): ReturnType<typeof writeSetting> {
  return writeSetting({ file: sandbox.userFile, name, text, trustFile: sandbox.trustFile });
}

describe("writing a setting", () => {
  it("keeps comments, order and the other values", async (t) => {
    const sandbox = createSandbox(t);
    put(
      sandbox.userFile,
      "# top\nmodel: a/b # why\n\n# about turns\nmax_turns: 5\ntools: [read]\n",
    );
    await setUser(sandbox, "max_turns", "7");
    assert.equal(
      readFileSync(sandbox.userFile, "utf8"),
      "# top\nmodel: a/b # why\n\n# about turns\nmax_turns: 7\ntools: [ read ]\n",
    );
  });

  it("creates the file and its folders, for the user alone", async (t) => {
    const sandbox = createSandbox(t);
    await setUser(sandbox, "model", "openai/x");
    assert.equal(readFileSync(sandbox.userFile, "utf8"), "model: openai/x\n");
    assert.equal(statSync(sandbox.userFile).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(sandbox.userFile)).mode & 0o777, 0o700);
  });

  for (const [name, text] of [
    ["model", "123"],
    ["system", `${"long words ".repeat(30)}- and: #signs\nand lines`],
    ["think", "yes"],
    ["tools", "read,bash_*"],
    ["temperature", "0.5"],
    ["models", '{"custom/x":{"price":{"input":1,"output":2}}}'],
  ] as const) {
    it(`reads back what was written to ${name}`, async (t) => {
      const sandbox = createSandbox(t);
      await setUser(sandbox, name, text);
      const written = (await loadConfig(sandbox)).get(name);
      const env = { [`OFFSHOOT_${name.toUpperCase()}`]: text };
      assert.deepEqual(written, (await loadConfig({ ...sandbox, env })).get(name));
    });
  }

  for (const [name, text, message] of [
    ["max_turns", "0", /from 1 to 1000/],
    ["system", "the key is sk-proj-0123456789abcdefgh", /looks like a key/],
    ["output", "xml", /one of text/],
    ["models", "{", /is not JSON/],
  ] as const) {
    it(`leaves the file as it was when ${name} is invalid`, async (t) => {
      const sandbox = createSandbox(t);
      put(sandbox.userFile, "model: a/b\n");
      await assert.rejects(setUser(sandbox, name, text), { code: "invalid_request", message });
      assert.equal(readFileSync(sandbox.userFile, "utf8"), "model: a/b\n");
    });
  }

  it("does not overwrite an invalid file", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "modle: a/b\n");
    await assert.rejects(setUser(sandbox, "model", "a/b"), { message: /Unknown setting `modle`/ });
    assert.equal(readFileSync(sandbox.userFile, "utf8"), "modle: a/b\n");
  });

  it("follows a link and keeps the file's mode", async (t) => {
    const sandbox = createSandbox(t);
    const real = join(sandbox.home, "dotfiles.yaml");
    put(real, "model: a/b\n");
    put(join(dirname(sandbox.userFile), "x"), "");
    symlinkSync(real, sandbox.userFile);
    const { mode } = statSync(real);
    await setUser(sandbox, "model", "c/d");
    assert.ok(lstatSync(sandbox.userFile).isSymbolicLink());
    assert.equal(readFileSync(real, "utf8"), "model: c/d\n");
    assert.equal(statSync(real).mode, mode);
  });

  it("keeps trust in a trusted file, and gives none to another", async (t) => {
    const sandbox = createSandbox(t);
    const change = { file: sandbox.projectFile, name: "url", text: "http://a.example" } as const;
    const { trustFile } = sandbox;
    assert.deepEqual(await writeSetting({ ...change, trustFile }), { isTrusted: false });
    assert.equal((await loadConfig(sandbox)).get("url"), undefined);
    const file = await readConfigFile(sandbox.projectFile);
    assert.ok(file);
    await trust(trustFile, file);
    const again = { ...change, text: "http://b.example", trustFile };
    assert.deepEqual(await writeSetting(again), { isTrusted: true });
    assert.equal((await loadConfig(sandbox)).get("url"), "http://b.example");
  });
});
