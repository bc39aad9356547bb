/** A whole server over a scripted model, for the tests of the API over HTTP. */

import type { TestContext } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import type { OpenedResponses } from "../../src/responses/api/open-responses.ts";
import type { Caller } from "../../src/responses/tenant/caller.ts";
import type { ResponsesSettings } from "../../src/runtime/open-responses.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/runtime/runtime.ts";
import type { Guard } from "../../src/server/guard.ts";
import type { McpDoorSettings } from "../../src/server/mcp/http-door.ts";
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
  /** Of all servers that answer at this address: one, or three. */
  readonly replicas: readonly OpenedResponses[];
  readonly upstream: Upstream;
  readonly root: string;
  /** `POST /v1/responses`, plain. Fails on a status of 300 and up. */
  create(body: object): Promise<EmittedResponse>;
  /** `POST /v1/responses`, streamed: every event, in order. */
  stream(body: object): Promise<EmittedEvent[]>;
  /** Any request; JSON where the answer is JSON, else its text. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
}

/** The clock is that of the waits of calls over `/mcp`. */
type McpSetup = Partial<McpDoorSettings> & { readonly clock?: Clock };

export interface ServerSetup extends RuntimeOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: Partial<ResponsesSettings>;
  readonly caller?: Partial<Caller>;
  readonly scopes?: readonly Scope[];
  readonly mcp?: McpSetup;
  readonly faults?: Faults;
  readonly server?: Partial<ServerOptions>;
  /** Where three servers are asked for: the record that they share, a new one when left out. */
  readonly record?: (() => Promise<string>) | undefined;
  /** Likewise: what each of the others has in place of these; the same when left out. */
  readonly another?: (() => Pick<ServerSetup, "settings" | "server">) | undefined;
}

/** `engine` says what the model answers: `script(...)`, `respond(...)` or `createEmbeddedEngine()`. */
export async function startServer(
  t: TestContext,
  engine: ScriptEngine | Script,
  { files = {}, caller, scopes, mcp, faults, record, another, ...setup }: ServerSetup = {},
): Promise<TestServer> {
  const { settings: _, server: __, ...options } = setup;
  const folder = createWorkspaceFolder(files);
  const upstream = await startChatUpstream({ engine, ...(faults ? { faults } : {}) });
  const open: Open = (given, { settings, server } = setup) =>
    openReplica(given, {
      settings: {
        models: { named: [], usual: toTarget(upstream) },
        store: true,
        ttlMs: null,
        root: folder.root,
        maxBackground: 4,
        sealKey: new Uint8Array(32),
        ...settings,
      },
      server: { guard: createOpenGuard({ ...ANYBODY, ...caller }, scopes), ...server },
      mcp,
    });
  const { url, all, close } = await openAll(options, { open, record, another });
  t.after(async () => {
    await close();
    await upstream.close();
    folder[Symbol.dispose]();
  });
  const [{ runtime, responses }] = all;
  const replicas = all.map((one) => one.responses);
  waitForAll(replicas);
  return {
    url,
    runtime,
    responses,
    replicas,
    upstream,
    root: folder.root,
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

/** One server, and its parts. */
interface OpenedReplica {
  readonly url: string;
  readonly runtime: Runtime;
  readonly responses: OpenedResponses;
  close(): Promise<void>;
}

interface ReplicaSetup {
  readonly settings: ResponsesSettings;
  readonly server: Partial<ServerOptions> & Pick<ServerOptions, "guard">;
  readonly mcp: McpSetup | undefined;
}

async function openReplica(
  options: RuntimeOptions,
  { settings, server, mcp: { clock, ...mcp } = {} }: ReplicaSetup,
): Promise<OpenedReplica> {
  const runtime = await createRuntime({ env: { PATH: process.env["PATH"] }, ...options });
  const responses = await runtime.openResponses(settings);
  const opened = await openServer({
    host: "127.0.0.1",
    port: 0,
    routes: [
      ...createRoutes(responses),
      ...createMcpRoutes({
        responses,
        record: await runtime.openRecord(),
        agents: runtime.agents,
        settings: { ...PATIENT_MCP, promptsDir: settings.promptsDir, ...mcp },
        clock,
      }),
    ],
    body: { maxBytes: 32_000_000, timeoutMs: PATIENCE_MS },
    send: { keepAliveMs: PATIENCE_MS, commitMs: PATIENCE_MS },
    onDefect: (thrown) =>
      process.stderr.write(`${thrown instanceof Error ? thrown.stack : thrown}\n`),
    ...server,
  });
  return {
    url: opened.url,
    runtime,
    responses,
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
  waitMs: PATIENCE_MS,
  keepAliveMs: PATIENCE_MS,
  approvalWaitMs: undefined,
};

interface OpenedServers {
  readonly url: string;
  readonly all: readonly [OpenedReplica, ...OpenedReplica[]];
  close(): Promise<void>;
}

type Open = (
  options: RuntimeOptions,
  own?: Pick<ServerSetup, "settings" | "server">,
) => Promise<OpenedReplica>;

interface Opening extends Pick<ServerSetup, "record" | "another"> {
  readonly open: Open;
}

/** One; or three on one Postgres, where that is asked for and the test names no record of its own. */
async function openAll(
  options: RuntimeOptions,
  { open, record = newSharedRecord, another }: Opening,
): Promise<OpenedServers> {
  if (!IS_REPLICATED || options.storePath !== undefined) {
    const one = await open(options);
    return { url: one.url, all: [one], close: one.close };
  }
  const storePath = await record();
  const first = await open({ ...options, storePath });
  const openOther = (): Promise<OpenedReplica> => open({ ...options, storePath }, another?.());
  const others = [await openOther(), await openOther()];
  const all = [first, ...others] as const;
  const front = await putInFront(all.map(({ url }) => url));
  return {
    url: front.url,
    all,
    async close() {
      await front[Symbol.asyncDispose]();
      for (const one of all) await one.close();
    },
  };
}

/** Waiting until one of them is idle means waiting for all: any of them may have the run. */
function waitForAll([first, ...others]: readonly OpenedResponses[]): void {
  if (!first || others.length === 0) return;
  const all = [first, ...others].map(({ durable }) => durable.idle.bind(durable));
  first.durable.idle = async () => {
    for (const idle of all) await idle();
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
