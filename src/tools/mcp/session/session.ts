/**
 * One open connection to a server: transport, handshake, and answers to the server's requests. It may only
 * ask for the workspace's root. Sampling and elicitation are not offered, so the SDK refuses them by
 * itself.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  JSONRPCMessageSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { untilAborted } from "../../../base/async.ts";
import type { Environment } from "../../../base/environment.ts";
import { Failure } from "../../../base/failure.ts";
import type { Log } from "../../../base/log.ts";
import { createRedact, type Redact } from "../../../base/redact.ts";
import { toClean } from "../clean-text.ts";
import type { KeptMap } from "../kept-map.ts";
import type { HttpReach, McpServer, StdioReach } from "../server.ts";
import { expandAll, toServerEnvironment } from "./environment.ts";
import { limitFetch } from "./limited-fetch.ts";
import { needsLogin } from "./login-needed.ts";
import { toConnectFailure } from "./mcp-failure.ts";
import { createOAuthProvider } from "./oauth.ts";
import { createStdioTransport } from "./stdio-transport.ts";

export interface McpSessionParts {
  readonly env: Environment;
  /** The workspace: a server gets its address, and one that we start runs in it. */
  readonly root: string;
  readonly version: string;
  readonly log: Log;
  readonly logins: KeptMap;
  readonly openFetch: () => Promise<FetchLike>;
  readonly connectMs: number;
  /** Stops the opening. */
  readonly signal: AbortSignal;
  /** Replaces the way that `reach` names, in tests. */
  readonly openTransport?: ((server: McpServer) => Promise<Transport>) | undefined;
}

export interface SessionEvents {
  /** Called when the server says that its list of tools has changed. */
  onToolsChanged(): void;
  onEnd(): void;
}

export interface Session {
  readonly client: Client;
  readonly redact: Redact;
  /** How the server ended, as far as it is known; undefined while it is running. */
  ended(): string | undefined;
  close(): Promise<void>;
}

/** The largest message of a server. */
const MAX_MESSAGE_BYTES = 10_000_000;

/** Rejects with one line that says what to do. The caller closes the session. */
export async function openSession(
  server: McpServer,
  parts: McpSessionParts,
  events: SessionEvents,
): Promise<Session> {
  const way = await findWay(server, parts);
  try {
    return await connect(await way.open(), { server, parts, events, way });
  } catch (thrown) {
    if (!way.openOld || !isOldServer(thrown)) throw thrown;
    return connect(await way.openOld(), { server, parts, events, way });
  }
}

/** How a server is reached: its transport, and the older one of its kind if there is one. */
interface Way {
  readonly secrets: readonly string[];
  open(): Promise<Transport>;
  openOld?(): Promise<Transport>;
}

async function findWay(server: McpServer, parts: McpSessionParts): Promise<Way> {
  const { openTransport } = parts;
  if (openTransport) return { secrets: [], open: () => openTransport(server) };
  const { reach } = server;
  return reach.kind === "stdio"
    ? findStdioWay(server, reach, parts)
    : findHttpWay(server, reach, parts);
}

function findStdioWay(server: McpServer, reach: StdioReach, parts: McpSessionParts): Way {
  const env = toServerEnvironment(server, reach, parts.env);
  const options = {
    command: reach.command,
    args: reach.args,
    env,
    cwd: parts.root,
    maxBytes: MAX_MESSAGE_BYTES,
    toMessage: (value: unknown) => JSONRPCMessageSchema.parse(value),
  };
  return {
    secrets: Object.keys(reach.env).flatMap((name) => env[name] ?? []),
    open: async () => createStdioTransport(options),
  };
}

async function findHttpWay(
  server: McpServer,
  reach: HttpReach,
  parts: McpSessionParts,
): Promise<Way> {
  const headers = expandAll(server.name, reach.headers, parts.env);
  const url = new URL(reach.url);
  const hasOwnKey = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const withLogin = reach.oauth.enabled && !hasOwnKey;
  const options = {
    fetch: limitFetch(await parts.openFetch(), MAX_MESSAGE_BYTES),
    requestInit: { headers },
    ...(withLogin ? { authProvider: createOAuthProvider({ server, reach, ...parts }) } : {}),
  };
  return {
    secrets: Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]),
    open: async () => new StreamableHTTPClientTransport(url, options) as Transport,
    async openOld() {
      const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
      return new SSEClientTransport(url, options) as Transport;
    },
  };
}

