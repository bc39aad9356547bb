/**
 * Which kinds of tools a key may use. A key that has a list of tools uses the hosted kinds on it and no
 * others: what this server runs, or a vendor runs at this server's cost. What the client runs itself is
 * never narrowed. Pure.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { clip } from "../../base/text.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Caller } from "../caller.ts";

/** Made by the client, unless a tool of a configured MCP server stands in its place. */
const CLIENT_KINDS: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "namespace",
  "tool_search",
  "local_shell",
  "apply_patch",
  "computer",
]);

/** Kinds that have several spellings. */
const SPELLINGS: readonly [RegExp, string][] = [
  [/^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/, "web_search"],
  [/^computer(_use(_preview)?)?$/, "computer"],
];

/** Whether the server makes the calls of a client's kind itself. */
export type IsBacked = (kind: string) => boolean;

/** Rejects with `forbidden`, naming the tool, what the caller's key may not use. */
export function checkKinds(tools: readonly Tool[], caller: Caller, isBacked: IsBacked): void {
  const { kinds } = caller;
  if (!kinds) return;
  for (const [at, tool] of tools.entries()) {
    if (mayUse(kinds, tool, isBacked)) continue;
    const name = clip(kindOf(tool), 60);
    const message = `This key may not use the tool \`${name}\`. Leave it out, or ask for a key with \`--tools ${name}\`.`;
    throw new Failure("forbidden", message, { param: `tools[${at}]` });
  }
}

/** `kinds` are globs. */
export function mayUse(kinds: readonly string[], tool: Tool, isBacked: IsBacked): boolean {
  const kind = kindOf(tool);
  return !isHosted(tool, kind, isBacked) || kinds.some((glob) => matchesGlob(kind, glob));
}

/** The name that a key's list has for it: `web_search` for each of its spellings. */
export function kindOf({ type }: { readonly type: string }): string {
  return SPELLINGS.find(([form]) => form.test(type))?.[1] ?? type;
}

function isHosted(tool: Tool, kind: string, isBacked: IsBacked): boolean {
  if (tool.type === "shell" && !isBacked(kind)) {
    const place = tool.environment?.type ?? "local";
    return place !== "local";
  }
  // Tools of this server itself are narrowed one by one.
  if (tool.type === "mcp") return Boolean(tool.server_url || tool.connector_id);
  return !CLIENT_KINDS.has(kind) || isBacked(kind);
}
