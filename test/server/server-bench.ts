/** A whole server over a scripted model, for the tests of the API over HTTP. */

import type { TestContext } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import type { OpenedResponses } from "../../src/responses/api/open-responses.ts";
import type { Caller } from "../../src/responses/tenant/caller.ts";
import type { ResponsesSettings } from "../../src/runtime/open-responses.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/runtime/runtime.ts";
import type { Guard } from "../../src/server/guard.ts";
import type { McpSettings } from "../../src/server/mcp/http-door.ts";
import type { Scope } from "../../src/server/route.ts";
import { createMcpRoutes } from "../../src/server/routes/mcp.ts";
import { createRoutes } from "../../src/server/routes.ts";
import { openServer, type ServerOptions } from "../../src/server/running/open-server.ts";
import {
  type Faults,
  type Script,
  type ScriptEngine,
  startChatUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { PATIENCE_MS } from "../patience.ts";
import { IS_REPLICATED, newSharedRecord, putInFront } from "../replicated.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";

export interface TestServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly runtime: Runtime;
  readonly responses: OpenedResponses;
  readonly upstream: Upstream;
  readonly root: string;
  /** `POST /v1/responses`, plain. Fails on a status of 300 and up. */
  create(body: object): Promise<EmittedResponse>;
  /** `POST /v1/responses`, streamed: every event, in order. */
  stream(body: object): Promise<EmittedEvent[]>;
  /** Any request; JSON where the answer is JSON, else its text. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
}

export interface ServerSetup extends RuntimeOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: Partial<ResponsesSettings>;
  readonly caller?: Partial<Caller>;
  readonly scopes?: readonly Scope[];
  readonly mcp?: Partial<McpSettings>;
  readonly faults?: Faults;
  readonly server?: Partial<ServerOptions>;
}

/** `engine` says what the model answers: `script(...)`, `respond(...)` or `createEmbeddedEngine()`. */
export async function startServer(
  t: TestContext,
  engine: ScriptEngine | Script,
  { files = {}, settings, caller, scopes, mcp, faults, server, ...options }: ServerSetup = {},
): Promise<TestServer> {
  const folder = createWorkspaceFolder(files);
  const upstream = await startChatUpstream({ engine, ...(faults ? { faults } : {}) });
  const open = (given: RuntimeOptions): Promise<OpenedReplica> =>
    openReplica(given, {
      settings: {
        models: { named: [], usual: toTarget(upstream) },
        ...{ store: true, ttlMs: null, root: folder.root, maxBackground: 4 },
        sealKey: new Uint8Array(32),
        ...settings,
      },
      server: { guard: createOpenGuard({ ...ANYBODY, ...caller }, scopes), ...server },
      mcp,
    });
  const { url, all, close } = await openAll(options, open);
  t.after(async () => {
    await close();
    await upstream.close();
    folder[Symbol.dispose]();
  });
  const [{ runtime, responses }] = all;
  return {
    ...{ url, runtime, responses, upstream, root: folder.root },
    async create(body) {
      const answer = await post(url, body);
      if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as EmittedResponse;
    },
    async stream(body) {
      const answer = await post(url, { ...body, stream: true });
      if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
      return readEvents(await answer.text());
    },
    async ask(method, path, body) {
      const init = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${url}${path}`, { method, ...init });
      const isJson = answer.headers.get("content-type")?.startsWith("application/json");
      return { status: answer.status, body: isJson ? await answer.json() : await answer.text() };
    },
  };
}

/** One server, and what it is made of. */
interface OpenedReplica {
  readonly url: string;
  readonly runtime: Runtime;
  readonly responses: OpenedResponses;
  close(): Promise<void>;
}

interface ReplicaSetup {
  readonly settings: ResponsesSettings;
  readonly server: Partial<ServerOptions> & Pick<ServerOptions, "guard">;
  readonly mcp: Partial<McpSettings> | undefined;
}

async function openReplica(
  options: RuntimeOptions,
  { settings, server, mcp }: ReplicaSetup,
): Promise<OpenedReplica> {
  const runtime = await createRuntime({ env: { PATH: process.env["PATH"] }, ...options });
  const responses = await runtime.openResponses(settings);
  const opened = await openServer({
    host: "127.0.0.1",
    port: 0,
    routes: [
      ...createRoutes(responses),
      ...createMcpRoutes({
        ...{ responses, record: await runtime.openRecord(), agents: runtime.agents },
        settings: { ...PATIENT_MCP, promptsDir: settings.promptsDir, ...mcp },
      }),
    ],
    body: { maxBytes: 32_000_000, timeoutMs: PATIENCE_MS },
    send: { keepAliveMs: PATIENCE_MS, commitMs: PATIENCE_MS },
    onDefect: (thrown) =>
      process.stderr.write(`${thrown instanceof Error ? thrown.stack : thrown}\n`),
    ...server,
  });
  return {
    ...{ url: opened.url, runtime, responses },
    async close() {
      const closed = opened.close();
      // A connection whose answer has just been read may not count as idle yet.
      opened.destroy();
      await closed;
      await runtime.close();
    },
  };
}

const PATIENT_MCP = {
  ...{ waitMs: PATIENCE_MS, keepAliveMs: PATIENCE_MS, approvalWaitMs: undefined },
};

interface OpenedServers {
  readonly url: string;
  readonly all: readonly [OpenedReplica, ...OpenedReplica[]];
  close(): Promise<void>;
}

/** One; or three on one Postgres, where that is asked for and the test names no record of its own. */
async function openAll(
  options: RuntimeOptions,
  open: (options: RuntimeOptions) => Promise<OpenedReplica>,
): Promise<OpenedServers> {
  if (!IS_REPLICATED || options.storePath !== undefined) {
    const one = await open(options);
    return { url: one.url, all: [one], close: one.close };
  }
  const storePath = await newSharedRecord();
  const first = await open({ ...options, storePath });
  const others = [await open({ ...options, storePath }), await open({ ...options, storePath })];
  const all = [first, ...others] as const;
  const front = await putInFront(all.map(({ url }) => url));
  return {
    ...{ url: front.url, all },
    async close() {
      await front[Symbol.asyncDispose]();
      for (const one of all) await one.close();
    },
  };
}

export const ANYBODY: Caller = {
  tenant: "tenant",
  keyId: null,
  catalogue: ["bash_read", "bash_find", "bash_ripgrep", "subagent"],
  limits: NO_LIMITS,
};

export function createOpenGuard(caller: Caller, scopes: readonly Scope[] = []): Guard {
  return { admit: async () => ({ caller, scopes, async countMore() {}, done() {} }) };
}

function toTarget({ url }: Upstream): ResponsesSettings["models"]["usual"] {
  return { model: "custom/scripted", provider: "openai-chat", url, api_key_name: null };
}

function post(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/responses`, { method: "POST", body: JSON.stringify(body) });
}

/** The events of an SSE text; `[DONE]` and comments are left out. */
export function readEvents(text: string): EmittedEvent[] {
  return text
    .split("\n\n")
    .flatMap((frame) => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
    .map((data) => JSON.parse(data) as EmittedEvent);
}
