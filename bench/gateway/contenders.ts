/** The gateways that are compared: how each is started, and what it is asked. */

import { Agent, createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createServerLimiters } from "../../src/providers/limits/limiters.ts";
import type { ModelTarget } from "../../src/responses/models/model-target.ts";
import type { ResponsesSettings } from "../../src/runtime/open-responses.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createGuard } from "../../src/server/guard/create-guard.ts";
import { createKey } from "../../src/server/guard/keys.ts";
import type { Guard } from "../../src/server/guard.ts";
import { createRoutes } from "../../src/server/routes.ts";
import { openServer } from "../../src/server/running/open-server.ts";
import { createMemoryAudit } from "../../src/store/memory/memory-audit.ts";
import { createMemoryShelf } from "../../src/store/memory/memory-shelf.ts";
import { createMemorySpending } from "../../src/store/memory/memory-spending.ts";
import { importClient, requireClient } from "../clients.ts";

export interface Contender {
  /** Starts it in this process, in front of the upstream; resolves with its port. */
  start(upstreamPort: number): Promise<number>;
  readonly path: string;
  readonly headers: (upstreamPort: number) => Readonly<Record<string, string>>;
  readonly body: (stream: boolean) => object;
}

const PROMPT = "Say something about foxes, in about a hundred words, and be kind to them.";

function chatBody(stream: boolean): object {
  return {
    model: "bench",
    messages: [
      { role: "system", content: "You are brief." },
      { role: "user", content: PROMPT },
    ],
    max_tokens: 400,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  };
}

function responseBody(stream: boolean): object {
  return {
    model: "bench",
    instructions: "You are brief.",
    input: PROMPT,
    max_output_tokens: 400,
    store: false,
    ...(stream ? { stream } : {}),
  };
}

function messagesBody(model: string, stream: boolean): object {
  return {
    model,
    system: "You are brief.",
    messages: [{ role: "user", content: PROMPT }],
    max_tokens: 400,
    ...(stream ? { stream } : {}),
  };
}

