/** Real MCP servers as processes, good ones and bad ones, through the hub. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../../src/base/clock.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Decision } from "../../../src/tools/gate/call.ts";
import { createGate } from "../../../src/tools/gate/gate.ts";
import { ToolOutput } from "../../../src/tools/tool.ts";
import { createPlace } from "../../e2e/command.ts";
import { patience, until, untilTrue, withGrowingLimit } from "../../patience.ts";
import { createTestHub, runTool, type TestHub } from "../../tools/mcp/hub-parts.ts";
import { createWorkspaceFolder, toGateParts } from "../../tools/workspace-folder.ts";

const MODULES = new URL(
  "../../../../test/clients/node_modules/@modelcontextprotocol/",
  import.meta.url,
);
const EVERYTHING = fileURLToPath(new URL("server-everything/dist/index.js", MODULES));
const FILESYSTEM = fileURLToPath(new URL("server-filesystem/dist/index.js", MODULES));
const BAD = fileURLToPath(new URL("../../tools/mcp/bad-server.js", import.meta.url));

function node(...args: string[]): JsonObject {
  return { command: process.execPath, args };
}

async function assertEverything({ hub, call, problems }: TestHub): Promise<void> {
  const tools = await hub.tools();
  assert.ok(tools.length > 10, problems.join("\n"));
  assert.equal(await call("mcp__every__echo", { message: "hello" }), "Echo: hello");
  assert.match(String(await call("mcp__every__get-sum", { a: 2, b: 40 })), /42/);
  await assert.rejects(call("mcp__every__echo", {}), /do not fit: .*'message'/);
  const image = await call("mcp__every__get-tiny-image");
  assert.ok(image instanceof ToolOutput);
  assert.match(
    JSON.stringify(image.parts),
    /^\[\{"type":"input_image","image_url":"data:image\/png;/,
  );
  const resource = { uri: "demo://resource/dynamic/text/1" };
  assert.match(String(await call("mcp__every__read_resource", resource)), /plaintext resource/);
  assert.match(JSON.stringify(await call("mcp__every__list_resources")), /architecture\.md/);
  const prompt = { name: "args-prompt", arguments: { city: "Paris" } };
  assert.equal(await call("mcp__every__get_prompt", prompt), "[user]\nWhat's weather in Paris?");
}

describe("the reference servers", () => {
  it("everything over stdio: tools, images, resources, prompts", async () => {
    await using test = createTestHub({ every: node(EVERYTHING) });
    await assertEverything(test);
    const { problems } = await test.hub.inspect("every");
    assert.match(problems.join(), /simulate-research-query.*background task/);
  });

  it("everything over streamable HTTP", async () => {
    await using server = await startHttp("streamableHttp");
    await using test = createTestHub({ every: { url: `http://127.0.0.1:${server.port}/mcp` } });
    await assertEverything(test);
  });

  it("everything over the old SSE transport, found by itself", async () => {
    await using server = await startHttp("sse");
    await using test = createTestHub({ every: { url: `http://127.0.0.1:${server.port}/sse` } });
    await assertEverything(test);
  });

  it("finds a server over HTTP again that was restarted", async () => {
    const first = await startHttp("streamableHttp");
    await using test = createTestHub({ every: { url: `http://127.0.0.1:${first.port}/mcp` } });
    assert.equal(await test.call("mcp__every__echo", { message: "one" }), "Echo: one");
    await first[Symbol.asyncDispose]();
    await assert.rejects(test.call("mcp__every__echo", { message: "two" }), {
      code: "tool_failed",
    });
    await using _ = await startHttp("streamableHttp", first.port);
    assert.equal(await test.call("mcp__every__echo", { message: "three" }), "Echo: three");
  });

  it("filesystem over stdio, kept to the workspace by the root we answer", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "offshoot-mcp-")));
    try {
      await writeFile(join(root, "note.txt"), "a note\n");
      await using test = createTestHub({ files: node(FILESYSTEM, "/usr/share") }, { root });
      const read = (path: string) => test.call("mcp__files__read_text_file", { path });
      // The server asks for the roots after its handshake, and answers calls meanwhile.
      for (let allowed = ""; !allowed.includes(root); ) {
        allowed = String(await test.call("mcp__files__list_allowed_directories"));
      }
      assert.equal(await read(join(root, "note.txt")), "a note\n");
      await assert.rejects(read("/etc/passwd"), /outside allowed/);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});

describe("a server that misbehaves", () => {
  const bad = (options: JsonObject = {}, mode = "serve") =>
    createTestHub({ bad: { ...node(BAD, mode), ...options } });

  it("hangs in a call: the call ends in time, is cancelled, and the next one works", async () => {
    // The list of tools and the next call have the same short time.
    await withGrowingLimit(300, async (limitMs) => {
      await using test = bad({ timeout_ms: limitMs });
      const late = new RegExp(`\`bad\` did not answer within ${limitMs / 1000} s`);
      await assert.rejects(test.call("mcp__bad__hang"), late);
      assert.match(String(await test.call("mcp__bad__cancelled")), /^\d+$/);
    });
  });

  it("gets the cancellation in the middle of a call", async () => {
    await using test = bad();
    await test.call("mcp__bad__echo");
    const stop = new AbortController();
    const hanging = test.call("mcp__bad__hang", {}, stop.signal);
    setImmediate(() => stop.abort());
    await assert.rejects(hanging, { code: "cancelled" });
    assert.equal(await test.call("mcp__bad__echo"), "called echo");
  });

  it("dies in a call: the call reports its last output, the next one starts it again", async () => {
    await using test = bad();
    await assert.rejects(test.call("mcp__bad__die"), (thrown: Error) => {
      assert.match(thrown.message, /`bad` ended before it answered\. It ended with exit code 3\./);
      assert.match(thrown.message, /Its last output: out of luck/);
      return true;
    });
    assert.equal(await test.call("mcp__bad__echo"), "called echo");
  });

  it("dies repeatedly: it is left alone", async () => {
    // Its minute never ends, however long the starts take.
    const clock: Clock = { now: () => 0, sleep: async () => {} };
    await using test = createTestHub({ bad: node(BAD, "serve") }, { clock });
    for (let i = 0; i < 4; i++) await assert.rejects(test.call("mcp__bad__die"), /exit code 3/);
    await assert.rejects(test.call("mcp__bad__echo"), /started 4 times within a minute/);
  });

  it("sends 50 MB: the call reports it, memory does not grow by it, the connection survives", async () => {
    await using test = bad();
    await test.call("mcp__bad__echo");
    const before = process.memoryUsage().rss;
    await assert.rejects(test.call("mcp__bad__large"), /larger than 10 MB/);
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 100_000_000, `${grown} bytes more`);
    assert.equal(await test.call("mcp__bad__echo"), "called echo");
  });

  it("changes a tool after the approval: the call is not sent, then it needs approval", async () => {
    await using test = bad();
    const tools = await test.hub.tools();
    const find = (name: string) => tools.find(({ spec }) => spec.name === `mcp__bad__${name}`);
    const echo = find("echo");
    const change = find("change");
    assert.ok(echo?.pin && change);
    assert.equal(await echo.pin.standing(), "unknown");
    await echo.pin.agree();
    assert.equal(await echo.pin.standing(), "agreed");
    assert.equal(await runTool(change, {}), "changed");
    await assert.rejects(runTool(echo, {}), { code: "forbidden", message: /has just changed/ });
    assert.equal(await echo.pin.standing(), "changed");
    await echo.pin.agree();
    assert.equal(await runTool(echo, {}), "called echo");
  });

  it("changes a tool after the approval: the gate asks, and refuses without a user", async () => {
    using folder = createWorkspaceFolder({});
    await using test = bad();
    const parts = await toGateParts(folder.root, await test.hub.tools());
    const gate = createGate({ ...parts, policy: { approve: "auto", rules: [] } });
    const decisions: Decision[] = [];
    const call = async (name: string) =>
      gate.call(
        { name: `mcp__bad__${name}`, arguments: "{}" },
        {
          signal: patience(),
          idempotencyKey: "run_1/1",
          take: () => {},
          decided: async (decision) => decisions.push(decision),
        },
      );
    assert.equal((await call("echo")).output, "called echo");
    assert.equal((await call("change")).output, "changed");
    assert.match(String((await call("echo")).output), /has changed since it was approved/);
    assert.deepEqual(
      decisions.map(({ verdict, by }) => [verdict, by]),
      [
        ["allow", "mode"],
        ["allow", "mode"],
        ["deny", "pin"],
      ],
    );
    await gate.close();
  });

  it("prints garbage between its messages: it is skipped", async () => {
    await using test = bad();
    assert.equal(await test.call("mcp__bad__garbage"), "still here");
    assert.equal(await test.call("mcp__bad__echo"), "called echo");
  });

  it("floods standard error: it is read and dropped", async () => {
    await using test = bad();
    assert.equal(await test.call("mcp__bad__flood"), "quiet again");
  });

  it("never answers the handshake: that is reported in time", async () => {
    await using test = createTestHub({ bad: node(BAD, "silent") }, { connectMs: 300 });
    assert.deepEqual(await test.hub.tools(), []);
    assert.match(test.problems[0] ?? "", /`bad` cannot be used: it did not answer within 0\.3 s\./);
  });

  it("exits at once: its exit code and last output are reported", async () => {
    await using test = bad({}, "leave");
    assert.deepEqual(await test.hub.tools(), []);
    assert.match(test.problems[0] ?? "", /exit code 7\. Its last output: no licence found/);
  });

  it("does not exist: that is reported", async () => {
    await using test = createTestHub({ bad: { command: "offshoot-no-such-program" } });
    assert.deepEqual(await test.hub.tools(), []);
    assert.match(test.problems[0] ?? "", /`offshoot-no-such-program`: there is no such program/);
  });

  it("has odd, double and broken tools: names are corrected, broken ones are left out", async () => {
    await using test = bad();
    const names = (await test.hub.tools()).map(({ spec }) => spec.name);
    assert.ok(names.every((name) => /^[\w-]{1,64}$/.test(name)));
    assert.equal(new Set(names).size, names.length);
    const odd = names.filter((name) => name.startsWith("mcp__bad__odd_name"));
    assert.equal(odd.length, 2);
    for (const name of odd) assert.match(String(await test.call(name)), /^called odd[ .]name\/é$/);
    const said = (await test.hub.inspect("bad")).problems.join("\n");
    assert.match(said, /`echo` is there twice/);
    assert.match(said, /`no-schema` is left out: its schema is not that of an object/);
    assert.match(said, /`bad-schema` is left out: its schema is invalid/);
  });

  it("leaves no process, not even those that it started", async () => {
    const test = bad();
    const pid = Number(await test.call("mcp__bad__child"));
    assert.ok(isAlive(pid));
    await test.hub.close();
    await untilTrue(() => !isAlive(pid), "the end of the server's child");
  });

  it("leaves no child process when it dies by itself", async () => {
    await using test = bad();
    const pid = Number(await test.call("mcp__bad__child"));
    await assert.rejects(test.call("mcp__bad__die"), { code: "tool_failed" });
    await untilTrue(() => !isAlive(pid), "the end of the server's child");
  });

  it("gets an environment without our keys, and the variables that it was given", async () => {
    const env = { PATH: process.env["PATH"], OPENAI_API_KEY: "sk-secret", MY_TOKEN: "given" };
    const server = { ...node(BAD, "serve"), env: { TOKEN: "$MY_TOKEN", PLAIN: "as it is" } };
    await using test = createTestHub({ bad: server }, { env });
    const seen = JSON.parse(String(await test.call("mcp__bad__env")));
    assert.equal(seen.TOKEN, "given");
    assert.equal(seen.PLAIN, "as it is");
    assert.deepEqual([seen.OPENAI_API_KEY, seen.MY_TOKEN], [undefined, undefined]);
  });
});

describe("the built command", () => {
  it("adds a server, approves its tools and calls one in a run", async () => {
    await using place = await createPlace();
    const added = await place.run(["mcp", "add", "every", "--", process.execPath, EVERYTHING]);
    assert.equal(added.code, 0, added.stderr);
    const prompt = 'Call mcp__every__echo with {"message": "hello"}';
    const run = await place.run(["run", "--approve", "auto", prompt]);
    assert.match(run.stdout, /Echo: hello/);
    const removed = await place.run(["mcp", "remove", "every"]);
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal((await place.run(["mcp", "list"])).stdout, "");
  });
});

/** Does not answer the handshake, and ends neither with its input nor by a signal. */
const STUBBORN = `require("fs").writeFileSync("pid", String(process.pid));
process.on("SIGTERM", () => {});
setInterval(() => {}, 1000);`;

