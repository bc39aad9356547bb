/**
 * How long a person waits: the bundled command against `node -e 0`, from the start of the process to
 * its end (`--version`) or to the first byte of its first request at a server on loopback (`run`).
 *
 *     npm run build && npm run bench:start [-- --check]
 *
 * Wall time, because that is what is waited for. The home is new, and warm after the first turn.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Contender, runBench } from "./measure.ts";
import { makeStream } from "./streams.ts";

const ROUNDS = 15;

const NODE = "node -e 0";
const VERSION = "offshoot --version";
const RUN = "offshoot run, to the first byte";
const RUN_UNSTORED = "offshoot run --no-store, to the first byte";

const LIMITS = [
  { subject: VERSION, baseline: NODE, atMost: 1.6 },
  { subject: RUN, baseline: NODE, atMost: 2.5 },
  { subject: RUN_UNSTORED, baseline: NODE, atMost: 2.5 },
];

/** The server's own event, beside those of its kind. */
const FIRST_BYTE = "first byte";

const cli = fileURLToPath(new URL("../../dist/bin/cli.js", import.meta.url));

if (existsSync(cli)) {
  await compare();
} else {
  console.error("There is no bundle to measure. Run `npm run build` first.");
  process.exitCode = 1;
}

async function compare(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "offshoot-bench-"));
  const server = await startServer();
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  const run = [cli, "run", "-m", "custom/x", "--provider", "openai-chat", "--url", url];
  try {
    await runBench([
      {
        title: "start",
        unit: "ms",
        rounds: ROUNDS,
        contenders: [
          toEnd(NODE, ["-e", "0"], home),
          toEnd(VERSION, [cli, "--version"], home),
          toFirstByte(RUN, [...run, "hi"], { home, server }),
          toFirstByte(RUN_UNSTORED, [...run, "--no-store", "hi"], { home, server }),
        ],
        limits: LIMITS,
      },
    ]);
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function toEnd(name: string, argv: readonly string[], home: string): Contender {
  return {
    name,
    async measure() {
      const started = performance.now();
      const child = start(argv, home);
      await untilExit(child);
      return performance.now() - started;
    },
  };
}

function toFirstByte(
  name: string,
  argv: readonly string[],
  { home, server }: { home: string; server: Server },
): Contender {
  return {
    name,
    async measure() {
      const started = performance.now();
      const child = start(argv, home);
      const exit = untilExit(child);
      await Promise.race([once(server, FIRST_BYTE), exit.then(() => failEarly(name))]);
      const waited = performance.now() - started;
      await exit;
      return waited;
    },
  };
}

/** Nothing of this machine but where programs and temporary files are: no keys, no settings. */
function start(argv: readonly string[], home: string): ChildProcess {
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: home };
  return spawn(process.execPath, argv, { cwd: home, env, stdio: ["ignore", "ignore", "pipe"] });
}

async function untilExit(child: ChildProcess): Promise<void> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code === 0) return;
  throw new Error(`\`${child.spawnargs.slice(1).join(" ")}\` ended with ${code}: ${said}`);
}

function failEarly(name: string): never {
  throw new Error(`${name}: the command ended without a request.`);
}

/** A socket and no HTTP, to see the first byte itself. Answers, so that the command ends well. */
async function startServer(): Promise<Server> {
  const body = Buffer.concat(makeStream("chat", 8).frames);
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      server.emit(FIRST_BYTE);
      socket.end(Buffer.concat([Buffer.from(head), body]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
