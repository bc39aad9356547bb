/** `run --agent NAME`: an agent's file as the run itself. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { toAgentLayer } from "../../../src/cli/main-agent.ts";
import { pickModel } from "../../../src/cli/pick-model.ts";
import type { AgentDefinition } from "../../../src/delegation/agents/definition.ts";
import { loadConfig } from "../../../src/runtime/config/config.ts";
import { toLimits } from "../../../src/runtime/settings.ts";
import { type OpenUpstream, startOpenUpstream } from "../../open-upstream.ts";
import { createSandbox, put, type Sandbox } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

const KEYS = { OPENAI_API_KEY: "sk-openai", MY_KEY: "mine", OFFSHOOT_PROBE_LOCAL: "false" };

function agent(name: string, ...lines: string[]): string {
  return ["---", `name: ${name}`, "description: Does it.", ...lines, "---", "Be brief."].join("\n");
}

async function open(t: TestContext, say = "Done."): Promise<OpenUpstream> {
  const upstream = await startOpenUpstream(() => ({ text: say }));
  t.after(() => upstream.close());
  return upstream;
}

async function start(
  sandbox: Sandbox,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = createFakeIo({ ...sandbox, env: KEYS });
  return { code: await main(["run", ...args], io), ...io.written };
}

const userAgent = ({ home }: Sandbox, name: string): string =>
  join(home, ".config/offshoot/agents", `${name}.md`);

describe("offshoot run --agent", () => {
  it("asks the file's model at its address, with its key, instructions, tools and options", async (t) => {
    const upstream = await open(t);
    const sandbox = createSandbox(t);
    const address = [`url: ${upstream.url}`, "api_key_name: MY_KEY", "provider: openai-chat"];
    const rest = ["tools: [read]", "options: { top_k: 4 }", "budget: { turns: 3 }"];
    put(userAgent(sandbox, "helper"), agent("helper", "model: custom/m", ...address, ...rest));
    const { code, stdout, stderr } = await start(sandbox, "--agent", "helper", "Hi");
    assert.deepEqual([code, stdout], [0, "Done.\n"], stderr);
    assert.match(stderr, /^model: custom\/m \(agent helper\)/m);
    const [sent] = upstream.sent;
    assert.equal(sent?.headers.authorization, "Bearer mine");
    assert.match(JSON.stringify(sent?.body["messages"]), /Be brief\./);
    assert.match(JSON.stringify(sent?.body["tools"]), /^\[\{[^[]*"name":"read"/);
    assert.equal(sent?.body["top_k"], 4);
  });

  for (const [folder, hasSkills] of [
    ["with skills", true],
    ["without skills", false],
  ] as const) {
    it(`runs an agent that names \`skill\` in a folder ${folder}`, async (t) => {
      const upstream = await open(t);
      const sandbox = createSandbox(t);
      const lines = ["model: custom/m", `url: ${upstream.url}`, "tools: [read, skill]"];
      put(userAgent(sandbox, "releaser"), agent("releaser", ...lines));
      if (hasSkills) {
        put(join(sandbox.cwd, ".agents/skills/release/SKILL.md"), agent("release"));
      }
      const { code, stdout, stderr } = await start(sandbox, "--agent", "releaser", "Hi");
      assert.deepEqual([code, stdout], [0, "Done.\n"], stderr);
      const sent = JSON.stringify(upstream.sent[0]?.body["tools"]);
      assert.equal(sent.includes('"name":"skill"'), hasSkills);
      assert.match(sent, /"name":"read"/);
      // The agent is offered to other runs too; it must not stop them.
      const other = ["-m", "custom/m", "--url", upstream.url, "Hi"];
      const beside = await start(sandbox, ...other);
      assert.equal(beside.code, 0, beside.stderr);
      assert.doesNotMatch(beside.stderr, /releaser/);
    });
  }

  it("is named in its output, and by show, tree and cost of its run", async (t) => {
    const upstream = await open(t);
    const sandbox = createSandbox(t);
    const file = agent("helper", "model: custom/m", `url: ${upstream.url}`);
    put(userAgent(sandbox, "helper"), file);
    const { stderr } = await start(sandbox, "--agent", "helper", "Hi");
    assert.match(stderr, /^agent: helper\nmodel: custom\/m /m);
    const [, id = ""] = /^run: (\S+)/m.exec(stderr) ?? assert.fail(stderr);
    const runs = async (...words: string[]): Promise<string> => {
      const io = createFakeIo(sandbox);
      assert.equal(await main(["runs", ...words], io), 0, io.written.stderr);
      return io.written.stdout;
    };
    assert.match(await runs("show", id), /^agent {4}helper$/m);
    assert.match(await runs("tree", id), /^root \(agent helper\): completed /m);
    assert.equal(JSON.parse(await runs("tree", id, "--json")).agent, "helper");
    assert.match(await runs("cost", "--by", "agent"), /^helper +1 /m);
  });

  it("answers with JSON that fits the file's schema", async (t) => {
    const upstream = await open(t, '{"city":"Paris"}');
    const sandbox = createSandbox(t);
    const schema = "output_schema: { type: object, required: [city], properties: { city: {} } }";
    put(
      userAgent(sandbox, "where"),
      agent("where", "model: custom/m", `url: ${upstream.url}`, schema),
    );
    const { stdout } = await start(sandbox, "--agent", "where", "-q", "Where?");
    assert.deepEqual(JSON.parse(stdout), { city: "Paris" });
    assert.ok("response_format" in (upstream.sent[0]?.body ?? {}));
  });

  it("lets flags override the file", async (t) => {
    const upstream = await open(t);
    const other = await open(t);
    const sandbox = createSandbox(t);
    put(
      userAgent(sandbox, "helper"),
      agent("helper", "model: custom/m", `url: ${upstream.url}`, "api_key_name: MY_KEY"),
    );
    const flags = ["-m", "custom/n", "--url", other.url, "-s", "Be long.", "--tools", "none"];
    assert.equal((await start(sandbox, "--agent", "helper", ...flags, "Hi")).code, 0);
    assert.equal(upstream.sent.length, 0);
    const [sent] = other.sent;
    assert.equal(sent?.body["model"], "n");
    assert.match(JSON.stringify(sent?.body["messages"]), /Be long\./);
    assert.equal(sent?.body["tools"], undefined);
  });

  it("names the nearest agent, or all of them, in one line", async (t) => {
    const sandbox = createSandbox(t);
    const none = await start(sandbox, "--agent", "x", "Hi");
    assert.match(none.stderr, /^offshoot: Unknown agent `x`\. There are none yet/);
    put(userAgent(sandbox, "reviewer"), agent("reviewer"));
    const near = await start(sandbox, "--agent", "reviewr", "Hi");
    assert.deepEqual(
      [near.code, near.stderr],
      [2, "offshoot: Unknown agent `reviewr`. Did you mean `reviewer`? Available: reviewer.\n"],
    );
    put(userAgent(sandbox, "broken"), "no front");
    assert.match(
      (await start(sandbox, "--agent", "broken", "Hi")).stderr,
      /cannot be used\. .*md:1/,
    );
  });

  it("runs no agent of a project that is not trusted", async (t) => {
    const upstream = await open(t);
    const sandbox = createSandbox(t);
    const text = agent("spy", "model: openai/gpt-5.1", `url: ${upstream.url}`);
    put(join(sandbox.cwd, ".offshoot/agents/spy.md"), text);
    const { code, stderr } = await start(sandbox, "--agent", "spy", "Hi");
    assert.equal(code, 2);
    assert.match(stderr, /The agent `spy` is not trusted\. .*`offshoot agents trust spy`/);
    assert.equal(upstream.sent.length, 0);
  });
});

describe("what a run leaves out", () => {
  it("is named once, and not with -q", async (t) => {
    const upstream = await open(t);
    const sandbox = createSandbox(t);
    put(join(sandbox.cwd, ".offshoot/agents/reviewer.md"), agent("reviewer"));
    put(sandbox.projectFile, "system: Theirs.\n");
    put(join(sandbox.cwd, ".agents/skills/bad/SKILL.md"), "---\n");
    put(join(sandbox.cwd, "AGENTS.md"), "Be \u001b[1mbold.\n");
    const words = ["-m", "custom/m", "--url", upstream.url, "Hi"];
    const { code, stderr } = await start(sandbox, ...words);
    assert.equal(code, 0, stderr);
    for (const named of [
      "agent `reviewer`",
      "`system` in it",
      "skill `bad`",
      "terminal sequences",
    ]) {
      assert.equal(stderr.split(named).length, 2, `${named} in ${stderr}`);
    }
    const quiet = await start(sandbox, "-q", ...words);
    assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [0, "Done.\n", ""]);
  });
});

describe("an agent's file among the settings", () => {
  const AGENT: AgentDefinition = {
    name: "a",
    description: "",
    path: "a.md",
    tools: undefined,
    instructions: "Be brief.",
    model: undefined,
    budget: {},
    outputSchema: undefined,
    schemaFile: undefined,
  };
  const SERVER = "http://127.0.0.1:9/v1";

  async function load(
    t: TestContext,
    given: Partial<AgentDefinition>,
    { user = "", flags = {} }: { user?: string; flags?: Record<string, string> } = {},
  ) {
    const sandbox = createSandbox(t);
    put(sandbox.userFile, `probe_local: false\n${user}`);
    const layer = toAgentLayer({ ...AGENT, ...given });
    return await loadConfig({ ...sandbox, env: KEYS, flags, agent: layer });
  }

  const pick = async (...args: Parameters<typeof load>) => {
    const network = { open: () => Promise.reject(new Error("nothing is sent here")) };
    return await pickModel(await load(...args), network, { env: KEYS });
  };

  it("keeps a key of the settings away from its server", async (t) => {
    const user = "model: custom/a\nurl: http://home/v1\napi_key_name: MY_KEY\n";
    const { ref, baseUrl, apiKeyName } = await pick(
      t,
      { model: "custom/m", url: SERVER },
      { user },
    );
    assert.deepEqual([ref, baseUrl, apiKeyName], ["custom/m", SERVER, undefined]);
  });

  it("keeps its server away from another vendor's model, and a flag's server away from its key", async (t) => {
    const given = { model: "custom/m", url: SERVER, apiKeyName: "MY_KEY" };
    const { ref, baseUrl, apiKeyName } = await pick(t, given, {
      flags: { model: "openai/gpt-5.1" },
    });
    assert.deepEqual([ref, baseUrl, apiKeyName], ["openai/gpt-5.1", undefined, undefined]);
    const refused = pick(t, { model: "openai/gpt-5.1" }, { flags: { url: SERVER } });
    await assert.rejects(refused, /`--url` would get the key of `openai`/);
  });

  it("limits a run to the smaller of its budget and the user's, unless a flag says otherwise", async (t) => {
    const budget = { usd: 2, tokens: 100, turns: 60, children: 0, seconds: 9 };
    const user = "max_cost: 1\nmax_turns: 20\n";
    const config = await load(t, { budget }, { user, flags: { "max-total-tokens": "500" } });
    const { usd, tokens, children } = toLimits(config);
    assert.deepEqual([usd, tokens, children], [1, 500, 0]);
    assert.deepEqual([config.get("max_turns"), config.get("timeout")], [20, 9]);
    assert.equal(config.sourceOf("timeout"), "agent a");
  });
});
