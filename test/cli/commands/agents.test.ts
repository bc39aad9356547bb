import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Options } from "../../../src/cli/command.ts";
import { run } from "../../../src/cli/commands/agents.ts";
import { createSandbox, put, type Sandbox } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

async function agents(
  sandbox: Sandbox,
  words: readonly string[],
  options: Options = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = createFakeIo(sandbox);
  return { code: await run({ words, options }, io), ...io.written };
}

const userAgent = ({ home }: Sandbox, name: string): string =>
  join(home, ".config/offshoot/agents", `${name}.md`);
const projectAgent = ({ cwd }: Sandbox, name: string): string =>
  join(cwd, ".offshoot/agents", `${name}.md`);

const text = (name: string, description: string, ...more: string[]): string =>
  ["---", `name: ${name}`, `description: ${description}`, ...more, "---", "Do it."].join("\n");

/** As its user would: with a description. */
function edit(path: string): void {
  const written = readFileSync(path, "utf8");
  put(path, written.replace(/^description: .*$/m, "description: Finds things."));
}

describe("offshoot agents", () => {
  it("names an agent that a run here cannot call, and why", async (t) => {
    const sandbox = createSandbox(t);
    put(userAgent(sandbox, "far"), text("far", "x", "tools: [file_ops]"));
    put(userAgent(sandbox, "near"), text("near", "x", "tools: [bash_read, grep, scrape_webpage]"));
    const why = /The agent `far` needs `file_ops`, which its parent does not have/;
    const checked = await agents(sandbox, ["check"]);
    assert.equal(checked.code, 1);
    assert.match(checked.stderr, why);
    assert.ok(!checked.stderr.includes("near"));
    const { stdout } = await agents(sandbox, ["list"]);
    assert.match(stdout, /^far .*\(It cannot be called: The agent `far` needs `file_ops`/m);
    assert.match(stdout, /^near {2}user {5}x$/m);
    assert.match((await agents(sandbox, ["show", "far"])).stdout, why);
  });

  it("lets an agent name `skill`, with and without skills in the folder", async (t) => {
    const sandbox = createSandbox(t);
    put(userAgent(sandbox, "releaser"), text("releaser", "x", "tools: [read, skill]"));
    const checkBoth = async (): Promise<void> => {
      const { code, stderr } = await agents(sandbox, ["check"]);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match((await agents(sandbox, ["list"])).stdout, /^releaser {2}user {5}x$/m);
    };
    await checkBoth();
    put(join(sandbox.cwd, ".agents/skills/release/SKILL.md"), text("release", "How to release."));
    await checkBoth();
  });

  it("lists nothing, and says how to begin", async (t) => {
    const { stdout, stderr } = await agents(createSandbox(t), []);
    assert.equal(stdout, "");
    assert.match(stderr, /offshoot agents new NAME/);
  });

  it("makes a new agent that passes its own check, and never overwrites one", async (t) => {
    const sandbox = createSandbox(t);
    const made = await agents(sandbox, ["new", "helper"]);
    assert.match(made.stdout, /Created .*helper\.md\. .*offshoot agents check helper\n$/);
    assert.match(readFileSync(userAgent(sandbox, "helper"), "utf8"), /^---\n# The name/);
    const unedited = await agents(sandbox, ["check"]);
    assert.equal(unedited.code, 1);
    assert.match(unedited.stderr, /helper\.md:\d+: `description` is still the template's\./);
    edit(userAgent(sandbox, "helper"));
    assert.deepEqual(await agents(sandbox, ["check"]), {
      code: 0,
      stdout: "1 agent checked.\n",
      stderr: "",
    });
    await assert.rejects(agents(sandbox, ["new", "helper"]), /exists already/);
    await assert.rejects(agents(sandbox, ["new", "../x"]), /is not a valid name of an agent/);
  });

  it("lists the user's and the project's, and which are used", async (t) => {
    const sandbox = createSandbox(t);
    put(userAgent(sandbox, "a"), text("a", "Mine."));
    put(userAgent(sandbox, "b"), "broken");
    put(projectAgent(sandbox, "a"), text("a", "The project's."));
    const before = await agents(sandbox, ["list"]);
    assert.match(
      before.stdout,
      /^a {2}user {5}Mine\.\nb {2}user .*\(broken\)\na {2}project {2}The/,
    );
    assert.match(before.stdout, /The project's\. \(not trusted\)\n$/);
    const trusted = await agents(sandbox, ["trust", "a"]);
    assert.match(trusted.stdout, /a\.md is now trusted\. Trust it again after you change it\.\n$/);
    const after = await agents(sandbox, ["list"], { json: true });
    assert.deepEqual(
      JSON.parse(after.stdout).map((row: Record<string, string>) => [
        row["name"],
        row["scope"],
        row["standing"],
      ]),
      [
        ["a", "user", "shadowed"],
        ["b", "user", "broken"],
        ["a", "project", "used"],
      ],
    );
    put(projectAgent(sandbox, "a"), text("a", "Another."));
    assert.match(
      (await agents(sandbox, [])).stdout,
      /Another\. \(changed since it was trusted\)\n/,
    );
    assert.match((await agents(sandbox, ["untrust", "a"])).stdout, /is no longer trusted/);
  });

  it("shows one with everything it has", async (t) => {
    const sandbox = createSandbox(t);
    put(userAgent(sandbox, "a"), text("a", "Mine.", "tools: []", "budget: {turns: 3}"));
    const { stdout } = await agents(sandbox, ["show", "a"]);
    assert.match(
      stdout,
      /^file +.*a\.md\nstanding +used\ndescription {2}Mine\.\nmodel +its parent's/,
    );
    assert.match(stdout, /\ntools +none\nbudget +turns 3\nanswers +text\n\nDo it\.\n$/);
    await assert.rejects(agents(sandbox, ["show", "ab"]), {
      code: "not_found",
      message: "Unknown agent `ab`. Did you mean `a`?",
    });
  });

  it("checks all of them, and ends with 1 and a line for each mistake", async (t) => {
    const sandbox = createSandbox(t);
    put(userAgent(sandbox, "good"), text("good", "x", "tools: [read, subagent]"));
    put(userAgent(sandbox, "tools"), text("tools", "x", "tools: [raed]"));
    put(userAgent(sandbox, "model"), text("model", "x", "model: opnai/gpt-5.1"));
    put(projectAgent(sandbox, "name"), text("other", "x"));
    const { code, stdout, stderr } = await agents(sandbox, ["check"]);
    assert.deepEqual([code, stdout], [1, ""]);
    const lines = stderr.trimEnd().split("\n");
    assert.equal(lines.length, 3);
    assert.match(lines[0] ?? "", /model\.md: Unknown vendor `opnai`\. Did you mean `openai/);
    assert.match(lines[1] ?? "", /tools\.md: No tool fits `raed`\. Did you mean `read`\?/);
    assert.match(lines[2] ?? "", /name\.md:2: The agent `other` must be in `other\.md`/);
    assert.equal((await agents(sandbox, ["check", "good"])).code, 0);
    const json = await agents(sandbox, ["check", "tools"], { json: true });
    assert.equal(JSON.parse(json.stdout).problems.length, 1);
    assert.equal(json.code, 1);
  });

  it("makes one for the project, which is not used before it is trusted", async (t) => {
    const sandbox = createSandbox(t);
    const made = await agents(sandbox, ["new", "mine"], { project: true });
    assert.match(made.stdout, /run `offshoot agents trust mine` first\n$/);
    assert.ok(readFileSync(projectAgent(sandbox, "mine"), "utf8").includes("name: mine"));
    const home = { ...sandbox, cwd: sandbox.home };
    await assert.rejects(agents(home, ["new", "x"], { project: true }), /is not a project/);
  });

  it("refuses an unknown action, and says how to write it", async (t) => {
    const sandbox = createSandbox(t);
    await assert.rejects(agents(sandbox, ["drop"]), /Unknown command `offshoot agents drop`/);
    await assert.rejects(agents(sandbox, ["show"]), /Write `offshoot agents show NAME`/);
    await assert.rejects(agents(sandbox, ["trust", "x"]), /no agents of a project here/);
  });
});
