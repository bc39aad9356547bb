/**
 * The MCP servers of a runtime: one connection to each for all of its runs, opened by the first run that
 * asks for its tools, closed with the runtime.
 *
 * The SDK is loaded when there is something to connect to; a run without MCP does not pay for it.
 */

import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { clip, nearest } from "../../base/text.ts";
import type { Tool } from "../tool.ts";
import { toClean } from "./clean-text.ts";
import { createKeptMap, type KeptMap, type KeptText } from "./kept-map.ts";
import { createPins, type Pins } from "./pins.ts";
import type { Compile } from "./schema-check.ts";
import type { McpServer } from "./server.ts";
import type { ServerTools } from "./server-tools.ts";
import type { McpConnection } from "./session/connection.ts";
import type { OpenedFetch } from "./session/open-fetch.ts";

export interface McpParts {
  readonly servers: readonly McpServer[];
  readonly env: Environment;
  /** The workspace: servers get its address, and servers that we start run in it. */
  readonly root: string;
  /** The approved tools. */
  readonly pins: KeptText;
  /** Registrations and tokens. */
  readonly logins: KeptText;
  readonly clock: Clock;
  readonly log: Log;
  /** Our version, for the handshake. */
  readonly version: string;
  /** Called once for each server that cannot be used. Tools that are left out go to the log. */
  readonly onProblem: (problem: string) => void;
  /** The time limit for a server's handshake. */
  readonly connectMs?: number | undefined;
  /** The longest wait of a run for a server's tools. */
  readonly listMs?: number | undefined;
  /** The authorities for servers over HTTPS, in place of the runtime's. Called once. */
  readonly trusted?: (() => readonly string[] | undefined) | undefined;
  /** @internal In place of the guarded client's, for tests. */
  readonly fetch?: FetchLike | undefined;
  /** @internal In place of the way that a server is configured to be reached, for tests. */
  readonly openTransport?: ((server: McpServer) => Promise<Transport>) | undefined;
}

export interface McpHub {
  /**
   * The tools of these servers, or of all that are enabled. A server that cannot be used, or not in time,
   * is reported to `onProblem` and left out.
   */
  tools(servers?: readonly string[], signal?: AbortSignal): Promise<Tool[]>;
  /** Connects to one server. Rejects with one line if it cannot be used. */
  inspect(server: string, signal?: AbortSignal): Promise<Inspection>;
  /** Approves the tools that an inspection has shown, and no others of that server. */
  approve(inspection: Inspection): Promise<void>;
  /** The browser's part of a login. `show` tells the user which address to open. */
  logIn(server: string, show: (url: URL) => Promise<void>, signal: AbortSignal): Promise<void>;
  /** How many tools of each server were approved, without connecting. */
  countAgreed(server: string): Promise<number>;
  /** Forgets the approvals and the login. */
  forget(server: string): Promise<void>;
  close(): Promise<void>;
}

export interface Inspection {
  readonly server: string;
  /** The server's own name for itself. */
  readonly title: string;
  readonly tools: readonly InspectedTool[];
  /** Tools that were approved once and do not exist any more. */
  readonly gone: readonly string[];
  readonly problems: readonly string[];
}

export interface InspectedTool {
  /** The name for the model. */
  readonly name: string;
  /** The server's own name for it. */
  readonly remote: string;
  readonly description: string;
  /** The server's own claims, which decide nothing. */
  readonly hints: readonly string[];
  readonly hash: string;
  readonly standing: "agreed" | "changed" | "unknown";
}

/** A server may have to be fetched by `npx` first. */
const CONNECT_MS = 30_000;

/** The user waits for the run. A server that opens later is available to the next run. */
const LIST_MS = 10_000;

const MAX_PROBLEM_CHARS = 1000;

const never = new AbortController().signal;

export function createMcpHub(parts: McpParts): McpHub {
  const pins = createPins(createKeptMap(parts.pins, "The list of approved MCP tools"));
  const logins = createKeptMap(parts.logins, "The file of MCP logins");
  const reached = createReached(parts, { pins, logins });
  const find = (name: string): McpServer => findServer(parts.servers, name);
  const told = new Set<string>();
  const tellOnce = (problem: string, tell: (problem: string) => void): void => {
    if (told.has(problem)) return;
    told.add(problem);
    tell(problem);
  };

  const inTime = createInTime(parts.listMs ?? LIST_MS);

  async function toolsOf(server: McpServer, signal: AbortSignal): Promise<Tool[]> {
    try {
      const opened = await inTime(server, (limited) => reached.open(server, limited), signal);
      const { tools, problems } = opened;
      for (const problem of problems) {
        tellOnce(`MCP server \`${server.name}\`: ${problem}`, parts.log.warn);
      }
      return tools.map(({ tool }) => tool);
    } catch (thrown) {
      const failure = toFailure(thrown);
      if (failure.code === "cancelled") throw failure;
      tellOnce(toClean(failure.message, MAX_PROBLEM_CHARS), parts.onProblem);
      return [];
    }
  }

  return {
    async tools(names, signal = never) {
      const chosen = names?.map(find) ?? parts.servers;
      const usable = chosen.filter(({ enabled }) => enabled);
      return (await Promise.all(usable.map((server) => toolsOf(server, signal)))).flat();
    },
    async inspect(name, signal = never) {
      const server = find(name);
      const [opened, agreed] = await Promise.all([reached.open(server, signal), pins.read(server)]);
      return toInspection(server, opened, agreed);
    },
    async approve({ server, tools }) {
      const hashes = new Map(tools.map(({ remote, hash }) => [remote, hash]));
      await pins.replace(find(server), hashes);
    },
    async logIn(name, show, signal) {
      const server = find(name);
      const { logIn } = await import("./session/login.ts");
      const { env, version } = parts;
      await logIn(server, { env, version, logins, fetch: await reached.openFetch(), signal, show });
    },
    countAgreed: async (name) => (await pins.read(find(name))).size,
    async forget(name) {
      await pins.forget(name);
      await logins.update(name, () => undefined);
    },
    close: reached.close,
  };
}

