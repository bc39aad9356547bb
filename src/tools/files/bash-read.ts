/** `bash_read`: the lines of a text file as a page, and the same lines as one text. */

import { Failure, toFailure } from "../../base/failure.ts";
import { defineBuiltin, integer, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

export const bashReadTool: Tool = defineBuiltin({
  name: "bash_read",
  description:
    "Read the lines of a file. Returns a page: results, total, offset, limit, has_more, returned, and content.",
  parameters: {
    filepath: text("The file, relative to the working directory.", { minLength: 1 }),
    limit: integer("How many lines a page has; 0 for all.", { minimum: 0, default: 0 }),
    offset: integer("How many lines to pass over.", { minimum: 0, default: 0 }),
  },
  readOnly: true,
  effect: "read",
  targets: ({ filepath }) => ({ reads: [filepath] }),
  async run({ filepath, limit, offset }, { workspace }) {
    const [{ MAX_TEXT_BYTES, readText, toLines }, { cutPage }] = await Promise.all([
      import("./text-file.ts"),
      import("./ripgrep/page.ts"),
    ]);
    const content = await readText(workspace, filepath, MAX_TEXT_BYTES).catch(explain);
    const page = cutPage(toLines(content), { limit, offset });
    return { ...page, content: page.results.join("\n") };
  },
});

/** Refuses a protected file with the same words as every other tool. */
function explain(thrown: unknown): never {
  const { code, message } = toFailure(thrown);
  if (code === "forbidden") throw thrown;
  throw new Failure(code, `Failed to read file: ${message}`, { cause: thrown });
}
