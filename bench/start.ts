/**
 * How long a person waits: the bundled command against `node -e 0`, from the start of the process to
 * its end (`--version`) or to the first byte of its first request at a server on loopback (`run`). Then what a long
 * answer costs in a chat (`chat-answer.ts`).
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
import { toChatComparisons } from "./chat-answer.ts";
import { type Contender, runBench } from "./measure.ts";
import { makeStream } from "./streams.ts";

const ROUNDS = 15;

const NODE = "node -e 0";
const VERSION = "offshoot --version";
const RUN = "offshoot run, to the first byte";
const RUN_UNSTORED = "offshoot run --no-store, to the first byte";
const CHAT = "offshoot chat, ready for the first key";
const RUN_WHOLE = "offshoot run --no-store, to its end";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Node 20 reads `NODE_EXTRA_CA_CERTS` before anything else, which more than doubles its own start; so machines with
 * and without it are measured separately. The goals, 1.6 and 2.5, were set where it was set. Without it 2.5 is not
 * reached: the 4 there only guards against getting worse.
 *
 * On a machine with other users times cannot be compared. Instructions can be counted there, by `valgrind
 * --tool=cachegrind --cache-sim=no --smc-check=all-non-file node dist/bin/cli.js run ...` (Node 20.20, x64, millions):
 * `node -e 0` 88. `run --no-store` to its end 706 as one readable bundle, 645 minified, 593 with the gate's judgement,
 * delegation, compaction and Markdown loaded later. Of these 503 are spent before it connects: 5.7 times `node -e 0`,
 * so the limit of 4 is not reached yet. They are spent on: `base` 25, `run` 143, settings and prompt 81, `network` 76,
 * and 72 from there to connecting.
 */
const SETTINGS: readonly { title: string; env: Environment; version: number; run: number }[] = [
  { title: "start, no CA bundle set", env: {}, version: 1.6, run: 4 },
  { title: "start, CA bundles as set here", env: readBundles(process.env), version: 1.6, run: 2.5 },
];

/** The server's own event, beside those of its kind. */
const FIRST_BYTE = "first byte";

const hasTerminal = existsSync("/usr/bin/script");
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
  // Only the paths of programs and temporary files of this machine: no keys, no settings.
  const paths = { PATH: process.env["PATH"], HOME: home, TMPDIR: home };
  const settings = SETTINGS.filter(({ env }, at) => at === 0 || "NODE_EXTRA_CA_CERTS" in env);
  const chats = hasTerminal ? toChatComparisons({ cli, home, env: paths }) : [];
  try {
    await runBench([
      ...settings.map(({ title, env, version, run }) => ({
        title,
        unit: "ms",
        rounds: ROUNDS,
        contenders: toContenders({ server, home, env: { ...env, ...paths } }),
        limits: [
          { subject: VERSION, baseline: NODE, atMost: version },
          { subject: RUN, baseline: NODE, atMost: run },
          { subject: RUN_UNSTORED, baseline: NODE, atMost: run },
          ...(hasTerminal ? [{ subject: CHAT, baseline: RUN, atMost: 1.6 }] : []),
        ],
      })),
      ...chats,
    ]);
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function readBundles(env: Environment): Environment {
  const names = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"];
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}

/** Where the commands run, and the server they are sent to. */
interface Place {
  readonly server: Server;
  readonly home: string;
  readonly env: Environment;
}

function toContenders(place: Place): Contender[] {
  const { port } = place.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  const run = [cli, "run", "-m", "custom/x", "--provider", "openai-chat", "--url", url, "hi"];
  return [
    toEnd(NODE, ["-e", "0"], place),
    toEnd(VERSION, [cli, "--version"], place),
    toFirstByte(RUN, run, place),
    toFirstByte(RUN_UNSTORED, [...run, "--no-store"], place),
    toEnd(RUN_WHOLE, [...run, "--no-store"], place),
    ...(hasTerminal ? [toPrompt(CHAT, [cli, "chat", ...run.slice(2, -1)], place)] : []),
  ];
}

function toEnd(name: string, argv: readonly string[], place: Place): Contender {
  return {
    name,
    async measure() {
      const started = performance.now();
      await untilExit(start(argv, place));
      return performance.now() - started;
    },
  };
}

function toFirstByte(name: string, argv: readonly string[], place: Place): Contender {
  return {
    name,
    async measure() {
      const started = performance.now();
      const exit = untilExit(start(argv, place));
      await Promise.race([once(place.server, FIRST_BYTE), exit.then(() => failEarly(name))]);
      const waited = performance.now() - started;
      await exit;
      return waited;
    },
  };
}

/** On a terminal that `script` of util-linux makes: until the chat has switched it to keys and shows its prompt. */
function toPrompt(name: string, argv: readonly string[], { home, env }: Place): Contender {
  const line = [process.execPath, ...argv].map((word) => `'${word}'`).join(" ");
  return {
    name,
    async measure() {
      const started = performance.now();
      const child = spawn("script", ["-qfec", line, "/dev/null"], {
        cwd: home,
        env: { ...env, SHELL: "/bin/sh", TERM: "xterm" },
        stdio: ["pipe", "pipe", "inherit"],
      });
      let shown = "";
      for await (const piece of child.stdout.setEncoding("utf8")) {
        shown += String(piece);
        if (shown.includes("> ") && shown.includes("[?2004h")) break;
      }
      const waited = performance.now() - started;
      child.kill("SIGKILL");
      return waited;
    },
  };
}

function start(argv: readonly string[], { home, env }: Place): ChildProcess {
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

/** A socket without HTTP, to see the first byte itself. It answers, so that the command succeeds. */
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
