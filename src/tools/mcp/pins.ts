/**
 * What was agreed to of each server's tools: a hash of name, description and schema.
 *
 * Pins hold for one address. A server that is reached in another way is another server, whatever it
 * is called.
 */

import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { KeptMap } from "./kept-map.ts";
import type { McpServer } from "./server.ts";

/** As the server describes it. */
export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

export interface Pins {
  /** By the server's own name of the tool. */
  read(server: McpServer): Promise<ReadonlyMap<string, string>>;
  /** Adds these to what was agreed to. */
  set(server: McpServer, hashes: ReadonlyMap<string, string>): Promise<void>;
  /** Agrees to these and to no others. */
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

/** The order of a schema's keys says nothing, so it changes nothing. */
export function hashOf({ name, description, schema }: Definition): string {
  return `sha256:${sha256(toSorted([name, description, schema]))}`;
}

function toKept(server: McpServer, hashes: [string, string][]): JsonObject {
  // The last of a name counts.
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
