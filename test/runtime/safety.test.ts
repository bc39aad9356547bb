import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { parseRule, type RunEvent, type RuntimeOptions } from "../../src/index.ts";
import { createRuntime, type RunRequest } from "../../src/runtime/runtime.ts";
import { reply, script, startChatUpstream } from "../../src/testing/index.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";

interface Setup {
  readonly options?: RuntimeOptions;
  readonly request?: Partial<RunRequest>;
  readonly files?: Readonly<Record<string, string>>;
  /** A folder of the workspace that no tool may touch. */
  readonly protect?: string;
}

/** A run whose model makes these calls, one in each turn. */
async function run(
  t: TestContext,
  calls: readonly (readonly [name: string, input: object])[],
  { options, request, files = {}, protect }: Setup = {},
) {
  const folder = createWorkspaceFolder({ "a.txt": "hello", ...files });
  const protectedPaths = protect === undefined ? [] : [join(folder.root, protect)];
  t.after(() => folder[Symbol.dispose]());
  const engine = script(
    ...calls.map(([name, input]) => reply.calls([{ name, arguments: JSON.stringify(input) }])),
    reply.text("Done."),
  );
  await using upstream = await startChatUpstream({ engine });
  const runtime = await createRuntime({
    env: { PATH: process.env["PATH"] },
    protectedPaths,
    ...options,
  });
  t.after(() => runtime.close());
  const started = await runtime.run({
    model: "custom/test",
    provider: "openai-chat",
    url: upstream.url,
    input: "go",
    tools: calls.map(([name]) => name),
    root: folder.root,
    ...request,
  });
  const events: RunEvent[] = [];
  for await (const batch of started.follow()) events.push(...batch.map(({ event }) => event));
  const decisions = events.filter((event) => event.type === "tool_decision");
  return { folder, events, decisions, end: await started.result() };
}

describe("a run of a program", () => {
  it("asks the program about calls that need approval", async (t) => {
    const asked: string[] = [];
    const ask: RuntimeOptions["ask"] = async ({ tool, reason }) => {
      asked.push(`${tool}: ${reason}`);
      return "yes";
    };
    const { folder } = await run(t, [["write", { path: "b.txt", content: "new" }]], {
      options: { ask },
    });
    assert.deepEqual(asked, ["write: `write` changes files"]);
    assert.equal(readFileSync(join(folder.root, "b.txt"), "utf8"), "new");
  });

  it("refuses them if there is no one to ask", async (t) => {
    const { folder, decisions } = await run(t, [["write", { path: "b.txt", content: "new" }]]);
    assert.equal(decisions[0]?.by, "nobody");
    assert.ok(!existsSync(join(folder.root, "b.txt")));
  });

  it("obeys its grant, also through a link", async (t) => {
    const { decisions } = await run(
      t,
      [
        ["read", { path: "a.txt" }],
        ["write", { path: "a.txt", content: "" }],
      ],
      { request: { grant: [{ reads: ["**"], writes: [] }], approve: "auto" } },
    );
    assert.deepEqual(
      decisions.map(({ verdict, by }) => [verdict, by]),
      [
        ["allow", "effect"],
        ["deny", "grant"],
      ],
    );
  });

  it("runs no command if its paths are limited, because it is not known what a command reads", async (t) => {
    const { decisions } = await run(t, [["shell", { command: "cat a.txt" }]], {
      request: { grant: [{ reads: ["src/**"] }], approve: "auto" },
    });
    assert.deepEqual([decisions[0]?.verdict, decisions[0]?.by], ["deny", "grant"]);
  });

  it("has its approval, sandbox, grant and budget in its first event", async (t) => {
    const limits = { ...NO_LIMITS, tool_calls: 3 };
    const request = { approve: "deny", sandbox: "none", limits } as const;
    const { events } = await run(t, [["read", { path: "a.txt" }]], { request });
    const [start] = events;
    assert.ok(start?.type === "run_start");
    const { approve, sandbox, grant, limits: kept } = start.settings;
    assert.deepEqual(
      { approve, sandbox, grant, kept },
      { approve: "deny", sandbox: "none", grant: [], kept: limits },
    );
  });

  it("runs a command at the level it names, and the decision says so", async (t) => {
    const { decisions, end } = await run(t, [["shell", { argv: ["cat", "a.txt"] }]], {
      request: { approve: "auto", sandbox: "process" },
    });
    assert.deepEqual([decisions[0]?.sandbox, end.ending], ["process", "completed"]);
  });

  it("is refused before it starts if the sandbox is not available", async (t) => {
    const refused = run(t, [["shell", { argv: ["true"] }]], {
      options: { env: { PATH: "/nowhere" } },
      request: { sandbox: "sandbox" },
    });
    await assert.rejects(refused, { code: "invalid_request" });
  });

  it("is cancelled by an answer", async (t) => {
    const { end } = await run(t, [["write", { path: "b.txt", content: "" }]], {
      options: { ask: async () => "cancel" },
    });
    assert.deepEqual([end.ending, end.error?.code], ["cancelled", "cancelled"]);
  });

  it("leaves out of searches the paths that need approval or are refused", async (t) => {
    const rules = [
      parseRule("ask", "path(secrets/**)", "the program"),
      parseRule("deny", "grep(keys/**)", "the program"),
    ];
    const { events } = await run(t, [["bash_ripgrep", { pattern: "hello|TOP" }]], {
      options: { rules },
      files: { "secrets/a.txt": "TOP", "keys/b.txt": "TOP" },
    });
    const result = events.find((event) => event.type === "tool_end");
    const text = JSON.stringify(result);
    assert.ok(text.includes("a.txt:1:hello") && !text.includes('TOP"'), text);
  });

  it("touches no file of the user's own settings, wherever the workspace is", async (t) => {
    const { decisions } = await run(t, [["read", { path: "own/settings.yaml" }]], {
      files: { "own/settings.yaml": "model: x" },
      protect: "own",
    });
    assert.deepEqual([decisions[0]?.verdict, decisions[0]?.by], ["deny", "guard"]);
  });

  it("obeys the rules of the program", async (t) => {
    const rules = [parseRule("deny", "path(a.txt)", "the program")];
    const { decisions } = await run(t, [["read", { path: "./x/../a.txt" }]], {
      options: { rules },
    });
    assert.deepEqual(
      [decisions[0]?.rule, decisions[0]?.source],
      ["deny path(a.txt)", "the program"],
    );
  });
});
