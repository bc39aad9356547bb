/** opencode against our server, over chat completions, Responses and Messages: only where `opencode` is on the path. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reply } from "../../../src/testing/index.ts";
import { serveEmbedded, serveScript } from "./client-fixture.ts";
import {
  afterResults,
  openProgramHome,
  type ProgramHome,
  type Ran,
  whereInstalled,
} from "./client-program.ts";

const named = whereInstalled("opencode");

/** The packages that it has inside for them. */
const PACKAGES = ["@ai-sdk/openai-compatible", "@ai-sdk/openai", "@ai-sdk/anthropic"] as const;

describe("opencode", () => {
  for (const npm of PACKAGES) {
    it(...named(`is answered over ${npm}`), async () => {
      await using bench = await serveEmbedded();
      await using home = await openOpencode(bench.baseURL, npm, "embedded/offline");
      const { code, stdout, said } = await ask(home, "embedded/offline", "compute 12 * (3 + 4)");
      assert.equal(code, 0, said);
      assert.match(stdout, /84/, said);
    });

    it(...named(`runs a command and edits a file over ${npm}`), async () => {
      const file = { path: "" };
      const engine = afterResults("bash", [
        () => {
          const command = `cat ${file.path}`;
          return reply.calls([{ name: "bash", arguments: { command, description: "Look" } }]);
        },
        () => reply.calls([{ name: "read", arguments: { filePath: file.path } }]),
        ([output = ""]) => {
          const change = { oldString: output.trim(), newString: "two" };
          return reply.calls([{ name: "edit", arguments: { filePath: file.path, ...change } }]);
        },
        reply.text("Edited."),
      ]);
      await using bench = await serveScript(engine);
      await using home = await openOpencode(bench.baseURL, npm, "custom/scripted");
      file.path = join(home.cwd, "note.txt");
      await home.write("work/note.txt", "one\n");
      const { code, stdout, said } = await ask(home, "custom/scripted", "Change it");
      assert.equal(code, 0, said);
      assert.match(stdout, /Edited\./, said);
      assert.equal(await readFile(file.path, "utf8"), "two\n");
    });
  }
});

async function openOpencode(baseURL: string, npm: string, id: string): Promise<ProgramHome> {
  const home = await openProgramHome();
  const options = { baseURL, apiKey: "{env:OFFSHOOT_TEST_KEY}" };
  const provider = { offshoot: { npm, name: "Offshoot", options, models: { [id]: { name: id } } } };
  const settings = { provider, autoupdate: false, share: "disabled", permission: "allow" };
  await home.write("home/.config/opencode/opencode.json", JSON.stringify(settings));
  return home;
}

function ask({ run }: ProgramHome, model: string, prompt: string): Promise<Ran> {
  const quiet = {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  };
  // It puts words with spaces in quotes: these are given one by one.
  return run("opencode", ["run", "-m", `offshoot/${model}`, ...prompt.split(" ")], quiet);
}
