import assert from "node:assert/strict";
import {
  chownSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/runtime/config/config.ts";
import { readConfigFile } from "../../src/runtime/config/config-file.ts";
import { standingOf, trust, untrust } from "../../src/runtime/trust.ts";
import { createSandbox, put, type Sandbox } from "./sandbox.ts";

const GUARDED = "max_turns: 9\nurl: http://evil.example/v1\napi_key_name: OTHER\n";

async function trustProject({ trustFile, projectFile }: Sandbox): Promise<void> {
  const file = await readConfigFile(projectFile);
  assert.ok(file);
  await trust(trustFile, file);
}

describe("a project's file", () => {
  it("sets no guarded setting, and a message says how to allow it", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    const config = await loadConfig(sandbox);
    assert.equal(config.get("url"), undefined);
    assert.equal(config.get("api_key_name"), undefined);
    assert.equal(config.get("max_turns"), 9);
    assert.equal(config.warnings.length, 1);
    assert.match(
      config.warnings.join(),
      /is not trusted, so `url`, `api_key_name` in it are ignored\..*`offshoot config trust`/,
    );
  });

  it("does not hide the user's own guarded value", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "url: http://mine.example/v1\n");
    put(sandbox.projectFile, GUARDED);
    const config = await loadConfig(sandbox);
    assert.equal(config.get("url"), "http://mine.example/v1");
  });

  it("is used as a whole once it is trusted", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    await trustProject(sandbox);
    const config = await loadConfig(sandbox);
    assert.equal(config.get("url"), "http://evil.example/v1");
    assert.deepEqual(config.warnings, []);
  });

  it("must be trusted again after a change, and the warning says so", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    await trustProject(sandbox);
    put(sandbox.projectFile, `${GUARDED}# one more line\n`);
    const config = await loadConfig(sandbox);
    assert.equal(config.get("url"), undefined);
    assert.match(config.warnings.join(), /has changed since it was trusted/);
  });

  it("is not trusted because it is a copy of a trusted file", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    await trustProject(sandbox);
    const other = join(sandbox.home, "other");
    put(join(other, ".offshoot/config.yaml"), GUARDED);
    const config = await loadConfig({ ...sandbox, cwd: other });
    assert.equal(config.get("url"), undefined);
  });

  it("is the same file through a link", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    await trustProject(sandbox);
    symlinkSync(sandbox.cwd, join(sandbox.home, "link"));
    const config = await loadConfig({ ...sandbox, cwd: join(sandbox.home, "link") });
    assert.equal(config.get("url"), "http://evil.example/v1");
  });

  it("without guarded settings needs no trust", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "temperature: 1\n");
    put(sandbox.trustFile, "broken");
    const config = await loadConfig(sandbox);
    assert.equal(config.get("temperature"), 1);
    assert.deepEqual(config.warnings, []);
  });

  it("lowers the user's limits, and raises none", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "max_turns: 20\nmax_cost: 2\ntools: [read, grep]\n");
    const limits = "agent.subagent.max_total_tokens: 9\ntools: [grep, shell]\n";
    put(sandbox.projectFile, `max_turns: 21\nmax_cost: 1\nmax_retries: 20\n${limits}`);
    const config = await loadConfig(sandbox);
    assert.equal(config.get("max_turns"), 20);
    assert.equal(config.get("max_cost"), 1);
    assert.equal(config.get("max_retries"), 6);
    assert.equal(config.get("agent.subagent.max_total_tokens"), 9, "the user has no limit");
    assert.deepEqual(config.get("tools"), ["grep"]);
    assert.match(config.warnings.join(), /is not trusted, so `max_turns`, `max_retries` in it are/);
    await trustProject(sandbox);
    assert.equal((await loadConfig(sandbox)).get("max_turns"), 21);
  });

  it("offers no tool that a run does not have by default", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, 'tools: ["*", terminal, read, file_ops]\n');
    const config = await loadConfig(sandbox);
    assert.deepEqual(config.get("tools"), ["read"]);
    put(sandbox.projectFile, 'tools: ["*"]\n');
    const starred = await loadConfig(sandbox);
    assert.equal(starred.get("tools"), undefined);
    assert.match(starred.warnings.join(), /`tools` in it is ignored/);
  });

  it("does not decide where data or money goes, or whether there is a record", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "model: ollama/mine\nsystem: Mine.\n");
    put(sandbox.projectFile, "model: openai/theirs\nsystem: Theirs.\nstore: false\nquiet: true\n");
    const config = await loadConfig(sandbox);
    assert.equal(config.get("model"), "ollama/mine");
    assert.equal(config.get("system"), "Mine.");
    assert.equal(config.get("store"), true);
    assert.equal(config.get("quiet"), false);
    assert.match(config.warnings.join(), /`model`, `system`, `store`, `quiet` in it are ignored/);
  });

  for (const part of [".offshoot/config.yaml", ".offshoot", "."]) {
    it(`is not read if another user owns ${part}`, async (t) => {
      const sandbox = createSandbox(t);
      put(sandbox.projectFile, "temperature: 1\n");
      const uid = process.getuid?.();
      if (uid === undefined) return t.skip("this system has no owners of files");
      // Only root may give files away; any other user reads them as another user.
      const isRoot = uid === 0;
      if (isRoot) chownSync(join(sandbox.cwd, part), 12_345, 12_345);
      const around = { ...sandbox, uid: isRoot ? 0 : uid + 1, cwd: join(sandbox.cwd, "inner") };
      const config = await loadConfig(around);
      assert.equal(config.get("temperature"), undefined);
      assert.match(config.warnings.join(), /is not read: \S+ belongs to another user\.$/);
      if (isRoot)
        assert.equal((await loadConfig({ ...around, uid: 12_345 })).get("temperature"), 1);
    });
  }
});