describe("a server without an answer, when the command is ended by a signal", () => {
  const config = JSON.stringify({ mcp_servers: { mute: node("-e", STUBBORN) } });
  for (const args of [
    ["mcp", "test", "mute"],
    ["mcp", "approve", "mute"],
    ["run", "Hello"],
  ]) {
    for (const [signal, code] of [
      ["SIGHUP", 129],
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      it(`is gone with \`offshoot ${args.join(" ")}\` after ${signal}`, async () => {
        await using place = await createPlace();
        await mkdir(join(place.home, ".config", "offshoot"), { recursive: true });
        await writeFile(join(place.home, ".config", "offshoot", "config.yaml"), config);
        const command = place.start(args);
        const pidFile = join(place.cwd, "pid");
        const readPid = async (): Promise<number | undefined> =>
          Number(await readFile(pidFile, "utf8").catch(() => "")) || undefined;
        const pid = await until(readPid, "the number of the server's process");
        assert.ok(isAlive(pid));
        command.child.kill(signal);
        const ended = await command.ended;
        // A run that is told to stop reports how it ended; it may get the signal while it listens already.
        assert.ok([code, 130].includes(ended.code ?? 0), `${ended.code} ${ended.stderr}`);
        // A killed process exists until the system has removed it.
        await untilTrue(() => !isAlive(pid), "the end of the server's process");
      });
    }
  }
});

interface HttpServer extends AsyncDisposable {
  readonly port: number;
}

/** Retries while another process has the port: a free one may be taken before it is listened on. */
function startHttp(kind: "streamableHttp" | "sse", wanted?: number): Promise<HttpServer> {
  const start = async (): Promise<HttpServer | undefined> =>
    await tryStartHttp(kind, wanted ?? (await findPort()));
  return until(start, `a server at ${wanted ?? "a free port"}`);
}

async function tryStartHttp(
  kind: "streamableHttp" | "sse",
  port: number,
): Promise<HttpServer | undefined> {
  const child = spawn(process.execPath, [EVERYTHING, kind], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const hasLeft = once(child, "exit").then(() => true);
  if (await Promise.race([waitForWord(child, /port/), hasLeft])) return undefined;
  return {
    port,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** Keeps reading: a server whose output is not read ends at its next write. */
function waitForWord({ stderr }: ChildProcess, word: RegExp): Promise<void> {
  let said = "";
  return new Promise((resolve) => {
    stderr?.on("data", (piece) => {
      said += String(piece);
      if (word.test(said)) resolve();
    });
  });
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}

/** A process that ended and whose parent has not read its exit code yet counts as gone. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
