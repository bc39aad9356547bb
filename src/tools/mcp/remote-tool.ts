/**
 * A server's tool as one of ours.
 *
 * A call runs only as it was judged: it is sent only while the tool is the one that the gate saw last. If a
 * server changes a tool in between, the call is not sent, and the next one needs approval again.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Pin, Tool, ToolOutput } from "../tool.ts";
import type { Offered } from "./listing.ts";
import type { Pins } from "./pins.ts";
import type { Compile, SchemaCheck } from "./schema-check.ts";
import type { McpServer } from "./server.ts";
import type { McpConnection } from "./session/connection.ts";

export interface RemoteParts {
  readonly connection: McpConnection;
  readonly pins: Pins;
  readonly compile: Compile;
}

/** Makes a call that has passed the gate. */
export type CallRemote = (input: JsonObject, ask: RemoteAsk) => Promise<Json | ToolOutput>;

export interface RemoteAsk {
  readonly signal: AbortSignal;
  /** The number of our MCP servers above the caller. */
  readonly depth: number;
  check(now: Offered | undefined): void;
}

export interface Remote {
  /** The name for the model. */
  readonly name: string;
  readonly offered: Offered;
  /** The tool as it is now; undefined if it does not exist any more. */
  current(signal: AbortSignal): Promise<Offered | undefined>;
  readonly call: CallRemote;
}

/** The most characters of a description for models. The hash is of the whole text. */
const MAX_DESCRIPTION_CHARS = 8000;

/** The gate waits a little longer than the request, whose message is better. */
const SLACK_MS = 40_000;

/** Throws if the schema is invalid. */
export function toTool(remote: Remote, parts: RemoteParts): Tool {
  const { name, offered } = remote;
  const { server } = parts.connection;
  const checks = new Map([[offered.hash, parts.compile(offered.definition.schema)]]);
  let judged = offered;

  const judge = (now: Offered): void => {
    judged = now;
    if (!checks.has(now.hash)) checks.set(now.hash, compileLeniently(now, parts.compile));
  };

  return {
    spec: toSpec(name, offered),
    // The hints of an external server decide nothing: its calls run one after the other and need approval.
    readOnly: false,
    effect: "external",
    timeoutMs: server.timeoutMs + SLACK_MS,
    parse: (input) => parse(name, input, checks.get(judged.hash)),
    targets: () => ({ ...hostsOf(server) }),
    pin: createPin(remote, parts, { read: () => judged, judge }),
    run(input, { signal, mcpDepth: depth = 0 }) {
      const check = (now: Offered | undefined): void => {
        if (!now) throw gone(name, server.name);
        if (now.hash === judged.hash) return;
        judge(now);
        throw changed(name, server.name);
      };
      return remote.call(input as JsonObject, { signal, depth, check });
    },
  };
}

interface Judged {
  read(): Offered;
  judge(now: Offered): void;
}

function createPin({ current }: Remote, parts: RemoteParts, judged: Judged): Pin {
  const { connection, pins } = parts;
  const { server } = connection;
  return {
    /** If the server cannot be asked, what is known is used, and the call itself reports the problem. */
    async standing() {
      const now = await current(AbortSignal.timeout(server.timeoutMs)).catch(() => undefined);
      if (now) judged.judge(now);
      const { definition, hash } = judged.read();
      const pinned = (await pins.read(server)).get(definition.name);
      if (pinned === undefined) return "unknown";
      return pinned === hash ? "agreed" : "changed";
    },
    /** Approves the tool that `standing` saw, and no later one. */
    agree() {
      const { definition, hash } = judged.read();
      return pins.set(server, new Map([[definition.name, hash]]));
    },
  };
}

function toSpec(name: string, { definition }: Offered): Tool["spec"] {
  const { description, schema } = definition;
  const { $schema: _, ...parameters } = schema;
  const text =
    description.length > MAX_DESCRIPTION_CHARS
      ? `${description.slice(0, MAX_DESCRIPTION_CHARS)}…`
      : description;
  return {
    type: "function",
    name,
    description: text,
    parameters: { properties: {}, ...parameters, type: "object" },
    strict: false,
  };
}

function parse(name: string, input: Json, check: SchemaCheck | undefined): JsonObject {
  const problem = isJsonObject(input) ? check?.(input) : "the arguments must be an object";
  if (problem === undefined) return input as JsonObject;
  throw new Failure("invalid_request", `The arguments of \`${name}\` do not fit: ${problem}.`);
}

/** Compiles a changed schema. If it is invalid, the server checks the arguments. */
function compileLeniently({ definition }: Offered, compile: Compile): SchemaCheck {
  try {
    return compile(definition.schema);
  } catch {
    return () => undefined;
  }
}

function hostsOf({ reach }: McpServer): { readonly hosts?: readonly string[] } {
  return reach.kind === "http" ? { hosts: [new URL(reach.url).hostname] } : {};
}

function gone(name: string, server: string): Failure {
  return new Failure("not_found", `The MCP server \`${server}\` has no tool \`${name}\` any more.`);
}

function changed(name: string, server: string): Failure {
  return new Failure(
    "forbidden",
    `The MCP server \`${server}\` has just changed the tool \`${name}\`. Nothing was sent. Call it again to ask for approval.`,
  );
}
