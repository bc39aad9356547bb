/**
 * Two tenants of one server: what one waits for its answers while the other sends large prompts, slow
 * schemas and a thousand background jobs, beside what it waits on a quiet server.
 *
 *     npm run bench:tenants
 *
 * The server, the model's server and the hostile tenant are processes of their own; this one is the
 * other tenant. The same file is the program of two of them, told apart by its first argument.
 */

import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const REQUESTS = 600;
const PROMPT_BYTES = [19_000_000, 58_000_000] as const;
const BACKGROUND_JOBS = 1000;
const SCHEMAS_AT_ONCE = 40;
/** What its pattern is slow at. */
const SLOW_ANSWER = JSON.stringify({ a: `${"a".repeat(40)}!` });
const SLOW_SCHEMA = {
  type: "object",
  properties: { a: { type: "string", pattern: "^(a+)+$" } },
};

const CLI = fileURLToPath(new URL("../src/cli/bin.js", import.meta.url));
const [role, url = "", token = ""] = process.argv.slice(2);
if (role === "upstream") startUpstream();
else if (role !== undefined && role !== "--check") await beHostile(role);
else await compare();

async function compare(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "offshoot-tenants-"));
  const upstream = fork(fileURLToPath(import.meta.url), ["upstream"]);
  const [port] = (await once(upstream, "message")) as [number];
  const env = { PATH: process.env["PATH"], HOME: home, OFFSHOOT_DATA: join(home, "data") };
  const makeKey = (tenant: string): string =>
    spawnSync(process.execPath, [CLI, "keys", "create", tenant, "--tenant", tenant], { env })
      .stdout.toString()
      .match(/\S{24,}/)?.[0] ?? "";
  const [own, theirs] = [makeKey("own"), makeKey("theirs")];
  const model = ["-m", "custom/x", "--provider", "openai-chat"];
  const flags = [...model, "--url", `http://127.0.0.1:${port}/v1`, "--log", "off", "-p", "0"];
  const server = spawn(process.execPath, [CLI, "serve", ...flags], { env });
  try {
    const place = await addressOf(server);
    await measure(place, own);
    print("a quiet server", await measure(place, own));
    for (const kind of ["prompts", "schemas", "background", "everything"]) {
      const hostile = fork(fileURLToPath(import.meta.url), [kind, place, theirs]);
      await once(hostile, "message");
      print(kind, await measure(place, own));
      hostile.kill();
    }
  } finally {
    server.kill("SIGKILL");
    upstream.kill();
    rmSync(home, { recursive: true, force: true });
  }
}

async function addressOf({ stderr, stdout }: ReturnType<typeof spawn>): Promise<string> {
  let said = "";
  return await new Promise((resolve) => {
    const hear = (piece: Buffer): void => {
      said += piece.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (found) resolve(found);
    };
    stderr?.on("data", hear);
    stdout?.on("data", hear);
  });
}

/** Milliseconds of each of its requests, one after the other: a plain answer, a list and a health check in turn. */
async function measure(place: string, key: string): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let at = 0; at < REQUESTS; at++) {
    const startedMs = performance.now();
    const answer = await ask(place, key, at);
    await answer.text();
    if (!answer.ok) throw new Error(`the quiet tenant got ${answer.status}`);
    taken.push(performance.now() - startedMs);
  }
  return taken.sort((a, b) => a - b);
}

function ask(place: string, key: string, at: number): Promise<Response> {
  if (at % 3 === 0) return post(place, key, { input: "Hello", store: true });
  const headers = { authorization: `Bearer ${key}` };
  return fetch(`${place}${at % 3 === 1 ? "/v1/models" : "/healthz"}`, { headers });
}

function print(name: string, taken: readonly number[]): void {
  const median = taken[taken.length >> 1] ?? 0;
  const worst = taken.at(-1) ?? 0;
  console.log(`${name.padEnd(16)} median ${median.toFixed(1)} ms  worst ${worst.toFixed(1)} ms`);
}

function post(place: string, key: string, body: object | string): Promise<Response> {
  return fetch(`${place}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Goes on until it is ended; tells its parent when it is under way. */
async function beHostile(kind: string): Promise<void> {
  process.on("disconnect", () => process.exit());
  const all = kind === "everything";
  if (all || kind === "background") await sendBackground();
  if (all || kind === "schemas") {
    for (let at = 0; at < SCHEMAS_AT_ONCE; at++) void repeat(sendSchema);
  }
  if (all || kind === "prompts") {
    for (const bytes of PROMPT_BYTES) {
      for (const isStored of [false, true]) void repeat(() => sendPrompt(bytes, isStored));
    }
  }
  process.send?.("ready");
}

async function repeat(send: () => Promise<unknown>): Promise<void> {
  for (;;) await send().catch(() => {});
}

async function sendBackground(): Promise<void> {
  const jobs = Array.from({ length: BACKGROUND_JOBS }, () => async () => {
    await (await post(url, token, { input: "Hello", background: true })).text();
  });
  const take = async (): Promise<void> => {
    for (let job = jobs.pop(); job; job = jobs.pop()) await job().catch(() => {});
  };
  await Promise.all([take(), take(), take(), take()]);
}

async function sendSchema(): Promise<void> {
  const format = { type: "json_schema", name: "slow", schema: SLOW_SCHEMA };
  await (await post(url, token, { input: "Hello", store: false, text: { format } })).text();
}

async function sendPrompt(bytes: number, isStored: boolean): Promise<void> {
  const input = "a ".repeat(bytes / 2);
  const answer = await post(url, token, `{"store":${isStored},"input":"${input}"}`);
  await answer.text();
}

/** A chat server that answers at once: a slow document where a schema is asked for. */
function startUpstream(): void {
  const server = createServer(async (request, response) => {
    let size = 0;
    let head = "";
    for await (const piece of request) {
      size += (piece as Buffer).length;
      if (size < 1_000_000) head += String(piece);
    }
    const content = head.includes("response_format") ? SLOW_ANSWER : "Hello.";
    const choice = { index: 0, finish_reason: "stop" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const about = { id: "chatcmpl-1", created: 1, model: "x", usage };
    if (!/"stream":\s*true/.test(head)) {
      const choices = [{ ...choice, message: { role: "assistant", content } }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...about, object: "chat.completion", choices }));
      return;
    }
    const choices = [{ ...choice, delta: { role: "assistant", content } }];
    const chunk = { ...about, object: "chat.completion.chunk", choices };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}
