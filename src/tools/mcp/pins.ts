/**
 * The approved tools of each server: a hash of name, description and schema.
 *
 * Pins are for one address. A server with another address is another server, whatever its name.
 */

import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { KeptMap } from "./kept-map.ts";
import type { McpServer } from "./server.ts";

/** The server's description of the tool. */
export interface RemoteDefinition {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

export interface Pins {
  /** The hashes by the server's own name of the tool. */
  read(server: McpServer): Promise<ReadonlyMap<string, string>>;
  /** Approves these in addition. */
  set(server: McpServer, hashes: ReadonlyMap<string, string>): Promise<void>;
  /** Approves these and no others. */
  replace(server: McpServer, hashes: ReadonlyMap<string, string>): Promise<void>;
  forget(server: string): Promise<void>;
}

export function createPins(kept: KeptMap): Pins {
  return {
    async read(server) {
      return toHashes(await kept.get(server.name), server);
    },
    set: (server, hashes) =>
      kept.update(server.name, (old) => toKept(server, [...toHashes(old, server), ...hashes])),
    replace: (server, hashes) => kept.update(server.name, () => toKept(server, [...hashes])),
    forget: (server) => kept.update(server, () => undefined),
  };
}

/** The order of a schema's keys means nothing, so it does not change the hash. */
export function hashOf({ name, description, schema }: RemoteDefinition): string {
  return `sha256:${sha256(toSorted([name, description, schema]))}`;
}

function toKept(server: McpServer, hashes: [string, string][]): JsonObject {
  // If a name appears twice, the last one counts.
  const tools = [...new Map(hashes)].sort(([a], [b]) => (a < b ? -1 : 1));
  return { address: toFingerprint(server), tools: Object.fromEntries(tools) };
}

function toHashes(kept: unknown, server: McpServer): Map<string, string> {
  if (!isJsonObject(kept) || kept["address"] !== toFingerprint(server)) return new Map();
  const tools = isJsonObject(kept["tools"]) ? kept["tools"] : {};
  return new Map(
    Object.entries(tools).flatMap(([name, hash]) =>
      typeof hash === "string" ? [[name, hash]] : [],
    ),
  );
}

function toFingerprint({ reach }: McpServer): string {
  const address = reach.kind === "http" ? [reach.url] : [reach.command, ...reach.args];
  return `sha256:${sha256(JSON.stringify(address))}`;
}

function toSorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
