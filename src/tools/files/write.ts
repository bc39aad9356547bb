/** `write`: writes the whole content of a new or existing file. */

import { defineBuiltin, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

/**
 * The limit for a file that is replaced, which is read to count its lines. A model does not write files
 * this large.
 */
const MAX_BYTES = 64 * 1024 * 1024;

export const writeTool: Tool = defineBuiltin({
  name: "write",
  description:
    "Write a file as a whole, with the folders above it. Returns success, path, old_lines, new_lines, is_new_file, error.",
  parameters: {
    path: text("The file, relative to the working directory.", { minLength: 1 }),
    content: text("All of its new content."),
  },
  readOnly: false,
  effect: "write",
  targets: ({ path }) => ({ writes: [path] }),
  async run({ path, content }, { workspace }) {
    const [{ countLines, readIfThere }, { toFailedChange }] = await Promise.all([
      import("./text-file.ts"),
      import("./failed-change.ts"),
    ]);
    try {
      const read = () => workspace.readFile(path, MAX_BYTES);
      const old = await readIfThere(workspace, path, read);
      await workspace.writeFile(path, content);
      return {
        success: true,
        path,
        old_lines: old ? countLines(old) : 0,
        new_lines: countLines(content),
        is_new_file: old === undefined,
        error: null,
      };
    } catch (thrown) {
      const nothing = { old_lines: 0, new_lines: 0, is_new_file: false };
      return toFailedChange(thrown, { path, ...nothing });
    }
  },
});