/** A server that was late once is not waited for again until it is open. */
const LATE_MS = 200;

type Work<Out> = (signal: AbortSignal) => Promise<Out>;

/** Stops waiting for a server, which continues to open. */
function createInTime(limitMs: number) {
  const late = new Set<McpServer>();
  return async <Out>(server: McpServer, work: Work<Out>, signal: AbortSignal): Promise<Out> => {
    const stop = new AbortController();
    const message = `The MCP server \`${server.name}\` did not answer within ${limitMs / 1000} s. The run continues without its tools.`;
    const timer = setTimeout(
      () => {
        late.add(server);
        stop.abort(new Failure("tool_failed", message));
      },
      late.has(server) ? Math.min(LATE_MS, limitMs) : limitMs,
    );
    try {
      const done = await work(AbortSignal.any([signal, stop.signal]));
      late.delete(server);
      return done;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The servers that were reached, and the network that some of them need. */
interface Reached {
  open(server: McpServer, signal: AbortSignal): Promise<OpenedServer>;
  openFetch(): Promise<FetchLike>;
  close(): Promise<void>;
}

type OpenedServer = ServerTools & Pick<Inspection, "title">;

interface Kept {
  readonly pins: Pins;
  readonly logins: KeptMap;
}

function createReached(parts: McpParts, { pins, logins }: Kept): Reached {
  const connections = new Map<string, Promise<McpConnection>>();
  let network: Promise<OpenedFetch> | undefined;
  let compiling: Promise<Compile> | undefined;

  async function openFetch(): Promise<FetchLike> {
    if (parts.fetch) return parts.fetch;
    const longestMs = Math.max(...parts.servers.map(({ timeoutMs }) => timeoutMs), 0);
    network ??= import("./session/open-fetch.ts").then((module) =>
      module.openFetch(parts.env, { longestMs, ca: parts.trusted?.() }),
    );
    return (await network).fetch;
  }

  async function connect(server: McpServer): Promise<McpConnection> {
    const { createConnection } = await import("./session/connection.ts");
    const connectMs = parts.connectMs ?? CONNECT_MS;
    return createConnection(server, { ...parts, logins, openFetch, connectMs });
  }

  return {
    async open(server, signal) {
      const connecting = connections.get(server.name) ?? connect(server);
      connections.set(server.name, connecting);
      compiling ??= import("./schema-check.ts").then((module) => module.createCompile());
      const [{ toServerTools }, connection, compile] = await Promise.all([
        import("./server-tools.ts"),
        connecting,
        compiling,
      ]);
      const listing = await connection.list(signal);
      const { title } = listing;
      return { title, ...toServerTools(listing, { connection, pins, compile }) };
    },
    openFetch,
    async close() {
      const opened = await Promise.all(connections.values());
      await Promise.all(opened.map((connection) => connection.close()));
      await (await network)?.close();
    },
  };
}

function findServer(servers: readonly McpServer[], name: string): McpServer {
  const found = servers.find((server) => server.name === name);
  if (found) return found;
  const known = servers.map((server) => server.name);
  const near = nearest(name, known);
  const all =
    known.length === 0
      ? "There are none yet: `offshoot mcp add --help` says how to add one."
      : `Available: ${known.join(", ")}.`;
  const hint = near ? `Did you mean \`${near}\`?` : all;
  throw new Failure("not_found", `Unknown MCP server \`${clip(name, 60)}\`. ${hint}`);
}

function toInspection(
  { name }: McpServer,
  { title, tools, problems }: OpenedServer,
  agreed: ReadonlyMap<string, string>,
): Inspection {
  const inspected = tools.map(({ tool, offered }): InspectedTool => {
    const { definition, hash, hints } = offered;
    const known = agreed.get(definition.name);
    const standing = known === undefined ? "unknown" : known === hash ? "agreed" : "changed";
    const { description, name: remote } = definition;
    return { name: tool.spec.name, remote, description, hints, hash, standing };
  });
  const there = new Set(inspected.map(({ remote }) => remote));
  const gone = [...agreed.keys()].filter((remote) => !there.has(remote));
  return { server: name, title, tools: inspected, gone, problems };
}
