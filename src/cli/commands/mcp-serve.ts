/**
 * `offshoot mcp serve`: offers agents of this folder as tools to the program that started this one. Standard output
 * has only messages of the protocol. The command ends when its input does, and cancels runs that are still at work.
 */

import { resolve } from "node:path";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { Failure } from "../../base/failure.ts";
import { createAskClient } from "../../server/mcp/ask-client.ts";
import { createLineTransport } from "../../server/mcp/line-transport.ts";
import { createMcpServer } from "../../server/mcp/mcp-server.ts";
import { readDepth, refuseDepth, toDepthVariable } from "../../tools/mcp/depth.ts";
import type { CommandCall, Options } from "../command.ts";
import { createFolderDesk } from "../desk/folder-desk.ts";
import { openDesk } from "../desk/open-desk.ts";
import { createTemplatePrompts } from "../desk/template-prompts.ts";
import type { Io } from "../io.ts";
import { toWarningLine } from "../terminal.ts";

/** As many as a server works on in the background, by its default. */
const MAX_RUNS = 16;

export async function serveMcp({ options, words }: CommandCall, io: Io): Promise<number> {
  if (words.length > 1)
    throw new Failure("invalid_request", "Write `offshoot mcp serve [--tools …]`.");
  refuseDepth(readDepth(io.env));
  const { chunks } = io.stdin;
  if (io.stdin.isTerminal || !chunks) {
    const message =
      "`offshoot mcp serve` speaks MCP over standard input and output: name it in the settings of an MCP client, for example `claude mcp add offshoot -- offshoot mcp serve`.";
    throw new Failure("invalid_request", message);
  }
  const here = { ...io, cwd: toRoot(options, io), env: withDepth(io.env) };
  let server: Server | undefined;
  const ask = createAskClient({
    server: () => server,
    waitsElsewhere: options["approval-wait"] !== undefined,
  });
  const opened = await openDesk({
    io: here,
    options: toOwn(options),
    ask,
    maxUsd: readNumber(options, "budget"),
    maxRuns: readMaxRuns(options),
  });
  for (const warning of opened.warnings) await io.stderr.write(toWarningLine(warning));
  const desk = createFolderDesk({
    desk: opened,
    folder: here.cwd,
    prompts: createTemplatePrompts(here),
    named: toNames(options["agent"]),
  });
  const waitS = readNumber(options, "wait");
  server = createMcpServer({ desk, waitMs: waitS === undefined ? undefined : waitS * 1000 });
  const transport = createLineTransport({ chunks, write: (text) => io.stdout.write(text) });
  const stopListening = io.onInterrupt(() => void transport.close());
  try {
    await server.connect(transport);
    await transport.over;
    return 0;
  } finally {
    stopListening();
    await desk.close();
  }
}

function toRoot(options: Options, { cwd }: Io): string {
  const given = options["root"];
  return typeof given === "string" ? resolve(cwd, given) : cwd;
}

/**
 * Runs that its agents start are one level deeper: an agent that lists this very server among its own would call
 * itself.
 */
function withDepth(env: Io["env"]): Io["env"] {
  return { ...env, ...toDepthVariable(readDepth(env) + 1) };
}

/** The other flags are settings, under the same names as for `run`. */
function toOwn(options: Options): Options {
  const { agent: _, root: __, budget: ___, wait: ____, "max-runs": _____, ...own } = options;
  return own;
}

function toNames(given: Options[string]): readonly string[] {
  return Array.isArray(given) ? (given as readonly string[]) : [];
}

function readMaxRuns({ "max-runs": given }: Options): number {
  if (given === undefined) return MAX_RUNS;
  const value = Number(given);
  if (typeof given === "string" && Number.isInteger(value) && value >= 1) return value;
  const message = `--max-runs takes a whole number from 1, not \`${String(given)}\`.`;
  throw new Failure("invalid_request", message);
}

function readNumber(options: Options, name: string): number | undefined {
  const given = options[name];
  if (given === undefined) return undefined;
  const value = Number(given);
  if (typeof given === "string" && given.trim() !== "" && value >= 0) return value;
  throw new Failure(
    "invalid_request",
    `--${name} takes a number from 0, not \`${String(given)}\`.`,
  );
}
