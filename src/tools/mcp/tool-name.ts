/**
 * The name of a server's tool here: `mcp__SERVER__TOOL`, with the characters and the length that every
 * vendor accepts. It depends only on the server's own list, so it is the same in every run.
 */

import { createHash } from "node:crypto";

/** The shortest limit among the vendors. */
const MAX_CHARS = 64;
const HASH_CHARS = 8;

/** The names of tools. `remote` are the server's own names, each once. */
export function toToolNames(server: string, remote: readonly string[]): Map<string, string> {
  const plain = remote.map((name) => clean(`mcp__${server}__${name}`));
  const taken = new Map<string, number>();
  for (const name of plain) taken.set(name, (taken.get(name) ?? 0) + 1);
  const entries = remote.map((name, index): [string, string] => {
    const short = plain[index] ?? "";
    const isOwn = short === `mcp__${server}__${name}`;
    // If two names become equal when they are cleaned, the one that was clean keeps its name.
    const clashes = (taken.get(short) ?? 0) > 1 && !isOwn;
    return [name, clashes || short.length > MAX_CHARS ? withHash(short, server, name) : short];
  });
  return new Map(entries);
}

function clean(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

function withHash(short: string, server: string, name: string): string {
  const hash = createHash("sha256").update(`${server}\0${name}`).digest("hex");
  return `${short.slice(0, MAX_CHARS - HASH_CHARS - 1)}_${hash.slice(0, HASH_CHARS)}`;
}
