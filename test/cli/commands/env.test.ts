import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Options } from "../../../src/cli/command.ts";
import { run } from "../../../src/cli/commands/env.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

interface Asked {
  readonly options?: Options;
  readonly settings?: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function env(
  t: TestContext,
  client: string,
  { options = {}, settings, env: variables = {} }: Asked = {},
): Promise<string> {
  const sandbox = createSandbox(t);
  if (settings) put(join(sandbox.home, ".config/offshoot/config.yaml"), settings);
  const io = createFakeIo({ ...sandbox, env: { ...sandbox.env, ...variables } });
  await run({ words: client === "" ? [] : [client], options }, io);
  return io.written.stdout;
}

describe("offshoot env", () => {
  it("prints what Claude Code needs to ask one model under all its names", async (t) => {
    const options = { model: "openai/gpt-5.1" };
    assert.equal(
      await env(t, "claude", { options, env: { OFFSHOOT_SERVER_KEY: "osk_SECRET" } }),
      [
        "export ANTHROPIC_BASE_URL=http://127.0.0.1:8484",
        'export ANTHROPIC_AUTH_TOKEN="$OFFSHOOT_SERVER_KEY"',
        "export ANTHROPIC_MODEL=openai/gpt-5.1",
        "export ANTHROPIC_DEFAULT_FABLE_MODEL=openai/gpt-5.1",
        "export ANTHROPIC_DEFAULT_OPUS_MODEL=openai/gpt-5.1",
        "export ANTHROPIC_DEFAULT_SONNET_MODEL=openai/gpt-5.1",
        "export ANTHROPIC_DEFAULT_HAIKU_MODEL=openai/gpt-5.1",
        "export CLAUDE_CODE_SUBAGENT_MODEL=openai/gpt-5.1",
        "export CLAUDE_CODE_MAX_CONTEXT_TOKENS=400000",
        "export CLAUDE_CODE_AUTO_COMPACT_WINDOW=400000",
        "export CLAUDE_CODE_ATTRIBUTION_HEADER=0",
        "",
      ].join("\n"),
    );
  });

  it("says on standard error how the key gets in, unless OFFSHOOT_SERVER_KEY has it", async (t) => {
    const sandbox = createSandbox(t);
    const hints: string[] = [];
    for (const key of ["", "osk_SECRET"]) {
      const io = createFakeIo({ ...sandbox, env: { ...sandbox.env, OFFSHOOT_SERVER_KEY: key } });
      await run({ words: ["openai"], options: {} }, io);
      hints.push(io.written.stderr);
    }
    assert.match(hints[0] ?? "", /replace osk_PUT_YOUR_KEY_HERE .*or set OFFSHOOT_SERVER_KEY/);
    assert.equal(hints[1], "");
  });

  it("knows the window of a model that the server has under another name, or that the settings describe", async (t) => {
    const settings = [
      "server:",
      "  models:",
      "    claude-sonnet-4-5: openai/gpt-5.1",
      "    claude-*: [openai/gpt-5.1]",
      "models:",
      "  vllm/qwen3: { context_tokens: 32000 }",
    ].join("\n");
    const rows = {
      "claude-sonnet-4-5": 400_000,
      "claude-anything": 400_000,
      "vllm/qwen3": 32_000,
      "embedded/offline": undefined,
      "a b": undefined,
    };
    for (const [model, window] of Object.entries(rows)) {
      const printed = await env(t, "claude", { options: { model }, settings });
      const [, told] = /CLAUDE_CODE_MAX_CONTEXT_TOKENS=(\d+)/.exec(printed) ?? [];
      assert.equal(told, window === undefined ? undefined : String(window), model);
    }
  });

  it("reads the address from the settings", async (t) => {
    const settings = "server:\n  host: 0.0.0.0\n  port: 9000\n  path_prefix: /ai\n";
    assert.match(
      await env(t, "openai", { settings }),
      /^export OPENAI_BASE_URL=http:\/\/127\.0\.0\.1:9000\/ai\/v1\nexport OPENAI_API_KEY=osk_/,
    );
  });

  it("prints the provider that codex needs in its file", async (t) => {
    const options = { model: 'a"b', url: "https://x.example.org/v1/" };
    const printed = await env(t, "codex", { options });
    assert.match(printed, /^model = "a\\"b"$/m);
    assert.match(printed, /^base_url = "https:\/\/x\.example\.org\/v1"$/m);
  });

  it("quotes what a shell would misread", async (t) => {
    const printed = await env(t, "claude", { options: { model: "a b'; rm -rf x" } });
    assert.match(printed, /^export ANTHROPIC_MODEL='a b'\\''; rm -rf x'$/m);
  });

  const BAD: Readonly<Record<string, [string, Asked, RegExp]>> = {
    "no client": ["", {}, /^Name a client\. Available: claude, codex, openai\.$/],
    "an unknown client": ["vim", {}, /^Unknown client `vim`\. Available:/],
    "an address that is none": [
      "openai",
      { options: { url: "localhost" } },
      /`--url` is `localhost`/,
    ],
    "a port that is chosen at the start": ["openai", { settings: "server:\n  port: 0\n" }, /--url/],
  };
  for (const [name, [client, asked, message]] of Object.entries(BAD)) {
    it(`refuses ${name}`, async (t) => {
      await assert.rejects(env(t, client, asked), { code: "invalid_request", message });
    });
  }
});
