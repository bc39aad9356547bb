/**
 * A server's tool as one of ours.
 *
 * What was judged is what runs: a call leaves only while the tool is still the one that the gate saw
 * last. A server that changes a tool in between gets no call, and the next one is asked about.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Pin, Tool, ToolOutput } from "../tool.ts";
import type { Connection } from "./connection.ts";
import type { Offered } from "./listing.ts";
import type { Pins } from "./pins.ts";
import type { Check, Compile } from "./schema-check.ts";
import type { McpServer } from "./server.ts";

export interface RemoteParts {
  readonly connection: Connection;
  readonly pins: Pins;
  readonly compile: Compile;
}

/** What a call does, once it has passed. */
export type Call = (input: JsonObject, ask: RemoteAsk) => Promise<Json | ToolOutput>;

export interface RemoteAsk {
  readonly signal: AbortSignal;
  /** How many MCP servers of ours stand above the caller. */
  readonly depth: number;
  check(now: Offered | undefined): void;
}

export interface Remote {
  /** What the model calls it. */
  readonly name: string;
  readonly offered: Offered;
  /** The tool as it is now; undefined when it is there no more. */
  current(signal: AbortSignal): Promise<Offered | undefined>;
  readonly call: Call;
}

/** Models are told this much of a description; the hash is of all of it. */
const MAX_DESCRIPTION_CHARS = 8000;

/** The gate waits a little longer than the request does, whose message says more. */
const SLACK_MS = 40_000;

/** Throws when the schema is none. */
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
    // Hints of a stranger change nothing: its calls run one after the other, and are asked about.
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
    /** Of a server that cannot be asked, what is known: the call itself will say what is wrong. */
    async standing() {
      const now = await current(AbortSignal.timeout(server.timeoutMs)).catch(() => undefined);
      if (now) judged.judge(now);
      const { definition, hash } = judged.read();
      const pinned = (await pins.read(server)).get(definition.name);
      if (pinned === undefined) return "unknown";
      return pinned === hash ? "agreed" : "changed";
    },
    /** What was seen by `standing`, not what has come since. */
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

function parse(name: string, input: Json, check: Check | undefined): JsonObject {
  const problem = isJsonObject(input) ? check?.(input) : "the arguments must be an object";
  if (problem === undefined) return input as JsonObject;
  throw new Failure("invalid_request", `The arguments of \`${name}\` do not fit: ${problem}.`);
}

/** A changed schema that is none is the server's to check. */
function compileLeniently({ definition }: Offered, compile: Compile): Check {
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
    `The MCP server \`${server}\` has just changed the tool \`${name}\`. Nothing was sent. Call it again to have it asked about anew.`,
  );
}
