/**
 * `bash_find`: files and folders by name, as a page of a listing.
 *
 * Ripgrep lists the files: it knows what `.gitignore` hides, and it is fast. It is started without
 * a shell, and of its flags only those that filter are let through: others can run programs.
 */

import { execFile } from "node:child_process";
import { dirname, normalize, relative, sep } from "node:path";
import { promisify } from "node:util";
import { toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import { toGlobPattern } from "../../base/glob.ts";
import { clip } from "../../base/text.ts";
import { defineBuiltin, integer, oneOf, text } from "../builtin-tool.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { resolveInside } from "../workspace.ts";

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

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
  async run({ path, name, type_filter, extra_args, limit, offset }, context) {
    const folder = await resolveInside(context.root, path);
    const files = await listFiles(folder, parseExtraArgs(extra_args), context);
    const found = type_filter === "d" ? toFolders(files, path) : files;
    const matches = found.filter(toMatcher(name));
    const results = matches.slice(offset, limit > 0 ? offset + limit : undefined);
    const total = matches.length;
    const has_more = offset + results.length < total;
    return { results, total, offset, limit, has_more, returned: results.length };
  },
});

const runFile = promisify(execFile);

/** Paths relative to the workspace, sorted. */
async function listFiles(
  folder: string,
  flags: readonly string[],
  { root, signal }: ToolContext,
): Promise<string[]> {
  const { rgPath } = await import("@vscode/ripgrep");
  const place = relative(await resolveInside(root, "."), folder) || ".";
  const args = ["--files", "--no-messages", "--no-config", "--sort", "path", ...flags, "--", place];
  try {
    const options = {
      cwd: root,
      env: {},
      signal,
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
    };
    const { stdout } = await runFile(rgPath, args, options);
    return toPaths(stdout);
  } catch (thrown) {
    return readRefusal(thrown as RunError, signal);
  }
}

interface RunError {
  readonly code?: number | string;
  readonly killed?: boolean;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly message?: string;
}

/** Ripgrep ends with 1 when it found nothing, and with 2 when a part could not be read. */
function readRefusal(error: RunError, signal: AbortSignal): string[] {
  if (signal.aborted) throw toAbortFailure(signal);
  if (error.code === 1) return [];
  if (error.code === 2 && error.stdout) return toPaths(error.stdout);
  if (error.killed) throw new Failure("tool_failed", "Command timed out after 30 seconds");
  const reason = clip(error.stderr || error.message || "no reason given", 300);
  throw new Failure("tool_failed", `Command failed: ${reason}`);
}

function toPaths(stdout: string): string[] {
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => (line.startsWith(`.${sep}`) ? line.slice(2) : line));
}

/** The folders below `path` that hold a file, at any depth. */
function toFolders(files: readonly string[], path: string): string[] {
  const top = normalize(path).replace(/[/\\]+$/, "");
  const folders = new Set<string>();
  for (const file of files) {
    let at = dirname(file);
    for (; at !== "." && at !== top && !folders.has(at); at = dirname(at)) folders.add(at);
  }
  return [...folders].sort();
}

/** A glob matches the name, or with a slash in it the path; plain text matches a part of the name. */
function toMatcher(name: string): (path: string) => boolean {
  if (name === "") return () => true;
  const subject = name.includes("/") ? (path: string) => path : toBaseName;
  if (!/[*?{]/.test(name)) return (path) => subject(path).includes(name);
  const pattern = toGlobPattern(name);
  return (path) => pattern.test(subject(path));
}

function toBaseName(path: string): string {
  return path.slice(path.lastIndexOf(sep) + 1);
}

const PLAIN_FLAGS: ReadonlySet<string> = new Set(["--hidden", "--no-ignore", "-.", "-u"]);
const VALUE_FLAGS: ReadonlySet<string> = new Set([
  "--max-depth",
  "-d",
  "-g",
  "--glob",
  "-t",
  "--type",
]);

function parseExtraArgs(given: string): string[] {
  const words = given.split(/\s+/).filter((word) => word !== "");
  const flags: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = unquote(words[at] ?? "");
    const [, flag = "", attached] = /^([^=]*)(?:=(.*))?$/.exec(word) ?? [];
    if (PLAIN_FLAGS.has(word)) flags.push(word);
    else if (VALUE_FLAGS.has(flag)) flags.push(flag, toValue(flag, attached ?? words[++at]));
    else throw new Failure("invalid_request", `\`${word}\` is not allowed in extra_args.`);
  }
  return flags;
}

function toValue(flag: string, word: string | undefined): string {
  if (word !== undefined) return unquote(word);
  throw new Failure("invalid_request", `\`${flag}\` in extra_args needs a value.`);
}

function unquote(word: string): string {
  return word.replace(/^(['"])(.*)\1$/, "$2");
}
