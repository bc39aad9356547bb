/**
 * Which kinds of tools a key may use. A key that has a list of tools uses the hosted kinds on it and no
 * others: what this server runs, or a vendor runs at this server's cost. What the client runs itself is
 * never narrowed. Pure.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { clip } from "../../base/text.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Caller } from "../tenant/caller.ts";

/** Made by the client, unless a tool of a configured MCP server stands in its place. */
const CLIENT_KINDS: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "namespace",
  "tool_search",
  "local_shell",
  "apply_patch",
  "computer",
  // Claude's own words for what its client does.
  "bash",
  "text_editor",
  "memory",
]);

/** Kinds that have several spellings. */
const SPELLINGS: readonly [RegExp, string][] = [
  [/^web_search(_preview)?(_\d{4}_\d{2}_\d{2}|_\d{8})?$/, "web_search"],
  [/^(google_search|googleSearch|browser_search|nova_grounding)$/, "web_search"],
  [/^(code_execution(_\d{8})?|codeExecution|nova_code_interpreter)$/, "code_interpreter"],
  [/^(web_fetch_\d{8}|url_context|urlContext)$/, "web_fetch"],
  [/^computer(_use(_preview)?|_\d{8})?$/, "computer"],
  [/^(bash|text_editor|memory)_\d{8}$/, "$1"],
  [/^tool_search_tool_\w+$/, "tool_search"],
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

/** The name that a key's list has for it: `web_search` for each of its spellings, and each vendor's. */
export function kindOf({ type }: { readonly type: string }): string {
  const [form, name = type] = SPELLINGS.find(([spelling]) => spelling.test(type)) ?? [];
  return form ? type.replace(form, name) : name;
}

/** Whether calls of a kind are not the client's to make. */
export function isForVendor(tool: Tool): boolean {
  return !CLIENT_KINDS.has(kindOf(tool));
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
