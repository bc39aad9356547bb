/**
 * Decides which kinds of tools a key may use. A key with a list of tools may use only the hosted kinds on it: those
 * that this server runs, or that a vendor runs at this server's cost. Kinds that the client runs itself are never
 * restricted. Pure.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { clip } from "../../base/text.ts";
import type { HostedKind } from "../../protocol/hosted-kinds/hosted-kind.ts";
import { HOSTED_KINDS } from "../../protocol/hosted-kinds/hosted-kinds.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Caller } from "../tenant/caller.ts";

/** Tools that the client runs and that are not a kind of this server: its own functions, and Claude's own types. */
const CLIENT_TOOLS: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "namespace",
  "bash",
  "text_editor",
  "memory",
]);

/** A dated name of one of Claude's own types. */
const CLAUDE_TOOL = /^(bash|text_editor|memory)_\d{8}$/;

/** True if the server makes the calls of a client's kind itself. */
export type IsBacked = (kind: string) => boolean;

/** Rejects with `forbidden`, naming the tool, if the caller's key may not use it. */
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

/**
 * The name of the kind in a key's list: `web_search` for each of its spellings, and each vendor's.
 */
export function kindOf({ type }: { readonly type: string }): string {
  const kind = HOSTED_KINDS.find(({ spellings }) => spellings?.test(type));
  return kind?.name ?? type.replace(CLAUDE_TOOL, "$1");
}

/** True if calls of a kind are not made by the client. */
export function isForVendor(tool: Tool): boolean {
  return runsOf(kindOf(tool)) !== "client";
}

function isHosted(tool: Tool, kind: string, isBacked: IsBacked): boolean {
  if (isBacked(kind)) return true;
  const runs = runsOf(kind);
  return typeof runs === "function" ? runs(tool) : runs === "server";
}

/** The server's, if nothing is known of the kind: a vendor's tool is called at this server's cost. */
function runsOf(kind: string): HostedKind["runs"] {
  if (CLIENT_TOOLS.has(kind)) return "client";
  const known: HostedKind | undefined = HOSTED_KINDS.find(({ name }) => name === kind);
  return known?.runs ?? "server";
}
