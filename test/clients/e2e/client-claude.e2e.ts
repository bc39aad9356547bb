/**
 * Claude Code with our server, on a scripted model that is not Claude: only if `claude` is on the path. It
 * has a home of its own, and telemetry and updates are off.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { type Reply, reply, respond, type Script } from "../../../src/testing/index.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { programLack, unless } from "../../needs.ts";
import { startServer } from "../../server/server-fixture.ts";
import { type ClientBench, KEY, serveEmbedded, serveScript, TIMEOUT } from "./client-fixture.ts";

const lacking = unless(programLack("claude"));
const named = (name: string): [string, object] => {
  const [full, options] = lacking(name);
  return [full, { ...TIMEOUT, ...options }];
};
const MODEL = "custom/scripted";

describe("Claude Code, on a model that is not Claude", () => {
  it(...named("is answered"), async () => {
    await using bench = await serveEmbedded();
    await using home = await openHome();
    const asked = { url: bench.served.url, home, model: "embedded/offline" };
    assert.match(await runClaude("compute 12 * (3 + 4)", asked), /84/);
  });

  it(...named("runs a command and gives its output back"), async () => {
    const engine = byResults(
      reply.calls([{ name: "Bash", arguments: { command: "echo $((6 * 7))", description: "x" } }]),
      ([output]) => reply.text(`It printed ${output}.`),
    );
    await using scene = await openScene(engine);
    assert.match(await scene.run("Go", "Bash"), /It printed 42/);
  });

  it(...named("reads a file and edits it"), async () => {
    const file = { path: "" };
    const engine = byResults(
      () => reply.calls([{ name: "Read", arguments: { file_path: file.path } }]),
      () =>
        reply.calls([
          {
            name: "Edit",
            arguments: { file_path: file.path, old_string: "one", new_string: "two" },
          },
        ]),
      reply.text("Edited."),
    );
    await using scene = await openScene(engine);
    file.path = join(scene.home.path, "note.txt");
    await writeFile(file.path, "one\n");
    assert.match(await scene.run("Go", "Read,Edit"), /Edited/);
    assert.equal(await readFile(file.path, "utf8"), "two\n");
  });

  it(...named("hands work to a subagent"), async () => {
    const engine = respond((request) => {
      if (!offers(request, /^(Task|Agent)$/)) {
        return reply.text(textOf(request).includes("DIG-DEEP") ? "Found 17." : "Digging");
      }
      const [output] = resultsOf(request);
      if (output !== undefined) return reply.text(`It said: ${output}`);
      const name = request.tools.map(nameOf).find((one) => /^(Task|Agent)$/.test(one)) ?? "";
      const work = { description: "dig", prompt: "DIG-DEEP", subagent_type: "general-purpose" };
      const isBelow = textOf(request).includes("DIG-DEEP");
      return isBelow
        ? reply.text("Found 17.")
        : reply.calls([{ name, arguments: { ...work, run_in_background: false } }]);
    });
    await using scene = await openScene(engine);
    assert.match(await scene.run("Go", "Task,Agent"), /It said: [\s\S]*Found 17/);
  });

  it(...named("compacts a conversation that does not fit, and continues"), async () => {
    let refused = 0;
    const engine = respond((request) => {
      // Older versions compact no conversation of a single turn.
      if (resultsOf(request).length < 2 && refused === 0) {
        const input = { command: "echo begun", description: "x" };
        return reply.calls([{ name: "Bash", arguments: input }]);
      }
      return refused++ === 0 ? OVERFLOW : reply.text("Going on.");
    });
    await using scene = await openScene(engine);
    assert.match(await scene.run("Go", "Bash"), /Going on/);
    assert.ok(refused >= 3, `${refused} requests: the refused one, the summary, the next turn`);
  });

  it(...named("asks again where a stream was cut"), async () => {
    let count = 0;
    const engine = respond((request) => {
      if (!offers(request, /^Bash$/)) return reply.text("A title");
      return count++ === 0 ? CUT : reply.text("Whole again.");
    });
    await using scene = await openScene(engine);
    assert.match(await scene.run("Go", ""), /Whole again/);
  });

  it(...named("searches the web, which the model cannot"), async (t) => {
    const engine = respond((request) => {
      const outputs = resultsOf(request);
      // The session itself; its search is a request of its own.
      if (offers(request, /^Bash$/)) {
        return outputs[0] === undefined
          ? reply.calls([{ name: "WebSearch", arguments: { query: "foxes" } }])
          : reply.text(`Read: ${outputs[0]}`);
      }
      if (!offers(request, /^web_search$/)) {
        return reply.text(`Offered: ${request.tools.map(nameOf).join(" ")}`);
      }
      return outputs[0] === undefined
        ? reply.calls([{ name: "web_search", arguments: { query: "foxes" } }])
        : reply.text("Foxes are [kind](https://fox.example.org/a).");
    });
    const server = await startServer(t, engine, { tools: [SEARCH] });
    await using home = await openHome();
    const asked = { url: server.url, home, model: MODEL, tools: "WebSearch" };
    assert.match(await runClaude("Go", asked), /Read: [\s\S]*fox\.example\.org/);
  });
});

/** In the form of chat servers. */
const OVERFLOW = reply.status(400, {
  error: {
    code: "context_length_exceeded",
    message:
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  },
});

