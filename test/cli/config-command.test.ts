import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { main } from "../../src/cli/main.ts";
import { createSandbox, put, type Sandbox } from "../runtime/sandbox.ts";
import { createFakeIo } from "./fake-io.ts";

async function config(
  sandbox: Sandbox,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = createFakeIo(sandbox);
  return { code: await main(["config", ...words], io), ...io.written };
}

describe("offshoot config", () => {
  it("shows every setting with its value and source", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, "model: openai/x\ntools: [read, bash_find]\n");
    const { code, stdout, stderr } = await config(sandbox);
    assert.equal(code, 0);
    assert.equal(stderr, "");
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    assert.deepEqual(rows[0], ["model", "openai/x", `user file ${sandbox.userFile}`]);
    assert.ok(rows.some((row) => row.join("|") === "max_turns|50|default"));
    assert.ok(rows.some(([name, value]) => name === "tools" && value === "read,bash_find"));
    assert.equal((await config(sandbox, "show")).stdout, stdout);
  });

  it("shows the same as JSON, with what was ignored", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "url: http://a.example\n");
    const { stdout, stderr } = await config(sandbox, "--json");
    const { settings, warnings } = JSON.parse(stdout);
    assert.deepEqual(settings.max_turns, { value: 50, source: "default" });
    assert.deepEqual(settings.url, { value: null, source: "default" });
    assert.match(warnings[0], /`url` in it is ignored/);
    assert.equal(stderr, `offshoot: ${warnings[0]}\n`);
  });

  it("prints one value alone on its line", async (t) => {
    const sandbox = createSandbox(t);
    assert.equal((await config(sandbox, "get", "max_turns")).stdout, "50\n");
    assert.equal((await config(sandbox, "get", "model")).stdout, "");
    const { stdout } = await config(sandbox, "get", "max_turns", "--json");
    assert.deepEqual(JSON.parse(stdout), { name: "max_turns", value: 50, source: "default" });
  });

  it("sets a value that is there afterwards", async (t) => {
    const sandbox = createSandbox(t);
    const { code, stdout } = await config(sandbox, "set", "model", "openai/x");
    assert.equal(code, 0);
    assert.equal(stdout, `model is set in ${sandbox.userFile}\n`);
    assert.equal((await config(sandbox, "get", "model")).stdout, "openai/x\n");
  });

  it("`config set KEY []` clears a list", async (t) => {
    const sandbox = createSandbox(t);
    await config(sandbox, "set", "deny", "command(rm *)");
    assert.equal((await config(sandbox, "set", "deny", "[]")).code, 0);
    assert.equal(readFileSync(sandbox.userFile, "utf8"), "deny: []\n");
    assert.equal((await config(sandbox, "get", "deny")).stdout, "\n");
  });

  it("sets a value that looks negative after --", async (t) => {
    const { code, stderr } = await config(createSandbox(t), "set", "temperature", "--", "-1");
    assert.equal(code, 2);
    assert.match(stderr, /`temperature` must be a number from 0 to 2, not `-1`/);
  });

  it("sets a project's value and says when it has no effect yet", async (t) => {
    const sandbox = createSandbox(t);
    const { stdout, stderr } = await config(sandbox, "set", "--project", "url", "http://a.example");
    assert.equal(stdout, `url is set in ${sandbox.projectFile}\n`);
    assert.match(stderr, /takes effect only in a trusted file\. Run `offshoot config trust`/);
    assert.equal(readFileSync(sandbox.projectFile, "utf8"), "url: http://a.example\n");
    const plain = await config(sandbox, "set", "--project", "temperature", "1");
    assert.equal(plain.stderr, "");
    const limit = await config(sandbox, "set", "--project", "max_turns", "9");
    assert.match(limit.stderr, /takes effect above your own setting only in a trusted file/);
  });

  it("does not make the home folder a project", async (t) => {
    const sandbox = createSandbox(t);
    const io = createFakeIo({ ...sandbox, cwd: sandbox.home });
    assert.equal(await main(["config", "set", "--project", "model", "a/b"], io), 2);
    assert.match(io.written.stderr, /the home folder is not a project/);
  });

  it("trusts and untrusts a project's file", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "url: http://a.example\n");
    const trusted = await config(sandbox, "trust");
    assert.equal(trusted.code, 0);
    assert.equal(
      trusted.stdout,
      `${sandbox.projectFile} is now trusted. Trust it again after you change it.\n  url  http://a.example\n`,
    );
    assert.equal((await config(sandbox, "get", "url")).stdout, "http://a.example\n");
    assert.match((await config(sandbox, "untrust")).stdout, /is no longer trusted\.\n$/);
    assert.equal((await config(sandbox, "get", "url")).stdout, "");
    assert.match((await config(sandbox, "untrust")).stdout, /was not trusted\.\n$/);
  });

  it("trusts the file of a folder that is named", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "url: http://a.example\n");
    const io = createFakeIo({ ...sandbox, cwd: sandbox.home });
    assert.equal(await main(["config", "trust", "project"], io), 0);
    assert.equal((await config(sandbox, "get", "url")).stdout, "http://a.example\n");
  });

  it("trusts no file of the folder above a missing one", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "url: http://a.example\n");
    const { code, stdout, stderr } = await config(sandbox, "trust", "nosuchdir");
    assert.deepEqual([code, stdout], [2, ""]);
    assert.equal(stderr, "offshoot: There is no folder `nosuchdir`.\n");
    await config(sandbox, "trust");
    const untrusted = await config(sandbox, "untrust", "nosuchdir");
    assert.match(untrusted.stdout, /nosuchdir\/\.offshoot\/config\.yaml was not trusted\.\n$/);
    assert.equal((await config(sandbox, "get", "url")).stdout, "http://a.example\n");
  });

  it("lists every setting that trusting the file lets take effect", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "temperature: 1\nmax_turns: 99\nurl: http://a.example\n");
    const { stdout } = await config(sandbox, "trust");
    assert.match(stdout, /change it\.\n {2}max_turns {2}99\n {2}url {2}http:\/\/a\.example\n$/);
  });

  it("has nothing to trust without a file", async (t) => {
    const sandbox = createSandbox(t);
    const { code, stderr } = await config(sandbox, "trust");
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^offshoot: There is no \.offshoot\/config\.yaml in .*project or above it\.\n$/,
    );
  });

  it("does not trust what it cannot read", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "url: [\n");
    const { code, stderr } = await config(sandbox, "trust");
    assert.equal(code, 2);
    assert.match(stderr, /config\.yaml:\d+:\d+: /);
  });

  it("says where the files are", async (t) => {
    const sandbox = createSandbox(t);
    put(sandbox.projectFile, "");
    const { stdout } = await config(sandbox, "path", "--json");
    assert.deepEqual(JSON.parse(stdout), {
      user: sandbox.userFile,
      project: sandbox.projectFile,
      data: join(sandbox.home, ".local/share/offshoot"),
    });
    assert.match(
      (await config(sandbox, "path")).stdout,
      /^user {5}\S+\nproject {2}\S+\ndata {5}\S+\n$/,
    );
  });

  for (const [words, message] of [
    [["get"], /Write `offshoot config get KEY`\./],
    [["set", "model"], /Write `offshoot config set KEY VALUE`\./],
    [["set", "model", "a", "b"], /Write `offshoot config set KEY VALUE`\./],
    [["get", "modle"], /Unknown setting `modle`\. Did you mean `model`\?/],
    [["set", "modle", "x"], /Unknown setting `modle`/],
    [["set", "deny", "comand(rm)"], /`comand\(rm\)` names no tool\. Did you mean `command`\?/],
    [["set", "allow", "shell(git *), path()"], /`path\(\)` is not a valid rule/],
    [["set", "max_turns", "many"], /`max_turns` must be a whole number/],
    [
      ["set", "server.path_prefix", "keep"],
      /`server\.path_prefix` must be a path such as `\/keep`, .*, not `keep`\.$/m,
    ],
    [["set", "server.path_prefix", "/a b"], /must be a path such as `\/keep`/],
    [["set", "system", "key sk-abcdefgh0123456789"], /looks like a key/],
  ] as const) {
    it(`refuses \`config ${words.join(" ")}\` in one line`, async (t) => {
      const { code, stdout, stderr } = await config(createSandbox(t), ...words);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, message);
      assert.equal(stderr.trimEnd().split("\n").length, 1);
    });
  }
});
