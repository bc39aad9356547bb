/** What a call that waits for approval would change, with the file as it is now: for the diff that a person approves. */

import { open, realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { ToolStart } from "../../protocol/run-events.ts";
import { type FileChange, toFileChange } from "../output/tool-rows.ts";

/** A larger file was not written by hand: its change is shown without what is around it. */
const MAX_BYTES = 2 * 1024 * 1024;

export async function readFileChange(
  call: Pick<ToolStart, "name" | "arguments">,
  root: string,
): Promise<FileChange | undefined> {
  const given = tryParseJson(call.arguments);
  const path = isJsonObject(given) ? given["path"] : undefined;
  const before = typeof path === "string" ? await readBefore(root, path) : undefined;
  return toFileChange(call, before);
}

/** Undefined for what is no text file of the folder: the gate decides about those, and nothing of them is shown here. */
export async function readBefore(root: string, path: string): Promise<string | undefined> {
  try {
    const [folder, file] = [await realpath(root), await realpath(resolve(root, path))];
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
    // It is not there yet, or cannot be read: the change is shown by itself.
    return undefined;
  }
}
