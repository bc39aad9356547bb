/** `edit`: replaces one text of a file, which must occur exactly once. */

import { defineBuiltin, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

export const editTool: Tool = defineBuiltin({
  name: "edit",
  description:
    "Replace one exact string in a file; it must occur exactly once. Returns success, path, start_line, old_line_count, new_line_count, error.",
  parameters: {
    path: text("The file, relative to the working directory.", { minLength: 1 }),
    old_string: text("What to replace, exactly as it stands in the file.", { minLength: 1 }),
    new_string: text("What to put in its place."),
  },
  readOnly: false,
  effect: "write",
  targets: ({ path }) => ({ reads: [path], writes: [path] }),
  async run({ path, old_string, new_string }, { workspace }) {
    const [{ countLines, MAX_TEXT_BYTES, readExactText, replaceOnce }, { toFailedChange }] =
      await Promise.all([import("./text-file.ts"), import("./failed-change.ts")]);
    try {
      const old = await readExactText(workspace, path, MAX_TEXT_BYTES);
      const { content, line } = replaceOnce(old, { path, before: old_string, after: new_string });
      await workspace.writeFile(path, content);
      return {
        success: true,
        path,
        start_line: line,
        old_line_count: countLines(old_string),
        new_line_count: countLines(new_string),
        error: null,
      };
    } catch (thrown) {
      const nothing = { start_line: 0, old_line_count: 0, new_line_count: 0 };
      return toFailedChange(thrown, { path, ...nothing });
    }
  },
});
