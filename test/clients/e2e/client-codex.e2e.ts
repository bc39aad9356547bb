/**
 * The real `codex` command with the built server: it reads a file and patches it, over HTTP and over
 * WebSocket, in both of the ways in which it offers its tools, and continues after its conversation was
 * compacted.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { type Reply, reply, script } from "../../../src/testing/index.ts";
import { PATIENCE_MS } from "../../patience.ts";
import { type ClientBench, KEY, serveScript, TIMEOUT, toolNames } from "./client-fixture.ts";

const PATCH = [
  "*** Begin Patch",
  "*** Update File: notes.txt",
  "@@",
  " alpha",
  "-beta",
  "+gamma",
  "*** End Patch",
  "",
].join("\n");

/** One model is offered each tool by itself, as `tools`; the other one writes programs that call them. */
const WAYS = [
  {
    way: "tools of its own",
    model: "gpt-5.5",
    patches: "apply_patch",
    result: /M notes\.txt/,
    read: { name: "exec_command", arguments: { cmd: "cat notes.txt" } },
    patch: { name: "apply_patch", arguments: { input: PATCH } },
  },
  {
    way: "programs, its tools in an `additional_tools` item",
    model: "gpt-6.1-sol",
    patches: "functions__exec",
    result: /Script completed/,
    read: {
      name: "functions__exec",
      arguments: {
        input:
          'const made = await tools.exec_command({ cmd: "cat notes.txt" }); text(made.output);',
      },
    },
    patch: {
      name: "functions__exec",
      arguments: { input: `text(await tools.apply_patch(${JSON.stringify(PATCH)}));` },
    },
  },
] as const;

const WIRES = [
  { wire: "HTTP", websockets: false, posts: 3 },
  { wire: "WebSocket", websockets: true, posts: 0 },
] as const;

describe("codex", () => {
  for (const { way, model, patches, read, patch, result } of WAYS) {
    for (const { wire, websockets, posts } of WIRES) {
      it(`reads and patches a file over ${wire}, with ${way}`, TIMEOUT, async () => {
        const replies = [
          reply.reasoning("I look at it first.", reply.calls([read])),
          reply.calls([patch]),
          reply.text("Beta is gamma."),
        ];
        await using codex = await openCodex(replies, { model, websockets });
        const { code, events, stderr } = await codex.run("Change beta to gamma in notes.txt");
        assert.equal(code, 0, stderr);
        assert.equal(await readFile(join(codex.cwd, "notes.txt"), "utf8"), "alpha\ngamma\n");
        assert.deepEqual(
          events
            .filter(({ type }) => type === "item.completed")
            .map(({ item }) => [item?.type, item?.text ?? item?.aggregated_output]),
          [
            ["command_execution", "alpha\nbeta\n"],
            ["file_change", undefined],
            ["agent_message", "Beta is gamma."],
          ],
        );
        const { asked } = codex.bench;
        assert.equal(asked.length, 3);
        for (const request of asked) assert.ok(toolNames(request).includes(patches));
        assert.match(toolResult(codex.bench, 1), /alpha\nbeta\n/);
        assert.match(toolResult(codex.bench, 2), result);
        assert.equal(countPosts(codex.bench), posts);
      });
    }
  }

  for (const { wire, websockets, posts } of WIRES) {
    it(
      `lets the server compact its conversation over ${wire}, and continues`,
      TIMEOUT,
      async () => {
        const [{ model, read, patch }] = WAYS;
        const replies = [
          reply.calls([read], { usage: { input: 3000, output: 20 } }),
          reply.calls([patch], { usage: { input: 60_000, output: 20 } }),
          reply.text("SHORT: the file had alpha and beta."),
          reply.text("Beta is gamma."),
          reply.text("Gamma."),
        ];
        // By this name it knows a service that compacts conversations itself.
        const settings = { model, websockets, name: "OpenAI", compactAt: 50_000 };
        await using codex = await openCodex(replies, settings);
        const first = await codex.run("Change beta to gamma in notes.txt");
        assert.equal(first.code, 0, first.stderr);
        assert.equal(await readFile(join(codex.cwd, "notes.txt"), "utf8"), "alpha\ngamma\n");
        const { asked } = codex.bench;
        assert.equal(asked.length, 4);
        assert.deepEqual(toolNames(asked[2] ?? assert.fail()), []);
        assert.match(JSON.stringify(asked[2]?.messages), /Change beta to gamma/);
        assert.match(JSON.stringify(asked[3]?.messages), /SHORT: the file had/);
        assert.equal(first.events.at(-1)?.type, "turn.completed");

        const second = await codex.run("What does the file say now?", ["resume", "--last"]);
        assert.equal(second.code, 0, second.stderr);
        assert.match(JSON.stringify(codex.bench.asked[4]?.messages), /SHORT: the file had/);
        assert.equal(second.events.find(({ item }) => item)?.item?.text, "Gamma.");
        assert.equal(countPosts(codex.bench), posts === 0 ? 0 : 5);
      },
    );
  }

  it("compacts its conversation itself for other servers", TIMEOUT, async () => {
    const [{ model, read }] = WAYS;
    const replies = [
      reply.calls([read], { usage: { input: 6000, output: 20 } }),
      reply.text("The file has alpha and beta."),
      reply.text("Done."),
    ];
    await using codex = await openCodex(replies, { model, compactAt: 5000 });
    const { code, stderr } = await codex.run("Read notes.txt");
    assert.equal(code, 0, stderr);
    const last = codex.bench.asked[2]?.messages.at(-1);
    assert.match(JSON.stringify(last), /The file has alpha and beta\./);
  });

  it("reports why a request was refused, and fails", TIMEOUT, async () => {
    await using codex = await openCodex([], { model: "gpt-5.5", key: "wrong-key" });
    const { code, events } = await codex.run("Hello");
    assert.equal(code, 1);
    const failed = events.find(({ type }) => type === "turn.failed");
    assert.match(failed?.error?.message ?? "", /401 Unauthorized/);
    assert.equal(codex.bench.asked.length, 0);
  });
});