/** Ends after its first words, like when a server dies. */
const CUT = reply.raw([
  JSON.stringify({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, delta: { role: "assistant", content: "Half" }, finish_reason: null }],
  }),
]);

/** In place of the one that would reach the network. */
const SEARCH: Tool = {
  spec: {
    type: "function",
    name: "search_web",
    description: "",
    strict: false,
    parameters: { type: "object", properties: { query: {}, count: {} } },
  },
  readOnly: true,
  effect: "network",
  parse: (input: unknown) => input,
  run: async () => [
    { title: "Foxes", url: "https://fox.example.org/a", description: "All about foxes." },
  ],
} as Tool;

type Step = Reply | ((outputs: readonly string[]) => Reply);

/** The answer after that many results of tools. A request without the tools of a session is for its title. */
function byResults(...steps: readonly Step[]): Script {
  return respond((request) => {
    if (!offers(request, /^Bash$/)) return reply.text("A title");
    const outputs = resultsOf(request);
    const step = steps[outputs.length] ?? reply.text("Too many turns.");
    return typeof step === "function" ? step(outputs) : step;
  });
}

function nameOf(tool: ModelRequest["tools"][number]): string {
  return "name" in tool && typeof tool.name === "string" ? tool.name : "";
}

function offers({ tools }: ModelRequest, name: RegExp): boolean {
  return tools.some((tool) => name.test(nameOf(tool)));
}

function textOf({ items }: ModelRequest): string {
  return JSON.stringify(items.filter(({ type }) => type === "message"));
}

function resultsOf({ items }: ModelRequest): string[] {
  return items.flatMap((item) =>
    item.type === "function_call_output" ? [toText(item.output)] : [],
  );
}

function toText(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

interface Home extends AsyncDisposable {
  readonly path: string;
}

async function openHome(): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), "offshoot-claude-"));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}

interface Scene extends AsyncDisposable {
  readonly bench: ClientBench;
  readonly home: Home;
  /** The output of Claude Code. `tools` are those that it may use without asking. */
  run(prompt: string, tools: string): Promise<string>;
}

async function openScene(engine: Script): Promise<Scene> {
  const bench = await serveScript(engine);
  const home = await openHome();
  return {
    bench,
    home,
    run: (prompt, tools) => runClaude(prompt, { url: bench.served.url, home, model: MODEL, tools }),
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

interface AskedClaude {
  readonly url: string;
  readonly home: Home;
  readonly model: string;
  readonly tools?: string;
}

async function runClaude(
  prompt: string,
  { url, home, model, tools = "" }: AskedClaude,
): Promise<string> {
  const child = spawn("claude", ["-p", prompt, ...(tools ? ["--allowedTools", tools] : [])], {
    cwd: home.path,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: home.path,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: KEY,
      ANTHROPIC_MODEL: model,
      DISABLE_AUTOUPDATER: "1",
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    },
  });
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (piece: string) => {
      said[stream] += piece;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  assert.equal(code, 0, `${said.stdout}\n${said.stderr}`);
  return said.stdout;
}
