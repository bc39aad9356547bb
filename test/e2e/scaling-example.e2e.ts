/**
 * The complete example of docs/scaling.md, unchanged: its commands, settings and proxy, with three servers
 * and a worker on one Postgres. With nginx if it is installed, and otherwise with a proxy that uses the
 * same servers in turn.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { reply, respond, startResponsesUpstream, type Upstream } from "../../src/testing/index.ts";
import { programLack } from "../needs.ts";
import { inTime, patience, until } from "../patience.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import { createPlace, type Place, type RunningCommand } from "./command.ts";

const ROOT = new URL("../../../", import.meta.url);
const PUBLIC_HOST = "llm.example.com";
const MACHINES = ["10.0.0.11", "10.0.0.12", "10.0.0.13"];
const NGINX_LACK = programLack("nginx");

const postgres = POSTGRES_LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => postgres?.[Symbol.asyncDispose]());

interface Example {
  readonly once: readonly (readonly string[])[];
  readonly serve: readonly string[];
  readonly worker: readonly string[];
  readonly yaml: string;
  readonly nginx: string;
}

async function readExample(): Promise<Example> {
  const page = await readFile(new URL("docs/scaling.md", ROOT), "utf8");
  const section = page.split("\n## ").find((text) => text.startsWith("A complete example\n")) ?? "";
  const [own = ""] = section.split("\n### ");
  const blocks = [...own.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  const blocksOf = (language: string): string[] =>
    blocks.filter((block) => block[1] === language).map((block) => block[2] ?? "");
  const [first = [], serve = [], worker = []] = blocksOf("sh").map(readCommands);
  const [yaml = assert.fail("no yaml")] = blocksOf("yaml");
  const [nginx = assert.fail("no nginx")] = blocksOf("nginx");
  return { once: first, serve: serve[0] ?? [], worker: worker[0] ?? [], yaml, nginx };
}

/** The words of the commands; the test sets variables itself. */
function readCommands(sh: string): string[][] {
  const lines = sh.split("\n").filter((line) => line.trim() !== "");
  for (const line of lines) assert.match(line, /^(export [A-Z_]+=|offshoot )/);
  const ours = lines.filter((line) => line.startsWith("offshoot "));
  return ours.map((line) => line.split(" ").slice(1));
}

interface Running extends AsyncDisposable {
  readonly servers: readonly RunningCommand[];
  readonly key: string;
  readonly upstream: Upstream;
  /** Asks through the proxy. */
  ask(method: string, path: string, body?: object): Promise<{ status: number; text: string }>;
}

async function startExample(hasNginx: boolean): Promise<Running> {
  const example = await readExample();
  const upstream = await startResponsesUpstream({
    engine: respond(() => reply.text("Hello there.")),
    key: "openai-key",
  });
  const places = await Promise.all([0, 1, 2, 3].map(() => createPlace()));
  const [home = assert.fail()] = places;
  const address = (await postgres?.newAddress()) ?? assert.fail();
  const config = join(home.home, "config.yaml");
  await writeFile(config, example.yaml.replace("port: 8484", "port: 0"));
  const env = {
    OFFSHOOT_STORE: address,
    OFFSHOOT_CONFIG: config,
    OPENAI_API_KEY: "openai-key",
    OPENAI_BASE_URL: upstream.url,
  };
  let key = "";
  for (const words of example.once) {
    const { code, stdout, stderr } = await home.run(words, { env });
    assert.equal(code, 0, stderr);
    key = stdout.trim();
  }
  const start = (place: Place, words: readonly string[]): RunningCommand =>
    place.start([...words], { env });
  const servers = places.slice(0, 3).map((place) => start(place, example.serve));
  const worker = start(places[3] ?? home, example.worker);
  const addresses = await Promise.all(servers.map(readAddress));
  const nginx = MACHINES.reduce(
    (text, machine, at) => text.replace(`${machine}:8484`, addresses[at] ?? ""),
    example.nginx,
  );
  const proxy = await (hasNginx ? startNginx : startProxy)(join(home.home, "proxy"), nginx);
  const headers = { host: PUBLIC_HOST, authorization: `Bearer ${key}` };
  return {
    servers,
    key,
    upstream,
    ask: (method, path, body) => askAt(proxy.socket, { method, path, headers }, body),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      for (const { child, ended } of [...servers, worker]) {
        child.kill("SIGTERM");
        await ended;
      }
      for (const place of places) await place[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/** It listens on every address, and is asked on this one. */
async function readAddress(serving: RunningCommand): Promise<string> {
  const listening = /listening at http:\/\/[^\s,]+:(\d+)/;
  await serving.waitForStderr(listening);
  return `127.0.0.1:${listening.exec(serving.stderr)?.[1]}`;
}

interface Proxy extends AsyncDisposable {
  /** A socket in the file system, so that no port is taken. */
  readonly socket: string;
}

/** The file of the example, without its certificate and on a socket of the test. */
async function startNginx(folder: string, example: string): Promise<Proxy> {
  await mkdir(folder);
  const socket = join(folder, "proxy.sock");
  const site = example
    .replace("listen 443 ssl;", `listen unix:${socket};`)
    .replaceAll(/^ *ssl_certificate.*\n/gm, "");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join(" ");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const http = `http { access_log off; ${temporary}\n${site}\n}`;
  const main = `${user} daemon off; pid ${join(folder, "pid")}; error_log stderr; events {}\n${http}`;
  await writeFile(join(folder, "nginx.conf"), main);
  const child = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = collect(child);
  await until(() => {
    assert.equal(child.exitCode, null, said());
    return existsSync(socket) ? true : undefined;
  }, "nginx listens");
  return {
    socket,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await inTime(ended, "nginx ends");
    },
  };
}

function collect(child: ChildProcess): () => string {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    said += piece;
  });
  return () => said;
}