interface CodexEvent {
  readonly type: string;
  readonly error?: { readonly message: string };
  readonly item?: {
    readonly type: string;
    readonly text?: string;
    readonly aggregated_output?: string;
  };
}

interface Codex extends AsyncDisposable {
  readonly bench: ClientBench;
  readonly cwd: string;
  run(
    prompt: string,
    words?: readonly string[],
  ): Promise<{ code: number | null; events: CodexEvent[]; stderr: string }>;
}

interface CodexSettings {
  readonly model: string;
  readonly websockets?: boolean;
  readonly name?: string;
  readonly compactAt?: number;
  readonly key?: string;
}

/** A home, a folder with one file, and a server that answers with these replies. */
async function openCodex(replies: readonly Reply[], settings: CodexSettings): Promise<Codex> {
  const bench = await serveScript(script(...replies));
  const root = await mkdtemp(join(tmpdir(), "offshoot-codex-"));
  const home = join(root, "home");
  const cwd = join(root, "work");
  await mkdir(home);
  await mkdir(cwd);
  await writeFile(join(cwd, "notes.txt"), "alpha\nbeta\n");
  await writeFile(join(home, "config.toml"), toConfig(bench.baseURL, settings));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    CODEX_HOME: home,
    OFFSHOOT_TEST_KEY: settings.key ?? KEY,
  };
  return {
    bench,
    cwd,
    run: (prompt, words = []) => runCodex([...words, prompt], { cwd, env }),
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** It must reach only the server, and a request that fails is a test that fails. */
function toConfig(baseURL: string, settings: CodexSettings): string {
  const { model, websockets = false, name = "Offshoot", compactAt } = settings;
  return [
    `model = "${model}"`,
    'model_provider = "offshoot"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    "check_for_update_on_startup = false",
    ...(compactAt === undefined ? [] : [`model_auto_compact_token_limit = ${compactAt}`]),
    "[features]",
    "plugins = false",
    "apps = false",
    "shell_snapshot = false",
    "[analytics]",
    "enabled = false",
    "[model_providers.offshoot]",
    `name = "${name}"`,
    `base_url = "${baseURL}"`,
    'env_key = "OFFSHOOT_TEST_KEY"',
    'wire_api = "responses"',
    "request_max_retries = 0",
    "stream_max_retries = 0",
    `supports_websockets = ${websockets}`,
    "",
  ].join("\n");
}

interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

async function runCodex(
  words: readonly string[],
  { cwd, env }: Surroundings,
): ReturnType<Codex["run"]> {
  const folder = dirname(fileURLToPath(import.meta.resolve("@openai/codex/package.json")));
  const args = ["exec", "--skip-git-repo-check", "--json", ...words];
  const child = spawn(process.execPath, [join(folder, "bin", "codex.js"), ...args], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // It starts others: all of them end with their group.
    detached: true,
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (piece: string) => {
      said[name] += piece;
    });
  }
  const timer = setTimeout(() => endGroup(child.pid), PATIENCE_MS);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  endGroup(child.pid);
  const events = said.stdout.split("\n").filter((line) => line.startsWith("{"));
  const stderr = `${said.stdout}\n${said.stderr}`;
  return { code, events: events.map((line) => JSON.parse(line) as CodexEvent), stderr };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}

/** The result of the last call for the model, in the request of that number. */
function toolResult({ asked }: ClientBench, at: number): string {
  const last = asked[at]?.messages.at(-1);
  assert.equal(last?.role, "tool");
  return typeof last.content === "string" ? last.content : JSON.stringify(last.content);
}

function countPosts({ served }: ClientBench): number {
  return served.lines().filter(({ method }) => method === "POST").length;
}
