/** Tool calls as editors show them: a title, a kind, the files that they touch, what they changed. */

import { resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { readFileChange } from "../chat/read-change.ts";

const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(read|bash_read|list_files|ls)/, "read"],
  [/^(write|edit|patch|apply_patch|multi_edit)/, "edit"],
  [/(find|grep|ripgrep|search)/, "search"],
  [/^(shell|bash|python)/, "execute"],
  [/(fetch|scrape|web)/, "fetch"],
  [/(subagent|agent)/, "think"],
];

export function toToolKind(name: string): ToolKind {
  return KINDS.find(([names]) => names.test(name))?.[1] ?? "other";
}

export function toTitle(name: string, given: string): string {
  const fields = tryParseJson(given);
  const shown = isJsonObject(fields)
    ? (fields["path"] ??
      fields["command"] ??
      fields["label"] ??
      fields["pattern"] ??
      fields["query"])
    : undefined;
  return clip(typeof shown === "string" ? `${name} ${shown}` : name, 120);
}

/** Paths are absolute for editors. */
export function toLocations(given: string, cwd: string): ToolCallLocation[] {
  const fields = tryParseJson(given);
  const path = isJsonObject(fields) ? fields["path"] : undefined;
  return typeof path === "string" ? [{ path: resolve(cwd, path) }] : [];
}

/** The change that a call would make, where its arguments say it. */
export async function toChange(
  name: string,
  given: string,
  cwd: string,
): Promise<ToolCallContent[]> {
  const change = await readFileChange({ name, arguments: given }, cwd);
  if (!change) return [];
  const path = resolve(cwd, change.path);
  return [{ type: "diff", path, oldText: change.before ?? null, newText: change.after }];
}
