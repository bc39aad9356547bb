/**
 * Calls that try to leave the workspace, or to reach protected files in it. Each must be refused, or find
 * nothing; files outside are neither shown nor changed.
 *
 * Beside the workspace is a folder `outside`; everything that must not be seen contains `MARKER`.
 */

import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bashReadTool } from "../../src/tools/files/bash-read.ts";
import { bashRipgrepTool } from "../../src/tools/files/bash-ripgrep.ts";
import { editTool } from "../../src/tools/files/edit.ts";
import { fileOpsTool } from "../../src/tools/files/file-ops.ts";
import { grepTool } from "../../src/tools/files/grep.ts";
import { readTool } from "../../src/tools/files/read.ts";
import { writeTool } from "../../src/tools/files/write.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { link, MARKER, type PathRow } from "./path-world.ts";
import { toSearchRows } from "./search-rows.ts";

const OUT = "../outside/secret.txt";

/** Paths to read that need no preparation. */
const READS: readonly [name: string, path: string, outcome: PathRow["outcome"]][] = [
  ["dot-dot", OUT, "forbidden"],
  ["dot-dot to nowhere", "../outside/none.txt", "forbidden"],
  ["dot-dot in the middle", `src/../${OUT}`, "forbidden"],
  ["dot-dot after a missing folder", `none/x/../../${OUT}`, "forbidden"],
  ["dot-dot with empty names", "src//..//..//outside/secret.txt", "forbidden"],
  ["dot-dot with dots between", "./././.././outside/./secret.txt", "forbidden"],
  ["a hundred dot-dots", `${"../".repeat(100)}etc/passwd`, "forbidden"],
  ["dot-dot after a file", `src/a.ts/../../${OUT}`, "forbidden"],
  ["absolute", "/etc/passwd", "forbidden"],
  ["absolute with two slashes", "//etc/passwd", "forbidden"],
  ["absolute to nowhere", "/none/such", "forbidden"],
  ["the root of all", "/", "forbidden"],
  ["the folder above", "..", "forbidden"],
  ["the folder above with a slash", "../", "forbidden"],
  ["home", "~/.ssh/id_rsa", "forbidden"],
  ["home alone", "~", "forbidden"],
  ["another user's home", "~root/.bashrc", "forbidden"],
  ["the environment", "/proc/self/environ", "forbidden"],
  ["the root through /proc", "/proc/self/root/etc/passwd", "forbidden"],
  ["the working directory through /proc", "/proc/self/cwd/../outside/secret.txt", "forbidden"],
  ["the memory", "/proc/self/mem", "forbidden"],
  ["a descriptor", "/dev/fd/0", "forbidden"],
  ["standard input", "/dev/stdin", "forbidden"],
  ["a device without an end", "/dev/zero", "forbidden"],
  ["encoded dots", "%2e%2e/outside/secret.txt", "not_found"],
  ["encoded slashes", "..%2foutside%2fsecret.txt", "not_found"],
  ["encoded twice", "%252e%252e%252foutside", "not_found"],
  ["backslashes", "..\\outside\\secret.txt", "not_found"],
  ["dots of full width", "\uff0e\uff0e/outside/secret.txt", "not_found"],
  ["a slash of full width", "..\uff0foutside\uff0fsecret.txt", "not_found"],
  ["a division slash", "..\u2215outside\u2215secret.txt", "not_found"],
  ["an overlong form, as text", "..\u00c0\u00afoutside", "not_found"],
  ["three dots", ".../outside/secret.txt", "not_found"],
  ["a URL", "file:///etc/passwd", "not_found"],
  ["a space in front", " /etc/passwd", "not_found"],
  ["a variable", "$HOME/.bashrc", "not_found"],
  ["NUL at the end", `${OUT}\0.txt`, "invalid_request"],
  ["NUL in front", "\0/etc/passwd", "invalid_request"],
  ["a name of 5,000 characters", "x".repeat(5000), "invalid_request"],
  ["a path of 5,000 characters", "x/".repeat(2500), "invalid_request"],
  ["5,000 characters of dot-dot", "../".repeat(1667), "invalid_request"],
  ["version control", ".git/config", "forbidden"],
  ["version control below", "lib/.svn/entries", "forbidden"],
  ["version control that is not there", ".git/none", "forbidden"],
  ["our configuration", ".offshoot/config.yaml", "forbidden"],
  ["the configuration of a user", ".config/offshoot/config.yaml", "forbidden"],
  ["the logins of a user", ".local/share/offshoot/mcp-logins.json", "forbidden"],
  ["keys", ".ssh/id_rsa", "forbidden"],
  ["capitals", ".GIT/config", "forbidden"],
  ["some capitals", ".Offshoot/CONFIG.yaml", "forbidden"],
  ["a dot at the end", ".git./config", "forbidden"],
  ["a space at the end", ".ssh /id_rsa", "forbidden"],
  ["a stream of NTFS", ".git::$INDEX_ALLOCATION/config", "forbidden"],
  ["a short name", "GIT~1/config", "forbidden"],
  ["letters of full width", "\uff0e\uff47\uff49\uff54/config", "forbidden"],
  ["a character without width", ".g\u200cit/config", "forbidden"],
  ["a byte order mark", "\ufeff.git/config", "forbidden"],
  ["a long s", ".\u017fsh/id_rsa", "forbidden"],
  ["a protected name over a detour", "src/../.git/config", "forbidden"],
];

