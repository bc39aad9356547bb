/** Listings and searches that try to leave the workspace; a part of `PATH_ROWS`. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bashFindTool } from "../../src/tools/files/bash-find.ts";
import { bashRipgrepTool } from "../../src/tools/files/bash-ripgrep.ts";
import { globTool } from "../../src/tools/files/glob.ts";
import { grepTool } from "../../src/tools/files/grep.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { link, type PathRow } from "./path-world.ts";

export function toSearchRows(): PathRow[] {
  const rows: readonly [
    name: string,
    tool: Tool,
    input: object,
    outcome: PathRow["outcome"],
    setUp?: (root: string) => void,
  ][] = [
    ["finding above", bashFindTool, { path: ".." }, "forbidden"],
    ["finding in /proc", bashFindTool, { path: "/proc/self/fd" }, "forbidden"],
    ["finding below a link", bashFindTool, { path: "l" }, "forbidden", link("../outside", "l")],
    ["finding in version control", bashFindTool, { path: ".git" }, "forbidden"],
    ["following links", bashFindTool, { extra_args: "--follow" }, "forbidden"],
    ["following links, in short", bashFindTool, { extra_args: "-L" }, "forbidden"],
    ["a second folder in the flags", bashFindTool, { extra_args: ".." }, "forbidden"],
    ["the end of flags", bashFindTool, { extra_args: "-- /etc" }, "forbidden"],
    ["a folder that looks like a flag", bashFindTool, { path: "--pre=cat" }, "not_found"],
    ["a name that looks like a flag", bashFindTool, { name: "--follow" }, "nothing"],
    ["a program for each file", bashRipgrepTool, search({ extra_args: "--pre cat" }), "forbidden"],
    ["a program, quoted", bashRipgrepTool, search({ extra_args: "'--pre'=cat" }), "forbidden"],
    [
      "a program for the name",
      bashRipgrepTool,
      search({ extra_args: "--hostname-bin=id" }),
      "forbidden",
    ],
    ["programs that unpack", bashRipgrepTool, search({ extra_args: "-z" }), "forbidden"],
    [
      "patterns from a file",
      bashRipgrepTool,
      search({ extra_args: "-f /etc/passwd" }),
      "forbidden",
    ],
    ["flags in one word", bashRipgrepTool, search({ extra_args: "-iLn" }), "forbidden"],
    ["searching above", bashRipgrepTool, search({ files: "../outside" }), "forbidden"],
    ["searching a link", grepTool, search({ path: "l" }), "forbidden", link("../outside", "l")],
    ["searching with links in it", grepTool, search({}), "nothing", link("../outside", "l")],
    ["searching with a glob above", bashRipgrepTool, search({ extra_args: "-g ../**" }), "nothing"],
    ["searching all that is hidden", bashRipgrepTool, search({ extra_args: "-uu" }), "nothing"],
    [
      "asking for it by glob",
      bashRipgrepTool,
      search({ extra_args: "-. -g .git/** -g .SSH/*" }),
      "nothing",
    ],
    ["asking for it in grep", grepTool, search({ include: ".git/config" }), "nothing"],
    ["a glob with dot-dot", globTool, { pattern: "../outside/*" }, "forbidden"],
    ["a glob with dot-dot inside", globTool, { pattern: "src/../../outside/**" }, "forbidden"],
    ["an absolute glob", globTool, { pattern: "/etc/*" }, "forbidden"],
    ["a glob for home", globTool, { pattern: "~/**" }, "forbidden"],
    ["a glob in the folder above", globTool, { pattern: "**", path: ".." }, "forbidden"],
    ["a glob for version control", globTool, { pattern: ".git/**" }, "nothing"],
    ["a glob without an end", globTool, { pattern: "**a**a**a**b" }, "nothing", longPath],
    ["a glob over a link", globTool, { pattern: "l/**" }, "nothing", link("../outside", "l")],
  ];
  return rows.map(([name, tool, input, outcome, setUp = () => {}]) => ({
    name,
    setUp,
    tool,
    input,
    outcome,
  }));
}

function search(input: object): object {
  return { pattern: "MARKER", ...input };
}

/** A file whose path nearly matches a glob in very many ways. */
function longPath(root: string): void {
  const folder = join(root, ...Array.from({ length: 15 }, () => "a".repeat(200)));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a"), "");
}