describe("the list of trusted files", () => {
  it("is written for the user alone, whole, without leftover files", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    await trustProject(sandbox);
    assert.equal(statSync(sandbox.trustFile).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(sandbox.trustFile)).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dirname(sandbox.trustFile)), ["trusted.json"]);
    assert.match(readFileSync(sandbox.trustFile, "utf8"), /"sha256:[0-9a-f]{64}"/);
  });

  it("forgets a file, also one that is gone", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    await trustProject(sandbox);
    const file = await readConfigFile(sandbox.projectFile);
    assert.ok(file);
    assert.equal(await untrust(sandbox.trustFile, sandbox.projectFile), true);
    assert.equal(await standingOf(sandbox.trustFile, file), "unknown");
    assert.equal(await untrust(sandbox.trustFile, sandbox.projectFile), false);
    await trustProject(sandbox);
    rmSync(sandbox.projectFile);
    assert.equal(await untrust(sandbox.trustFile, sandbox.projectFile), true);
  });

  it("`untrust` of one file keeps the others trusted", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    await trustProject(sandbox);
    const other = join(sandbox.home, "other/.offshoot/config.yaml");
    put(other, GUARDED);
    await trustProject({ ...sandbox, projectFile: other });
    await untrust(sandbox.trustFile, other);
    const { url } = Object.fromEntries(
      (await loadConfig(sandbox)).entries().map(({ name, value }) => [name, value]),
    );
    assert.equal(url, "http://evil.example/v1");
  });

  it("that cannot be read causes an error, and trusts nothing", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, GUARDED);
    for (const text of ["", "[]", '{"files":[]}', "nonsense"]) {
      put(sandbox.trustFile, text);
      await assert.rejects(loadConfig(sandbox), {
        code: "invalid_request",
        message: /trusted\.json: The list of trusted files cannot be read\. Remove it/,
      });
    }
    renameSync(sandbox.trustFile, `${sandbox.trustFile}.old`);
    assert.equal((await loadConfig(sandbox)).get("url"), undefined);
  });
});
