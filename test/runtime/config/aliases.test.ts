import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { type Config, loadConfig } from "../../../src/runtime/config/config.ts";
import { addressOfModel } from "../../../src/runtime/model-address.ts";

interface Files {
  readonly user?: string;
  readonly project?: string;
}

async function load(t: TestContext, files: Files, model?: string): Promise<Config> {
  const home = await mkdtemp(join(tmpdir(), "offshoot-aliases-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const cwd = join(home, "work");
  const user = join(home, ".config", "offshoot");
  const project = join(cwd, ".offshoot");
  for (const folder of [user, project]) await mkdir(folder, { recursive: true });
  if (files.user) await writeFile(join(user, "config.yaml"), files.user);
  if (files.project) await writeFile(join(project, "config.yaml"), files.project);
  return await loadConfig({ env: {}, home, cwd, flags: { model } });
}

const ALIASES = "aliases:\n  fast: groq/llama-4\n  big: openai/gpt-5.1\n";

describe("aliases of models", () => {
  it("can be used wherever a model is named", async (t) => {
    assert.equal((await load(t, { user: ALIASES }, "fast")).get("model"), "groq/llama-4");
    assert.equal(
      (await load(t, { user: `model: big\n${ALIASES}` })).get("model"),
      "openai/gpt-5.1",
    );
    assert.equal((await load(t, { user: ALIASES }, "openai/x")).get("model"), "openai/x");
  });

  it("are ignored in a project's file that is not trusted", async (t) => {
    const files = { user: ALIASES, project: "aliases:\n  big: evil/model\n" };
    const config = await load(t, files, "big");
    assert.equal(config.get("model"), "openai/gpt-5.1");
    assert.match(config.warnings.join("\n"), /`aliases` in it is ignored/);
  });

  it("do not move an address from the vendor that it was set with", async (t) => {
    const user = `model: custom/mine\nurl: http://127.0.0.1:9/v1\n${ALIASES}`;
    const config = await load(t, { user }, "big");
    assert.equal(addressOfModel(config, config.get("model") ?? "").url, undefined);
  });

  const refused: readonly [yaml: string, said: RegExp][] = [
    ["aliases: {openai: groq/x}", /`openai` is a vendor's name/],
    ["aliases: {fast: big}", /`fast` must name a model as vendor\/model/],
    ["aliases: {a/b: groq/x}", /`a\/b` is not a name/],
    ["aliases: {fast: 3}", /`fast` must name a model as vendor\/model/],
  ];
  for (const [yaml, said] of refused) {
    it(`refuse ${yaml}`, async (t) => {
      await assert.rejects(load(t, { user: yaml }), { code: "invalid_request", message: said });
    });
  }
});
