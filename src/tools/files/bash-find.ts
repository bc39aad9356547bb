/** `bash_find`: files and folders by name, as a page of a listing. */

import type { GlobPattern } from "../../base/glob.ts";
import { defineBuiltin, integer, oneOf, text } from "../builtin-tool.ts";
import type { Tool } from "../tool.ts";

export const bashFindTool: Tool = defineBuiltin({
  name: "bash_find",
  description:
    "Find files or folders by name below a folder. Returns a page: results, total, offset, limit, has_more, returned.",
  parameters: {
    path: text("The folder to look in.", { default: "." }),
    name: text("A glob such as `*.ts`, or a part of the name.", { default: "" }),
    type_filter: oneOf("`f` for files, `d` for folders, empty for files.", ["", "f", "d"]),
    extra_args: text("More flags: --hidden, --no-ignore, --max-depth N, -g GLOB.", { default: "" }),
    limit: integer("How many results a page has; 0 for all.", { minimum: 0, default: 20 }),
    offset: integer("How many results to pass over.", { minimum: 0, default: 0 }),
  },
  readOnly: true,
  effect: "read",
  targets: ({ path }) => ({ reads: [path] }),
  async run({ path, name, type_filter, extra_args, limit, offset }, context) {
    const [{ listFiles, parseGlob }, { LIST_FLAGS, parseFlags }] = await Promise.all([
      import("./ripgrep/list-files.ts"),
      import("./ripgrep/ripgrep-flags.ts"),
    ]);
    const flags = parseFlags(extra_args, LIST_FLAGS);
    const kind = type_filter === "d" ? "folders" : "files";
    const { relative } = await context.workspace.locate(path, "read");
    const matches = toMatcher(name, relative, parseGlob);
    return listFiles({ path, kind, flags, matches, limit, offset }, context);
  },
});

/** A glob matches the name, or the path if it contains a slash; plain text matches a part of the name. */
function toMatcher(
  name: string,
  folder: string,
  parseGlob: (glob: string) => GlobPattern,
): (path: string) => boolean {
  if (name === "") return () => true;
  const above = folder === "" ? "" : `${folder}/`;
  const subject = name.includes("/") ? (path: string) => above + path : toBaseName;
  if (!/[*?{]/.test(name)) return (path) => subject(path).includes(name);
  const pattern = parseGlob(name);
  return (path) => pattern.test(subject(path));
}

function toBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
