/** `glob`: the files whose path fits a pattern, one a line. */

import { Failure } from "../../base/failure.ts";
import { defineBuiltin, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

/** How many are shown; of the rest, only the number is said. */
const MAX_SHOWN = 100;

export const globTool: Tool = defineBuiltin({
  name: "glob",
  description: `Find files by a pattern such as \`**/*.ts\`. Shows the first ${MAX_SHOWN}.`,
  parameters: {
    pattern: text("`*` and `?` stop at a slash, `**` does not, `{a,b}` is either.", {
      minLength: 1,
    }),
    path: text("The folder that the pattern starts in.", { default: "." }),
  },
  readOnly: true,
  effect: "read",
  targets: ({ path }) => ({ reads: [path] }),
  async run({ pattern, path }, context) {
    const { listFiles, parseGlob } = await import("./ripgrep/list-files.ts");
    checkPattern(pattern);
    const expected = parseGlob(pattern.replace(/^(?:\.\/)+/, ""));
    const { results, total } = await listFiles(
      {
        path,
        kind: "files",
        // A name that starts with a dot is hidden from those who do not ask for one.
        flags: /(?:^|[/{,])\./.test(pattern) ? ["--hidden"] : [],
        matches: (file) => expected.test(file),
        limit: MAX_SHOWN,
        offset: 0,
      },
      context,
    );
    if (total === 0) return `No files matching '${pattern}' in ${path}`;
    const rest = total - results.length;
    return [...results, ...(rest > 0 ? [`... and ${rest} more`] : [])].join("\n");
  },
});

/** It is held against paths below the folder alone; one that means to lead out is told so. */
function checkPattern(pattern: string): void {
  const leadsOut = /^[/\\~]|^[A-Za-z]:/.test(pattern) || pattern.split(/[\\/]/).includes("..");
  if (leadsOut) throw new Failure("forbidden", `Path outside CWD not allowed: ${pattern}`);
}
