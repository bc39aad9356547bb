/** `glob`: the files whose path matches a pattern, one on each line. */

import { Failure } from "../../base/failure.ts";
import { defineBuiltin, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

/** How many are shown. The result has the number of the others. */
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
        // Names that start with a dot are hidden unless the pattern asks for one.
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

/** Patterns are matched against paths below the folder only, so one that leads out of it is refused. */
function checkPattern(pattern: string): void {
  const leadsOut = /^[/\\~]|^[A-Za-z]:/.test(pattern) || pattern.split(/[\\/]/).includes("..");
  if (leadsOut) throw new Failure("forbidden", `Path outside CWD not allowed: ${pattern}`);
}