/**
 * Does what the example's nginx does: uses the servers in turn, and asks the next one if a server does not
 * answer.
 */
async function startProxy(folder: string, example: string): Promise<Proxy> {
  await mkdir(folder);
  const socket = join(folder, "proxy.sock");
  const ports = [...example.matchAll(/^ *server 127\.0\.0\.1:(\d+) /gm)].map(([, port]) => port);
  assert.equal(ports.length, MACHINES.length);
  let turn = 0;
  const pass = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of asked) pieces.push(piece as Buffer);
    const { method, url: path, headers } = asked;
    for (let tries = 0; tries < ports.length; tries++) {
      const port = ports[turn++ % ports.length];
      const onward = request({ host: "127.0.0.1", port, method, path, headers });
      onward.end(Buffer.concat(pieces));
      const got = await once(onward, "response").catch(() => undefined);
      if (!got) continue;
      const [from] = got as [IncomingMessage];
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(answer);
      return;
    }
    answer.writeHead(502).end();
  };
  const server = createServer((asked, answer) => void pass(asked, answer));
  server.listen(socket);
  await once(server, "listening");
  return {
    socket,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

async function askAt(
  socketPath: string,
  asked: { method: string; path: string; headers: Record<string, string> },
  body?: object,
): Promise<{ status: number; text: string }> {
  const sent = request({ socketPath, ...asked, agent: false, signal: patience() });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const piece of answer.setEncoding("utf8")) text += String(piece);
  return { status: answer.statusCode ?? 0, text };
}

/** Through nginx if it is installed, and through the other proxy always. */
const PROXIES = [
  { name: "a small proxy", hasNginx: false, lack: POSTGRES_LACK },
  { name: "nginx", hasNginx: true, lack: POSTGRES_LACK ?? NGINX_LACK },
];

for (const { name, hasNginx, lack } of PROXIES) {
  const held = lack === undefined ? "" : ` (skipped: ${lack})`;
  describe(`the complete example of docs/scaling.md with ${name}${held}`, {
    skip: !!lack,
  }, () => {
    it("answers, streams, works in the background, and continues without a server", async () => {
      await using running = await startExample(hasNginx);
      const { ask, servers } = running;
      const create = async (more: object): Promise<EmittedResponse> => {
        const body = { model: "vendor", input: "Hi", ...more };
        const { status, text } = await ask("POST", "/v1/responses", body);
        assert.equal(status, 200, text);
        return JSON.parse(text) as EmittedResponse;
      };
      const made = await create({});
      assert.equal(made.status, "completed");
      for (let at = 0; at < 3; at++) {
        const { status, text } = await ask("GET", `/v1/responses/${made.id}`);
        assert.equal(status, 200, text);
      }
      const streamed = await ask("GET", `/v1/responses/${made.id}?stream=true`);
      assert.match(streamed.text, /response\.completed.*\[DONE\]/s);
      const later = await create({ background: true });
      await until(async () => {
        const { text } = await ask("GET", `/v1/responses/${later.id}`);
        return (JSON.parse(text) as EmittedResponse).status === "completed" ? true : undefined;
      }, "the background response");
      const all = await Promise.all(Array.from({ length: 9 }, () => create({})));
      assert.equal(new Set(all.map(({ id }) => id)).size, 9);
      await until(
        () => (servers.every(({ stderr }) => stderr.includes('"route"')) ? true : undefined),
        "each server has answered something",
      );
      servers[0]?.child.kill("SIGKILL");
      await servers[0]?.ended;
      for (let at = 0; at < 6; at++) assert.equal((await create({})).status, "completed");
      assert.equal((await ask("GET", `/v1/responses/${made.id}`)).status, 200);
      const stranger = await ask("GET", "/v1/responses/resp_unknown");
      assert.equal(stranger.status, 404);
    });
  });
}
