/** `read`: a text file as numbered lines. */

import { defineBuiltin, integer, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

/** Larger files are read in parts by other tools; they would not fit into a model's context. */
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
  effect: "read",
  targets: ({ path }) => ({ reads: [path] }),
  async run({ path, offset, limit }, { workspace }) {
    const { readText, toLines } = await import("./text-file.ts");
    const lines = toLines(await readText(workspace, path, MAX_BYTES));
    if (lines.length === 0) return "(empty file)";
    const page = lines.slice(offset, limit > 0 ? offset + limit : undefined);
    if (page.length === 0) return `(no lines: the file has ${lines.length})`;
    return page.map((line, at) => `${String(offset + at + 1).padStart(4)} | ${line}`).join("\n");
  },
});
