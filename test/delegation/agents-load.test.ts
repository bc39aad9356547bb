import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { toWarningLine } from "../../src/cli/terminal.ts";
import { toAgentPlaces, toProjectAgentsFolder } from "../../src/delegation/agents/agent-folders.ts";
import { toAgentTemplate } from "../../src/delegation/agents/agent-template.ts";
import { type AgentPlace, loadAgents } from "../../src/delegation/agents/load-agents.ts";

interface Home {
  readonly root: string;
  readonly trusted: Map<string, "trusted" | "changed">;
  put(path: string, text: string | Buffer): void;
  readonly places: readonly AgentPlace[];
}

function createHome(t: TestContext): Home {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "offshoot-agents-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const trusted: Home["trusted"] = new Map();
  const standingOf: AgentPlace["standingOf"] = async ({ path }) => trusted.get(path) ?? "unknown";
  return {
    root,
    trusted,
    put(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    places: [
      { scope: "user", folder: join(root, "user"), standingOf },
      { scope: "project", folder: join(root, "project"), standingOf },
    ],
  };
}

const agentText = (name: string, description: string, ...more: string[]): string =>
  ["---", `name: ${name}`, `description: ${description}`, ...more, "---", "Do it."].join("\n");

describe("agents of the user and of the project", () => {
  it("are none without folders", async (t) => {
    const { places } = createHome(t);
    assert.deepEqual(await loadAgents(places), { agents: [], files: [], warnings: [] });
  });

  it("are left out with one short line while they are as `agents new` wrote them", async (t) => {
    const { places, put } = createHome(t);
    put("user/reviewer.md", toAgentTemplate("reviewer"));
    const { agents, files, warnings } = await loadAgents(places);
    assert.deepEqual(agents, []);
    assert.match(
      files[0]?.problem ?? "",
      /reviewer\.md:\d+: `description` is still the template's/,
    );
    const line = toWarningLine(warnings[0] ?? "");
    assert.equal(warnings.length, 1);
    assert.ok(line.length <= 90 && line.includes("`reviewer`"), line);
  });

  it("are all listed, and a trusted one of the project replaces the user's", async (t) => {
    const { places, put, trusted, root } = createHome(t);
    put("user/b.md", agentText("b", "Mine."));
    put("user/a.md", agentText("a", "Mine."));
    put("project/b.md", agentText("b", "The project's."));
    put("project/notes.txt", "no agent");
    trusted.set(join(root, "project/b.md"), "trusted");
    const { agents, files, warnings } = await loadAgents(places);
    assert.deepEqual(
      agents.map(({ name, description }) => `${name} ${description}`),
      ["a Mine.", "b The project's."],
    );
    assert.deepEqual(
      files.map(({ name, scope, standing }) => [name, scope, standing]),
      [
        ["a", "user", "used"],
        ["b", "user", "shadowed"],
        ["b", "project", "used"],
      ],
    );
    assert.deepEqual(warnings, []);
  });

  for (const [standing, why] of [
    [undefined, /project\/b\.md is not trusted, so the agent `b` is left out.*agents trust b/],
    ["changed", /project\/b\.md has changed since it was trusted/],
  ] as const) {
    it(`of the project replace nothing when ${standing ?? "not trusted"}`, async (t) => {
      const { places, put, trusted, root } = createHome(t);
      put("user/b.md", agentText("b", "Mine."));
      put("project/b.md", agentText("b", "The project's."));
      if (standing) trusted.set(join(root, "project/b.md"), standing);
      const { agents, warnings } = await loadAgents(places);
      assert.deepEqual(
        agents.map(({ description }) => description),
        ["Mine."],
      );
      assert.match(warnings.join(), why);
    });
  }

  it("leave a name empty when the project's trusted file is broken", async (t) => {
    const { places, put, trusted, root } = createHome(t);
    put("user/b.md", agentText("b", "Mine."));
    put("project/b.md", "broken");
    trusted.set(join(root, "project/b.md"), "trusted");
    const { agents, warnings } = await loadAgents(places);
    assert.deepEqual(agents, []);
    assert.match(warnings.join(), /`b` is left out\. .*b\.md:1: /);
  });

  it("keep the user's when the project's file is broken and not trusted", async (t) => {
    const { places, put } = createHome(t);
    put("user/b.md", agentText("b", "Mine."));
    put("project/b.md", "broken");
    const { agents, warnings } = await loadAgents(places);
    assert.equal(agents[0]?.description, "Mine.");
    assert.match(warnings.join(), /is not trusted/);
  });

  it("keep the others when one file is broken, too large or no text", async (t) => {
    const { places, put } = createHome(t);
    put("user/a.md", "broken");
    put("user/big.md", "x".repeat(300_000));
    put("user/bytes.md", Buffer.from([0xff, 0xfe, 0xfd]));
    put("user/folder.md/x", "");
    put("user/good.md", agentText("good", "Good."));
    const { agents, files } = await loadAgents(places);
    assert.deepEqual(
      agents.map(({ name }) => name),
      ["good"],
    );
    const problems = files.map(({ problem }) => problem).join("\n");
    assert.match(problems, /larger than/);
    assert.match(problems, /not UTF-8/);
    assert.match(problems, /not a regular file/);
  });

  it("read a schema beside the file, which is trusted with it", async (t) => {
    const { places, put, trusted, root } = createHome(t);
    put("project/a.md", agentText("a", "x", "output_schema: schemas/a.json"));
    put("project/schemas/a.json", '{"type":"object"}');
    trusted.set(join(root, "project/a.md"), "trusted");
    const before = await loadAgents(places);
    assert.deepEqual(
      before.files.map(({ standing }) => standing),
      ["untrusted"],
    );
    trusted.set(join(root, "project/schemas/a.json"), "trusted");
    const { agents } = await loadAgents(places);
    assert.deepEqual(agents[0]?.outputSchema, { type: "object" });
  });

  for (const [what, schema, reason] of [
    ["outside of the folder", "../secret.json", /is not in/],
    ["at an absolute path", "/etc/passwd", /is not in/],
    ["through a link that leads out", "link.json", /is not in/],
    ["that is not there", "none.json", /none\.json: There is no such file/],
    ["that is not an object", "list.json", /list\.json: This is not a JSON Schema/],
  ] as const) {
    it(`refuse a schema ${what}, and show nothing of it`, async (t) => {
      const { places, put, root } = createHome(t);
      put("user/a.md", agentText("a", "x", `output_schema: ${schema}`));
      put("secret.json", '["hidden"]');
      put("user/list.json", '["hidden"]');
      symlinkSync(join(root, "secret.json"), join(root, "user/link.json"));
      const { files } = await loadAgents(places);
      assert.equal(files[0]?.standing, "broken");
      assert.match(files[0]?.problem ?? "", reason);
      assert.ok(!files[0]?.problem.includes("hidden"));
    });
  }

  it("are looked for up to the folder that holds .git, and not in the home folder", (t) => {
    const { root, put } = createHome(t);
    const standingOf = async () => "trusted" as const;
    const folders = (cwd: string): string[] =>
      toAgentPlaces({ userFolder: "u", cwd: join(root, cwd), home: root, standingOf }).map(
        ({ folder }) => folder,
      );
    put(".offshoot/agents/x.md", "");
    put("p/.git/HEAD", "");
    put("p/.offshoot/agents/x.md", "");
    put("p/q/.git/HEAD", "");
    put("p/r/s/file", "");
    assert.deepEqual(folders("."), ["u"]);
    assert.deepEqual(folders("p/r/s"), ["u", join(root, "p/.offshoot/agents")]);
    assert.deepEqual(folders("p/q"), ["u"]);
    assert.equal(toProjectAgentsFolder(root, root), undefined);
    assert.equal(
      toProjectAgentsFolder(join(root, "p/r/s"), root),
      join(root, "p/.offshoot/agents"),
    );
    assert.equal(
      toProjectAgentsFolder(join(root, "p/q"), root),
      join(root, "p/q/.offshoot/agents"),
    );
  });
});