/** Paths that are dangerous because of a link. */
const LINKS: readonly [name: string, target: string, path: string][] = [
  ["a link to a file outside", OUT, "link"],
  ["a link to an absolute path", "/etc/passwd", "link"],
  ["a link to a folder outside", "../outside", "link/secret.txt"],
  ["a missing file below a link", "../outside", "link/none.txt"],
  ["a link to nowhere outside", "../outside/none.txt", "link"],
  ["a link to the folder above", "..", "link/outside/secret.txt"],
  ["a link to the root", "/", "link/etc/passwd"],
  ["a link to /proc", "/proc/self", "link/environ"],
  ["a link to a device", "/dev/zero", "link"],
  ["a link that goes down first", "src/../../outside/secret.txt", "link"],
  ["a link to version control", ".git/config", "link"],
  ["a link to our configuration", ".offshoot", "link/config.yaml"],
];

/** A folder, or the file in it, becomes a link to the neighbour after it has been checked. */
function swapFor(name: string, target: string): Pick<PathRow, "setUp" | "swap"> {
  return {
    setUp(root) {
      mkdirSync(join(root, "in/folder"), { recursive: true });
      writeFileSync(join(root, "in/secret.txt"), "mine\n");
      writeFileSync(join(root, "in/folder/inner.txt"), "mine\n");
    },
    swap(root) {
      renameSync(join(root, name), join(root, "aside"));
      symlinkSync(join(dirname(root), target), join(root, name));
    },
  };
}
const FOLDER_SWAP = swapFor("in", "outside");
const FILE_SWAP = swapFor("in/secret.txt", "outside/secret.txt");

/** The link is one level nearer to the neighbour than it looks; reading it is refused nevertheless. */
const MOVED_LINKS: PathRow = {
  name: "reading a link that came along with its folder",
  setUp(root) {
    mkdirSync(join(root, "deep/er"), { recursive: true });
    symlinkSync("../../outside", join(root, "deep/er/link"));
    renameSync(join(root, "deep/er"), join(root, "near"));
  },
  tool: readTool,
  input: { path: "near/link/secret.txt" },
  outcome: "forbidden",
};

