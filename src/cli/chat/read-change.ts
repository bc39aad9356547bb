/**
 * Shows what a call that waits for approval would change in the file as it is now: the diff that a person approves.
 */

import { open, realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { ToolStart } from "../../protocol/run-events.ts";
import { type ShownFileChange, toFileChange } from "../output/tool-rows.ts";

/** A larger file was not written by hand: its change is shown without the lines around it. */
const MAX_BYTES = 2 * 1024 * 1024;

export async function readFileChange(
  call: Pick<ToolStart, "name" | "arguments">,
  root: string,
): Promise<ShownFileChange | undefined> {
  const given = tryParseJson(call.arguments);
  const path = isJsonObject(given) ? given["path"] : undefined;
  const before = typeof path === "string" ? await readBefore(root, path) : undefined;
  return toFileChange(call, before);
}

/**
 * Undefined if it is not a text file of the folder: the gate decides about those, and none of their content is shown.
 */
export async function readBefore(root: string, path: string): Promise<string | undefined> {
  try {
    const folder = await realpath(root);
    const file = await realpath(resolve(root, path));
    if (!file.startsWith(`${folder}${sep}`)) return undefined;
    const handle = await open(file, "r");
    try {
      const stat = await handle.stat();
      if (!stat.isFile() || stat.size > MAX_BYTES) return undefined;
      const text = await handle.readFile("utf8");
      return text.includes("\0") ? undefined : text;
    } finally {
      await handle.close();
    }
  } catch {
    // The file does not exist yet, or cannot be read: the change is shown without the lines around it.
    return undefined;
  }
}
