/** A server that would be its own model is refused before it starts. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { loadConfig } from "../../../src/runtime/config/config.ts";
import { toRuntimeOptions } from "../../../src/runtime/settings.ts";
import type { LoadedServer } from "../../../src/server/running/generation.ts";
import {
  refuseOwnAddress,
  toModelNote,
  toOwnAddress,
} from "../../../src/server/running/own-address.ts";
import { toServerSettings } from "../../../src/server/running/server-settings.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";

interface Setup {
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly usual?: Partial<NonNullable<LoadedServer["usual"]>>;
}

const HERE = { host: "127.0.0.1", port: 8593 };

async function load(t: TestContext, { file = "", env = {}, usual }: Setup): Promise<LoadedServer> {
  const sandbox = createSandbox(t);
  put(sandbox.userFile, file);
  const config = await loadConfig({ ...sandbox, env });
  const around = { env, cwd: sandbox.cwd, stderr: { isTerminal: false }, noStore: false };
  const model = { model: "openai/gpt-5.1", provider: null, url: null, api_key_name: null };
  return {
    settings: toServerSettings(config, around),
    runtime: toRuntimeOptions(config, { env, cwd: sandbox.cwd, stderr: process.stderr }),
    usual: { ...model, ...usual },
    sealKey: new Uint8Array(),
    files: [],
  };
}

describe("a server whose model is at its own address", () => {
  const setups: readonly (readonly [string, Setup])[] = [
    ["`OPENAI_BASE_URL`", { env: { OPENAI_BASE_URL: "http://127.0.0.1:8593/v1" } }],
    ["`OLLAMA_HOST`", { env: { OLLAMA_HOST: "0.0.0.0:8593" } }],
    ["`url`", { usual: { model: "custom/any", url: "http://localhost:8593/v1" } }],
    [
      "`server.models`, `fast`",
      { file: "server: { models: { fast: { model: x, url: 'http://[::1]:8593' } } }" },
    ],
    ["`server.models`, `two`", { file: deploymentsFile("http://127.0.0.2:8593/v1") }],
    [
      "`vendors.mine.url`",
      { file: "vendors: { mine: { provider: openai-chat, url: 'http://127.0.0.1:8593/v1' } }" },
    ],
  ];
  for (const [setBy, setup] of setups) {
    it(`is refused with the name of what says so: ${setBy}`, async (t) => {
      const loaded = await load(t, setup);
      for (const host of ["127.0.0.1", "localhost", "::1", "0.0.0.0"]) {
        assert.throws(
          () => refuseOwnAddress(loaded, { host, port: 8593 }),
          (thrown: Error & { code?: string }) =>
            thrown.code === "invalid_request" &&
            thrown.message.startsWith(`${setBy} (http://`) &&
            !thrown.message.includes("\n"),
        );
      }
      refuseOwnAddress(loaded, { ...HERE, port: 8594 });
    });
  }

  it("is refused once its port is known, where it takes any that is free", async (t) => {
    const loaded = await load(t, { env: { OPENAI_BASE_URL: "http://127.0.0.1:8593/v1" } });
    refuseOwnAddress(loaded, { ...HERE, port: 0 });
    assert.throws(() => refuseOwnAddress(loaded, toOwnAddress("http://[::1]:8593")));
  });

  it("is refused for a local vendor's usual address alone where that vendor is served", async (t) => {
    const ollama = { ...HERE, port: 11_434 };
    refuseOwnAddress(await load(t, {}), ollama);
    const served = await load(t, { usual: { model: "ollama/llama" } });
    assert.throws(() => refuseOwnAddress(served, ollama), /^Failure: `ollama\/llama` \(/);
  });

  it("never shows a password that is part of the address", async (t) => {
    const url = "http://me:hunter2@127.0.0.1:8593/v1?key=hunter2";
    const loaded = await load(t, { usual: { url } });
    assert.throws(
      () => refuseOwnAddress(loaded, HERE),
      ({ message }: Error) => !message.includes("hunter2"),
    );
    assert.equal(toModelNote(loaded), ", model openai/gpt-5.1 at http://127.0.0.1:8593/v1");
  });
});

describe("the line that says where a server listens", () => {
  it("has the address of the model where it is not the vendor's own", async (t) => {
    assert.equal(toModelNote(await load(t, {})), ", model openai/gpt-5.1");
    const env = { OPENAI_BASE_URL: "http://proxy:4000/v1" };
    assert.equal(
      toModelNote(await load(t, { env })),
      ", model openai/gpt-5.1 at http://proxy:4000/v1 (OPENAI_BASE_URL)",
    );
  });
});

function deploymentsFile(url: string): string {
  return `server: { models: { two: [{ model: openai/gpt-5.1 }, { model: x, url: '${url}' }] } }`;
}