export const PATH_ROWS: readonly PathRow[] = [
  ...READS.map(([name, path, outcome]) => ({ name, tool: readTool, input: { path }, outcome })),
  ...LINKS.map(([name, target, path]) => ({
    name,
    setUp: link(target, "link"),
    tool: readTool,
    input: { path },
    outcome: "forbidden" as const,
  })),
  {
    name: "a link to a link to outside",
    setUp(root) {
      link("two", "one")(root);
      link("three", "two")(root);
      link(OUT, "three")(root);
    },
    tool: bashReadTool,
    input: { filepath: "one" },
    outcome: "forbidden",
  },
  {
    name: "a link to itself",
    setUp: link("loop", "loop"),
    tool: readTool,
    input: { path: "loop/x" },
    outcome: "invalid_request",
  },
  {
    name: "an absolute path to the neighbour",
    tool: readTool,
    input: (root) => ({ path: join(dirname(root), "outside/secret.txt") }),
    outcome: "forbidden",
  },
  {
    name: "a neighbour whose name begins alike",
    setUp(root) {
      mkdirSync(`${root}-more`);
      writeFileSync(`${root}-more/secret.txt`, MARKER);
    },
    tool: readTool,
    input: (root) => ({ path: `${root}-more/secret.txt` }),
    outcome: "forbidden",
  },
  {
    name: "a second name of a file outside",
    setUp: (root) => linkSync(join(root, OUT), join(root, "hard")),
    tool: readTool,
    input: { path: "hard" },
    outcome: "forbidden",
  },
  {
    name: "a pipe",
    needs: "mkfifo",
    setUp: (root) => execFileSync("mkfifo", [join(root, "pipe")]),
    tool: readTool,
    input: { path: "pipe" },
    outcome: "invalid_request",
  },
  {
    name: "a socket",
    // Leaving without closing keeps the socket's file.
    setUp(root) {
      const script = "require('net').createServer().listen(process.argv[1], () => process.exit())";
      execFileSync(process.execPath, ["-e", script, join(root, "socket")]);
    },
    tool: readTool,
    input: { path: "socket" },
    outcome: "invalid_request",
  },
  {
    name: "reading from a folder that becomes a link",
    ...FOLDER_SWAP,
    tool: readTool,
    input: { path: "in/secret.txt" },
    outcome: "forbidden",
  },
  {
    name: "reading a file that becomes a link",
    ...FILE_SWAP,
    tool: bashReadTool,
    input: { filepath: "in/secret.txt" },
    outcome: "forbidden",
  },
  {
    name: "writing into a folder that becomes a link",
    ...FOLDER_SWAP,
    tool: writeTool,
    input: { path: "in/new.txt", content: "x" },
    outcome: "forbidden",
  },
  {
    name: "making folders in one that becomes a link",
    ...FOLDER_SWAP,
    tool: fileOpsTool,
    input: { operation: "create_directory", path: "in/x/y" },
    outcome: "forbidden",
  },
  {
    name: "editing a file that becomes a link",
    ...FILE_SWAP,
    tool: editTool,
    input: { path: "in/secret.txt", old_string: "M", new_string: "x" },
    outcome: "forbidden",
  },
  {
    name: "deleting from a folder that becomes a link",
    ...FOLDER_SWAP,
    tool: fileOpsTool,
    input: { operation: "delete", path: "in/secret.txt" },
    outcome: "forbidden",
  },
  {
    name: "moving from a folder that becomes a link",
    ...FOLDER_SWAP,
    tool: fileOpsTool,
    input: { operation: "move", path: "in/secret.txt", to: "mine.txt" },
    outcome: "forbidden",
  },
  {
    name: "listing a folder that becomes a link",
    ...FOLDER_SWAP,
    tool: fileOpsTool,
    input: { operation: "list", path: "in" },
    outcome: "forbidden",
  },
  {
    name: "searching a folder that becomes a link",
    ...FOLDER_SWAP,
    tool: bashRipgrepTool,
    input: { pattern: "MARKER", files: "in" },
    outcome: "forbidden",
  },
  {
    name: "searching a file that becomes a link",
    ...FILE_SWAP,
    tool: grepTool,
    input: { pattern: "MARKER", path: "in/secret.txt" },
    outcome: "forbidden",
  },
  ...toDeepSwaps(),
  ...toWrites(),
  ...toSearchRows(),
];

