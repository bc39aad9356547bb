/** `bash_ripgrep`: the lines that match a regular expression, as a page of `path:number:text`. */

import { defineBuiltin, integer, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

export const bashRipgrepTool: Tool = defineBuiltin({
  name: "bash_ripgrep",
  description:
    "Search file contents with ripgrep. Returns a page of `path:line:text`: results, total, offset, limit, has_more, returned.",
  parameters: {
    pattern: text("A regular expression.", { minLength: 1 }),
    files: text("The folder or file to search.", { default: "." }),
    extra_args: text("More flags: -i, -w, -F, -l, -C N, -g GLOB, -t TYPE, --hidden.", {
      default: "",
    }),
    limit: integer("How many results a page has; 0 for all.", { minimum: 0, default: 20 }),
    offset: integer("How many results to pass over.", { minimum: 0, default: 0 }),
  },
  readOnly: true,
  effect: "read",
  targets: ({ files }) => ({ reads: [files] }),
  async run({ pattern, files, extra_args, limit, offset }, context) {
    const [{ searchFiles }, { SEARCH_FLAGS, parseFlags }, { toPage }] = await Promise.all([
      import("./ripgrep/search-files.ts"),
      import("./ripgrep/ripgrep-flags.ts"),
      import("./ripgrep/page.ts"),
    ]);
    const flags = parseFlags(extra_args, SEARCH_FLAGS);
    const complaint = "No matches found or command failed";
    const page = { limit, offset };
    const found = await searchFiles({ pattern, path: files, flags, complaint, ...page }, context);
    const results = found.matches.map(({ path, line }) => toResult(path, line));
    return toPage(results, found.total, page);
  },
});

/** The separator between path and number is the one after the number, as in ripgrep. */
function toResult(path: string, line: string): string {
  const mark = /^\d+([:-])/.exec(line)?.[1] ?? "";
  return path + mark + line;
}