export const CONTENDERS: Readonly<Record<string, Contender>> = {
  "byte pipe": {
    start: startPipe,
    path: "/v1/chat/completions",
    headers: () => ({}),
    body: chatBody,
  },
  offshoot: {
    start: startOffshoot,
    path: "/v1/responses",
    headers: () => ({ authorization: "Bearer bench" }),
    body: responseBody,
  },
  "offshoot with deployments and a key": {
    start: startWithKey,
    path: "/v1/responses",
    headers: () => ({}),
    // A field that the vendor's table accepts.
    body: (stream) => ({ ...responseBody(stream), top_k: 40 }),
  },
  "offshoot with messages": {
    start: startOffshoot,
    path: "/v1/messages",
    headers: () => ({ "x-api-key": "bench", "anthropic-version": "2023-06-01" }),
    body: (stream) => messagesBody("bench", stream),
  },
  "@musistudio/llms": {
    start: startLlms,
    path: "/v1/messages",
    headers: () => ({ "x-api-key": "bench" }),
    body: (stream) => messagesBody("bench,bench", stream),
  },
  "@portkey-ai/gateway": {
    start: startPortkey,
    path: "/v1/chat/completions",
    headers: (port) => ({
      authorization: "Bearer bench",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${port}/v1`,
    }),
    body: chatBody,
  },
};

/** The least that a gateway can do: bytes in, bytes out. */
export async function startPipe(upstreamPort: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1024 });
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const out = send({ port: upstreamPort, host: "127.0.0.1", method, path: url, headers, agent });
    out.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(out);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function startOffshoot(upstreamPort: number): Promise<number> {
  const caller = { tenant: "bench", keyId: null, catalogue: [], limits: NO_LIMITS };
  return await serve({
    models: { named: [], usual: toTarget(upstreamPort) },
    guard: { admit: async () => ({ caller, async countMore() {}, done() {} }) },
  });
}

const DAILY_TOKENS = 1e12;

/**
 * A server as an operator runs it: a name with two deployments, and a key with a budget that is reserved before each
 * call and booked after it. The record is in memory.
 */
async function startWithKey(upstreamPort: number): Promise<number> {
  const target = toTarget(upstreamPort);
  const deployment = { ...target, weight: 1, fallback: false };
  const deployments = [deployment, { ...deployment, model: "custom/bench-2" }];
  const shelf = createMemoryShelf();
  const guard = createGuard({
    shelf,
    spending: createMemorySpending(),
    audit: createMemoryAudit(),
    clock: systemClock,
    settings: { auth: true, host: "127.0.0.1", hosts: [], origins: [], catalogue: [] },
  });
  const limits = { tokens_per_day: DAILY_TOKENS };
  const { token } = await createKey({ shelf, clock: systemClock }, { name: "bench", limits });
  const { charge, openPurse, payerOf } = guard.budgets;
  return await serve({
    models: { named: [["bench", { ...target, deployments }]], usual: target },
    // The load does not know the key, which is generated in each process.
    guard: {
      admit: (request, ...rest) => {
        request.rawHeaders.splice(0, 0, "authorization", `Bearer ${token}`);
        return guard.admit(request, ...rest);
      },
    },
    charge,
    openPurse,
    payerOf,
    enterPlace: guard.enterPlace,
  });
}

function toTarget(upstreamPort: number): ModelTarget {
  return {
    model: "custom/bench",
    provider: "openai-chat",
    url: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key_name: null,
  };
}

type Served = Pick<ResponsesSettings, "models"> &
  Partial<ResponsesSettings> & { readonly guard: Guard };

async function serve({ guard, ...settings }: Served): Promise<number> {
  const runtime = await createRuntime({ env: {}, limiters: createServerLimiters() });
  const responses = await runtime.openResponses({
    store: true,
    ttlMs: null,
    root: process.cwd(),
    maxBackground: 8,
    sealKey: new Uint8Array(32),
    ...settings,
  });
  const { url } = await openServer({
    host: "127.0.0.1",
    port: 0,
    routes: createRoutes(responses),
    guard,
    body: { maxBytes: 1 << 24, timeoutMs: 30_000 },
    send: { keepAliveMs: 15_000, commitMs: 1000 },
    onDefect: (thrown) => process.stderr.write(`${String(thrown)}\n`),
  });
  return Number(new URL(url).port);
}

/** Its own main module reads its settings from the call. */
async function startLlms(upstreamPort: number): Promise<number> {
  // Its ESM build does not load: it requires what it was bundled without.
  const { default: Server } = requireClient<{
    default: new (options: object) => { start(): Promise<void> };
  }>("@musistudio/llms");
  const port = await findPort();
  const server = new Server({
    logger: false,
    initialConfig: {
      PORT: port,
      HOST: "127.0.0.1",
      providers: [
        {
          name: "bench",
          api_base_url: `http://127.0.0.1:${upstreamPort}/v1/chat/completions`,
          api_key: "bench",
          models: ["bench"],
        },
      ],
    },
  });
  void server.start();
  return await untilListening(port);
}

async function startPortkey(): Promise<number> {
  unlockAnswers();
  const port = await findPort();
  process.argv = [process.argv[0] ?? "node", "gateway", `--port=${port}`, "--headless"];
  await importClient("@portkey-ai/gateway/build/start-server.js");
  return await untilListening(port);
}

/**
 * It writes into the headers of a stream's response, which are immutable: as published it answers every stream with
 * 500. A copy of the response can be changed, and costs it little.
 */
function unlockAnswers(): void {
  const { fetch: ask } = globalThis;
  globalThis.fetch = async (...asked: Parameters<typeof ask>) => {
    const answer = await ask(...asked);
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
    return isStream ? new Response(answer.body, answer) : answer;
  };
}

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilListening(port: number): Promise<number> {
  const { connect } = await import("node:net");
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.on("error", () => resolve(false));
    });
    if (isOpen) return port;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
