/** `grep`: matching lines with the lines around them, 20 on each page. */

import { defineBuiltin, flag, integer, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

const PAGE = 20;

export const grepTool: Tool = defineBuiltin({
  name: "grep",
  description: `Search file contents by a regular expression, ${PAGE} matches a page. Returns matches (path, line, text, before, after), total, offset, has_more.`,
  parameters: {
    pattern: text("A regular expression.", { minLength: 1 }),
    path: text("The folder or file to search.", { default: "." }),
    include: text("A glob of the files to search, such as `*.ts`.", { default: "" }),
    case_sensitive: flag("Whether upper and lower case differ."),
    offset: integer("How many matches to pass over.", { minimum: 0, default: 0 }),
  },
  readOnly: true,
  effect: "read",
  targets: ({ path }) => ({ reads: [path] }),
  async run({ pattern, path, include, case_sensitive, offset }, context) {
    const { grepFiles } = await import("./grep-files.ts");
    const flags = [
      case_sensitive ? "--case-sensitive" : "--ignore-case",
      ...(include === "" ? [] : [`--glob=${include}`]),
    ];
    return grepFiles({ pattern, path, flags, limit: PAGE, offset }, context);
  },
});