/** The folder that becomes a link is one above the opened one, which no flag of `open` detects. */
function toDeepSwaps(): PathRow[] {
  const rows: readonly [name: string, tool: Tool, input: object][] = [
    ["reading", readTool, { path: "in/folder/inner.txt" }],
    ["writing", writeTool, { path: "in/folder/new.txt", content: "x" }],
    ["replacing", fileOpsTool, { operation: "write", path: "in/folder/inner.txt", content: "x" }],
    ["deleting", fileOpsTool, { operation: "delete", path: "in/folder/inner.txt" }],
    ["moving", fileOpsTool, { operation: "move", path: "in/folder/inner.txt", to: "mine" }],
    ["moving to", fileOpsTool, { operation: "move", path: "src", to: "in/folder/src" }],
    ["listing", fileOpsTool, { operation: "list", path: "in/folder" }],
    ["searching", bashRipgrepTool, { pattern: "MARKER", files: "in/folder" }],
  ];
  return rows.map(([name, tool, input]) => ({
    ...FOLDER_SWAP,
    name: `${name} below a folder that becomes a link`,
    tool,
    input,
    outcome: "forbidden" as const,
  }));
}

function toWrites(): PathRow[] {
  const rows: readonly [name: string, input: object, setUp?: (root: string) => void][] = [
    ["writing over dot-dot", { path: "../outside/new.txt" }],
    ["writing an absolute path", { path: "/tmp/offshoot-must-not-be-there" }],
    ["writing to a home", { path: "~/x" }],
    ["writing through a link to a file", { path: "link" }, link(OUT, "link")],
    ["writing through a link to nowhere", { path: "link" }, link("../outside/new", "link")],
    ["writing below a link", { path: "link/new.txt" }, link("../outside", "link")],
    ["making folders below a link", { path: "link/x/y/new.txt" }, link("../outside", "link")],
    ["writing a hook", { path: ".git/hooks/pre-commit" }],
    ["writing `.git` as a file", { path: "src/.git" }],
    ["writing our configuration", { path: ".OFFSHOOT/config.yaml" }],
    ["writing through a link to a hook", { path: "hooks/pre-commit" }, link(".git", "hooks")],
  ];
  const written = rows.map(([name, input, setUp = () => {}]) => ({
    name,
    setUp,
    tool: writeTool,
    input: { ...input, content: "x" },
    outcome: "forbidden" as const,
  }));
  const operations: readonly [name: string, input: object, setUp?: (root: string) => void][] = [
    ["copying from outside", { operation: "copy", path: OUT, to: "mine" }],
    ["copying to outside", { operation: "copy", path: "src/a.ts", to: "../outside/new" }],
    ["copying through a link", { operation: "copy", path: "link", to: "x" }, link(OUT, "link")],
    ["moving to outside", { operation: "move", path: "src", to: "../outside/src" }],
    ["moving from outside", { operation: "move", path: OUT, to: "mine" }],
    ["moving below a link", { operation: "move", path: "src", to: "l/x" }, link("../outside", "l")],
    ["moving a protected folder", { operation: "move", path: ".git", to: "mine" }],
    ["moving what holds a protected folder", { operation: "move", path: "lib", to: "mine" }],
    ["moving to a protected name", { operation: "move", path: "src", to: ".hg" }],
    ["deleting outside", { operation: "delete", path: OUT }],
    [
      "deleting below a link",
      { operation: "delete", path: "l/secret.txt" },
      link("../outside", "l"),
    ],
    ["deleting version control", { operation: "delete", path: ".git/config" }],
    ["deleting the workspace", { operation: "delete", path: "." }],
    ["listing the folder above", { operation: "list", path: ".." }],
    ["listing keys", { operation: "list", path: ".ssh" }],
    ["appending through a link", { operation: "append", path: "l", content: "x" }, link(OUT, "l")],
  ];
  const operated = operations.map(([name, input, setUp = () => {}]) => ({
    name,
    setUp,
    tool: fileOpsTool,
    input,
    outcome: "forbidden" as const,
  }));
  return [...written, ...operated, MOVED_LINKS];
}
