/**
 * The user's own programs as tools: the arguments are one JSON document on standard input; standard output
 * is the result, as JSON if it is valid JSON, otherwise as text.
 *
 * They run where the run's commands run, in its workspace, and need approval like any other program.
 */

import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { Failure } from "../../base/failure.ts";
import { type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { RanCommand } from "../sandbox/run-command.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { type OwnTool, toOwnTools } from "./own-tools.ts";

export interface OwnToolParts {
  /** The variables of this process. A tool gets those that it names. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of the tools that exist already. */
  readonly taken: readonly string[];
}

const MAX_OUTPUT_BYTES = 1024 * 1024;

/** The most lines of an error output. Its end says most. */
const MAX_COMPLAINT_LINES = 20;
const MAX_COMPLAINT_CHARS = 2000;

/** The program's own limit has the better message, so the gate's must come later. */
const GRACE_MS = 5000;

/**
 * Opens the tools of a map that `checkOwnTools` has accepted. Rejects with `Failure("invalid_request")` for
 * a name that is taken and for invalid JSON schemas.
 */
export async function openOwnTools(map: JsonObject, parts: OwnToolParts): Promise<Tool[]> {
  const own = toOwnTools(map);
  const taken = own.find(({ name }) => parts.taken.includes(name));
  if (taken) {
    const message = `own_tools: \`${taken.name}\` is the name of a tool that exists. Choose another.`;
    throw new Failure("invalid_request", message, { param: "own_tools" });
  }
  return Promise.all(own.map((tool) => toTool(tool, parts)));
}

async function toTool(own: OwnTool, { env }: OwnToolParts): Promise<Tool> {
  const { name, description, parameters, readOnly, command, timeoutMs } = own;
  const check = await compileParameters(own);
  const named = own.env.flatMap((key): [string, string][] => {
    const value = env[key];
    return value === undefined ? [] : [[key, value]];
  });
  const variables = Object.fromEntries(named);
  return {
    spec: { type: "function", name, description, parameters, strict: false },
    readOnly,
    effect: "external",
    timeoutMs: timeoutMs + GRACE_MS,
    parse: check,
    targets: () => ({ command: { argv: command } }),
    run: (input, context) => runOwnTool(own, JSON.stringify(input), variables, context),
  };
}

async function compileParameters({ name, parameters }: OwnTool): Promise<(input: Json) => Json> {
  const { default: Ajv } = await import("ajv/dist/2020.js");
  const ajv = new Ajv.default({ strict: false, allErrors: true, validateFormats: false });
  // A schema that names an older draft is read as the current one.
  const { $schema: _, ...schema } = parameters;
  try {
    const validate = ajv.compile(schema);
    return (input) => {
      if (validate(input)) return input;
      const problems = ajv.errorsText(validate.errors, { dataVar: "arguments" });
      const message = `The arguments of \`${name}\` do not fit: ${problems}.`;
      throw new Failure("invalid_request", message);
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `own_tools: \`${name}\`: \`parameters\` is not a valid JSON Schema: ${clip(reason, 200)}.`;
    throw new Failure("invalid_request", message, { cause, param: "own_tools" });
  }
}

async function runOwnTool(
  { name, command, timeoutMs }: OwnTool,
  stdin: string,
  env: Readonly<Record<string, string>>,
  { sandbox, workspace: { root }, signal }: ToolContext,
): Promise<Json> {
  const { runCommand } = await import("../sandbox/run-command.ts");
  const reads = await ownFiles(command, root);
  const result = await runCommand(
    sandbox,
    { argv: command, cwd: root, env, reads },
    {
      stdin,
      timeoutMs,
      maxStdoutBytes: MAX_OUTPUT_BYTES,
      maxStderrBytes: MAX_OUTPUT_BYTES,
      signal,
    },
  );
  if (result.timedOut) {
    throw new Failure("tool_failed", `\`${name}\` took longer than ${timeoutMs / 1000} s.`);
  }
  if (result.exitCode !== 0) throw new Failure("tool_failed", describeExit(name, result));
  return toResult(result);
}

/**
 * Files outside the workspace that the command itself names. The sandbox shows them, because the author of
 * the configuration wants them to run. Never folders: `/` is one.
 */
async function ownFiles(command: readonly string[], root: string): Promise<string[]> {
  const found = await Promise.all(
    command.filter(isAbsolute).map(async (path) => {
      const way = relative(root, path);
      if (way !== ".." && !way.startsWith(`..${sep}`)) return [];
      try {
        return (await stat(path)).isFile() ? [path, await realpath(path)] : [];
      } catch {
        // The word only looks like a path, or the start will report that the file is missing.
        return [];
      }
    }),
  );
  return [...new Set(found.flat())];
}

function toResult({ stdout, isCut }: RanCommand): Json {
  const text = stdout.trimEnd();
  // Output on standard error does not shorten the result. A cut may split a character.
  if (isCut && Buffer.byteLength(stdout) > MAX_OUTPUT_BYTES - 4) {
    return `${text}\n[Output truncated: more than ${MAX_OUTPUT_BYTES} bytes]`;
  }
  if (text === "") return "(no output)";
  return tryParseJson(text) ?? text;
}

function describeExit(name: string, { exitCode, stdout, stderr }: RanCommand): string {
  const said = stderr.trim() === "" ? stdout.trim() : stderr.trim();
  const lines = said.split("\n").slice(-MAX_COMPLAINT_LINES).join("\n");
  const words =
    lines.length > MAX_COMPLAINT_CHARS ? `…${lines.slice(-MAX_COMPLAINT_CHARS)}` : lines;
  const what = `\`${name}\` exited with code ${exitCode}`;
  return words === "" ? `${what}.` : `${what}: ${words}`;
}
