import assert from "node:assert/strict";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../../src/runtime/config/config.ts";
import { readConfigFile } from "../../../src/runtime/config/config-file.ts";
import { ORDINARY_USER_LACK, unless } from "../../needs.ts";
import { createSandbox, put } from "../sandbox.ts";

describe("configuration file", () => {
  it("is read with comments, lists and maps", async (t) => {
    const { userFile } = createSandbox(t);
    put(
      userFile,
      "# mine\nmodel: openai/x # good\ntools:\n  - read\n  - 'bash_*'\nsystem: |\n  Be\n  brief.\nmodels:\n  custom/*: {context_tokens: 9}\n",
    );
    const file = await readConfigFile(userFile);
    assert.deepEqual(Object.fromEntries(file?.settings ?? []), {
      model: "openai/x",
      tools: ["read", "bash_*"],
      system: "Be\nbrief.\n",
      models: { "custom/*": { context_tokens: 9 } },
    });
  });

  it("may write a list with commas", async (t) => {
    const { userFile } = createSandbox(t);
    put(userFile, "tools: read, bash_find\n");
    const file = await readConfigFile(userFile);
    assert.deepEqual(file?.settings.get("tools"), ["read", "bash_find"]);
  });

  for (const [what, text] of [
    ["empty", ""],
    ["blank", " \n\n"],
    ["only comments", "# nothing\n# here\n"],
    ["only a byte order mark", "\uFEFF"],
    ["an empty map", "{}\n"],
    ["an empty document", "---\n"],
  ] as const) {
    it(`may be ${what}`, async (t) => {
      const { userFile } = createSandbox(t);
      put(userFile, text);
      assert.equal((await readConfigFile(userFile))?.settings.size, 0);
    });
  }

  it("may be missing, also its folder", async (t) => {
    const { home } = createSandbox(t);
    assert.equal(await readConfigFile(join(home, "a/b.yaml")), undefined);
    put(join(home, "c"), "");
    assert.equal(await readConfigFile(join(home, "c/d.yaml")), undefined);
  });

  const refusals: readonly [string, string | Uint8Array, RegExp][] = [
    ["broken YAML", "model: [a,\nurl: b\n", /^\S+:2:1: Invalid YAML: .+\.$/],
    ["a tab", "model: x\n\turl: y\n", /^\S+:2:1: .*[Tt]abs?/],
    ["a mapping in a mapping", "model: a: b\n", /^\S+:1:8: /],
    ["a name twice", "model: a\nmodel: b\n", /:2:1: This name is used a second time here\.$/],
    ["two documents", "model: a\n---\nmodel: b\n", /:2:1: A second document begins here/],
    ["a list", "- a\n", /:1:1: The file must have lines of the form `name: value`\.$/],
    ["a text", "hello\n", /:1:1: The file must have/],
    [
      "an unknown name",
      "url: http://a\nmodle: x\n",
      /:2:1: Unknown setting `modle`\. Did you mean `model`\?$/,
    ],
    [
      "a name like no other",
      "zzzzzzzzzzz: 1\n",
      /Unknown setting `zzzzzzzzzzz`\. See `offshoot config`\.$/,
    ],
    ["an inherited name", "constructor: 1\n", /Unknown setting `constructor`/],
    ["the name __proto__", "__proto__: 1\n", /Unknown setting `__proto__`/],
    ["a key by that name", "api_key: abc\n", /`api_key_name`\.$/],
    ["a number for text", "model: 5\n", /:1:1: `model` must be text, not `5`\.$/],
    ["nothing for text", "model:\n", /`model` must be text, not `nothing`/],
    [
      "a text for a number",
      "max_turns: many\n",
      /:1:1: `max_turns` must be a whole number from 1 to 1000, not `many`/,
    ],
    ["a number out of range", "\nmax_turns: 0\n", /:2:1: .* not `0`/],
    ["a number that is not valid", "temperature: .nan\n", /must be a number from 0 to 2/],
    ["a text for a switch", "think: maybe\n", /`think` must be `true` or `false`, not `maybe`/],
    ["a list with other things", "tools: [read, 5]\n", /must be a list of names/],
    ["a word that is not a choice", "output: xml\n", /one of text, json, jsonl, sse/],
    ["a map for text", "model: {a: 1}\n", /must be text, not `\{"a":1\}`/],
    ["a tag", "model: !js x\n", /:1:8: .*tag/i],
    ["an alias of nothing", "model: *x\n", /^\S+:1:8: /],
    ["bytes that are not text", Uint8Array.of(0x6d, 0xff, 0xfe), /The file is not UTF-8 text\.$/],
    ["too much", new Uint8Array(1024 * 1024 + 1).fill(0x23), /too large/],
  ];
  for (const [what, text, message] of refusals) {
    it(`is refused in one line for ${what}`, async (t) => {
      const sandbox = createSandbox(t);
      put(sandbox.userFile, text);
      await assert.rejects(loadConfig(sandbox), (failure: Error & { code?: string }) => {
        assert.equal(failure.code, "invalid_request");
        assert.match(failure.message, message);
        assert.ok(failure.message.startsWith(`${sandbox.userFile}:`), failure.message);
        assert.ok(!failure.message.includes("\n"));
        return true;
      });
    });
  }

  it("is refused when its aliases would fill the memory", async (t) => {
    const sandbox = createSandbox(t);
    const levels = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const lines = levels.map((name, at) => {
      const inner = at === 0 ? "x" : `*${levels[at - 1]}`;
      return `  ${name}/m: &${name} [${Array(10).fill(inner).join(",")}]`;
    });
    put(sandbox.userFile, `models:\n${lines.join("\n")}\n`);
    await assert.rejects(loadConfig(sandbox), { code: "invalid_request", message: /alias/ });
  });

  it("is refused when it is a folder", async (t) => {
    const sandbox = createSandbox(t);
    mkdirSync(sandbox.userFile, { recursive: true });
    await assert.rejects(loadConfig(sandbox), {
      code: "invalid_request",
      message: `${sandbox.userFile}: This is a folder, not a configuration file.`,
    });
  });

  it(...unless(ORDINARY_USER_LACK)("is refused when it may not be read"), async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "");
    chmodSync(sandbox.userFile, 0);
    await assert.rejects(loadConfig(sandbox), { message: /You may not read this file\.$/ });
  });

  const secrets: readonly [string, string][] = [
    ["under any name", "model: sk-proj-0123456789abcdefgh"],
    ["under an unknown name", "api_key: sk-abcdefgh0123456789"],
    ["inside a text", "system: Use gsk_abcdefgh0123456789 for this"],
    ["inside a map", "models: {custom/x: {note: AIzaabcdefghijklmnopqrstuvwxyz0123456789}}"],
    ["as a variable's name", "api_key_name: hf_abcdefghijklmnop0123"],
    ["in a URL", "url: https://ada:lovelace1815@example.org/v1"],
  ];
  for (const [what, text] of secrets) {
    it(`is refused for a key ${what}, which is not shown`, async (t) => {
      const sandbox = createSandbox(t);
      put(sandbox.userFile, `${text}\n`);
      await assert.rejects(loadConfig(sandbox), (failure: Error) => {
        assert.match(failure.message, /:1:1: This looks like a key.*`api_key_name`/);
        assert.doesNotMatch(failure.message, /0123|1815/);
        return true;
      });
    });
  }

  it("may name models that begin like a key", async (t) => {
    const { userFile } = createSandbox(t);
    put(userFile, "model: openrouter/skywork-reward-llama-next\n");
    assert.ok(await readConfigFile(userFile));
  });
});
