/** `read`: a text file as numbered lines. */

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Failure } from "../../base/failure.ts";
import { defineBuiltin, integer, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";
import { resolveInside } from "../workspace.ts";

/** Larger files are read in parts by other tools; a model's context would not hold them. */
const MAX_BYTES = 1024 * 1024;

export const readTool: Tool = defineBuiltin({
  name: "read",
  description: "Read the contents of a file.",
  parameters: {
    path: text("The file, relative to the working directory.", { minLength: 1 }),
    offset: integer("Lines to pass over before the first one returned.", {
      minimum: 0,
      default: 0,
    }),
    limit: integer("How many lines to return; 0 for all.", { minimum: 0, default: 0 }),
  },
  readOnly: true,
  async run({ path, offset, limit }, { root }) {
    const content = await readText(await resolveInside(root, path), path);
    if (content === "") return "(empty file)";
    const lines = content.replace(/\r?\n$/, "").split(/\r?\n/);
    const page = lines.slice(offset, limit > 0 ? offset + limit : undefined);
    if (page.length === 0) return `(no lines: the file has ${lines.length})`;
    return page.map((line, at) => `${String(offset + at + 1).padStart(4)} | ${line}`).join("\n");
  },
});

/** Opened once, so that what is measured, checked and read is the same file. */
async function readText(file: string, path: string): Promise<string> {
  const handle = await openFile(file, path);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new Failure("invalid_request", `Is a directory: ${path}`);
    if (!stats.isFile()) throw new Failure("invalid_request", `Not a regular file: ${path}`);
    if (stats.size > MAX_BYTES) {
      throw new Failure("invalid_request", `File too large (${stats.size} bytes): ${path}`);
    }
    const bytes = await handle.readFile();
    if (bytes.includes(0)) throw new Failure("invalid_request", `Not a text file: ${path}`);
    return bytes.toString("utf8");
  } finally {
    await handle.close();
  }
}

/** Without waiting: a named pipe would hold the thread that opens it until somebody writes. */
async function openFile(file: string, path: string): Promise<FileHandle> {
  try {
    return await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const { code = "no reason given" } = cause as NodeJS.ErrnoException;
    throw new Failure("tool_failed", `File cannot be read (${code}): ${path}`, { cause });
  }
}