/** True for the answer to a POST of a server that only supports the transport of 2024. */
function isOldServer(thrown: unknown): boolean {
  const cause = thrown instanceof Failure ? thrown.cause : thrown;
  return cause instanceof StreamableHTTPError && [400, 404, 405].includes(cause.code ?? 0);
}

interface Connecting {
  readonly server: McpServer;
  readonly parts: McpSessionParts;
  readonly events: SessionEvents;
  readonly way: Way;
}

async function connect(transport: Transport, connecting: Connecting): Promise<Session> {
  const { server, parts, events, way } = connecting;
  const redact = createRedact(way.secrets);
  const client = createClient(server, parts, events);
  const words = (): string => ("lastWords" in transport ? lastWordsOf(transport) : "");
  let isUp = false;
  let isOver = false;
  let isEnded = false;
  client.onclose = () => {
    isEnded = true;
    if (isUp) events.onEnd();
  };
  client.onerror = (error) => {
    parts.log.debug(redact(toClean(error.message, 300)), { server: server.name });
    // The old transport waits for ever for a server that has ended; the new one stops here.
    if (isFatal(error)) void client.close();
  };
  const close = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    // Done first, so that the session is not used while it is closed.
    if (isUp) events.onEnd();
    await endHttpSession(transport);
    await client.close();
    await transport.close();
  };
  try {
    const { connectMs, signal } = parts;
    const connecting = client.connect(transport, { timeout: connectMs });
    await untilAborted(withinLimit(connecting, connectMs), signal);
    if (isEnded) throw new Error("it ended directly after its handshake");
    isUp = true;
  } catch (thrown) {
    await close();
    if (isUnauthorized(thrown)) throw needsLogin(server.name);
    const facts = { server: server.name, timeoutMs: parts.connectMs, redact };
    throw toConnectFailure(thrown, { ...facts, ended: words() });
  }
  return { client, redact, ended: () => (isEnded ? words() : undefined), close };
}

function createClient(server: McpServer, parts: McpSessionParts, events: SessionEvents): Client {
  const client = new Client(
    { name: "offshoot", version: parts.version },
    { capabilities: { roots: {} } },
  );
  client.setRequestHandler(ListRootsRequestSchema, async () => ({
    roots: [{ uri: pathToFileURL(parts.root).href, name: "workspace" }],
  }));
  client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
    events.onToolsChanged();
  });
  client.setNotificationHandler(LoggingMessageNotificationSchema, async ({ params }) => {
    const { level, data } = params;
    const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    const write = /^(error|critical|alert|emergency)$/.test(level) ? "warn" : "info";
    parts.log[write](toClean(text, 500), { server: server.name, level });
  });
  return client;
}

/** Ends the session, which a server otherwise keeps. A server that does not answer is not waited for. */
async function endHttpSession(transport: Transport): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport)) return;
  const ended = transport.terminateSession().catch(() => {});
  await Promise.race([ended, sleep(END_SESSION_MS, undefined, { ref: false })]);
}

const END_SESSION_MS = 1000;

function lastWordsOf(transport: object): string {
  const { lastWords } = transport as { lastWords(): string };
  return lastWords();
}

function isFatal({ name, message }: Error): boolean {
  return (
    /^Maximum reconnection attempts/.test(message) || /SseError|^SSE error/.test(name + message)
  );
}

function isUnauthorized(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown as { code?: unknown };
  return thrown.constructor.name === "UnauthorizedError" || code === 401;
}

/** The SDK limits the handshake, but not the time that the old transport takes to open. */
async function withinLimit(connecting: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const failure = new Failure("tool_failed", `it did not answer within ${limitMs / 1000} s.`);
    timer = setTimeout(() => reject(failure), limitMs + 500);
  });
  try {
    await Promise.race([connecting, late]);
  } finally {
    clearTimeout(timer);
    connecting.catch(() => {});
  }
}
