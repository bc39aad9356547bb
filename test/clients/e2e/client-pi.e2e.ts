/** pi against our server, over each of the three APIs that it speaks: only where `pi` is on the path. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reply } from "../../../src/testing/index.ts";
import { type ClientBench, serveEmbedded, serveScript } from "./client-fixture.ts";
import {
  afterResults,
  openProgramHome,
  type ProgramHome,
  type Ran,
  whereInstalled,
} from "./client-program.ts";

const named = whereInstalled("pi");

/** What pi calls them, and where it wants the address to end. */
const APIS = [
  { api: "openai-responses", toUrl: ({ baseURL }: ClientBench) => baseURL },
  { api: "openai-completions", toUrl: ({ baseURL }: ClientBench) => baseURL },
  { api: "anthropic-messages", toUrl: ({ served }: ClientBench) => served.url },
] as const;

describe("pi", () => {
  for (const { api, toUrl } of APIS) {
    it(...named(`is answered over ${api}`), async () => {
      await using bench = await serveEmbedded();
      await using home = await openPi(toUrl(bench), api, "embedded/offline");
      const { code, stdout, said } = await ask(home, "embedded/offline", "compute 12 * (3 + 4)");
      assert.equal(code, 0, said);
      assert.match(stdout, /84/);
    });

    it(...named(`runs a command and edits a file over ${api}`), async () => {
      const engine = afterResults("bash", [
        reply.reasoning(
          "I look first.",
          reply.calls([{ name: "bash", arguments: { command: "cat note.txt" } }]),
        ),
        ([output = ""]) => {
          const edits = [{ oldText: output.trim().split("\n")[0], newText: "two" }];
          return reply.calls([{ name: "edit", arguments: { path: "note.txt", edits } }]);
        },
        reply.text("Edited."),
      ]);
      await using bench = await serveScript(engine);
      await using home = await openPi(toUrl(bench), api, "custom/scripted");
      await home.write("work/note.txt", "one\n");
      const { code, stdout, said } = await ask(home, "custom/scripted", "Change it");
      assert.equal(code, 0, said);
      assert.match(stdout, /Edited\./, said);
      assert.equal(await readFile(join(home.cwd, "note.txt"), "utf8"), "two\n");
    });
  }

  it(...named("says what the server refuses"), async () => {
    await using bench = await serveEmbedded();
    await using home = await openPi(bench.baseURL, "openai-responses", "embedded/offline");
    const wrong = await ask(home, "embedded/offline", "Hi", { OFFSHOOT_TEST_KEY: "wrong" });
    assert.match(wrong.said, /401|not a valid|key/i);
  });
});

async function openPi(baseUrl: string, api: string, id: string): Promise<ProgramHome> {
  const home = await openProgramHome();
  const apiKey = await nameKey(home);
  const provider = { baseUrl, api, apiKey, models: [{ id }] };
  const providers = { offshoot: provider };
  await home.write("home/.pi/agent/models.json", JSON.stringify({ providers }));
  return home;
}

/** How its settings name a variable: versions before 0.77 take `$NAME` for the key itself, later ones `NAME`. */
async function nameKey({ run }: ProgramHome): Promise<string> {
  const { said } = await run("pi", ["--version"], { PI_OFFLINE: "1" });
  const [, major, minor] = /^(\d+)\.(\d+)\.\d+/m.exec(said) ?? assert.fail(said);
  const isOlder = Number(major) === 0 && Number(minor) < 77;
  return isOlder ? "OFFSHOOT_TEST_KEY" : "$OFFSHOOT_TEST_KEY";
}

function ask(
  { run }: ProgramHome,
  model: string,
  prompt: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  const args = ["--provider", "offshoot", "--model", model, "--no-session", "-p", prompt];
  return run("pi", args, { PI_OFFLINE: "1", ...env });
}
