/**
 * Starts ripgrep, which knows what `.gitignore` hides, and is fast. Without a shell, an environment or
 * a configuration, following no links, in a folder that is held.
 */

import { spawn } from "node:child_process";
import { toAbortFailure } from "../../../base/async.ts";
import { Failure } from "../../../base/failure.ts";
import { clip } from "../../../base/text.ts";
import { keepChild } from "../../sandbox/life-line.ts";
import { PROTECTED_PATHS } from "../../workspace/protected.ts";

export const RIPGREP_TIMEOUT_MS = 30_000;

/** Behind all other globs: of two that fit, the last one decides, and case does not matter. */
export const EXCLUDING_FLAGS: readonly string[] = Object.keys(PROTECTED_PATHS).flatMap((path) => [
  "--iglob",
  `!**/${path}`,
]);

const ALWAYS = ["--no-config", "--no-messages", "--no-follow", "--color=never"];

interface RipgrepCall {
  readonly flags: readonly string[];
  readonly cwd: string;
  /** What to search in place of the folder. */
  readonly stdin?: Buffer | undefined;
  readonly signal: AbortSignal;
  /** What stands before the reason when it fails. */
  readonly complaint: string;
}

/** Gives what it prints to `take`, piece by piece. Finding nothing is no failure. */
export async function runRipgrep(call: RipgrepCall, take: (chunk: Buffer) => void): Promise<void> {
  const { flags, cwd, stdin, signal, complaint } = call;
  const { rgPath } = await import("@vscode/ripgrep");
  if (signal.aborted) throw toAbortFailure(signal);
  const child = spawn(rgPath, [...ALWAYS, ...flags, "--", stdin ? "-" : "./"], {
    cwd,
    env: {},
    detached: process.platform !== "win32",
    timeout: RIPGREP_TIMEOUT_MS,
    killSignal: "SIGKILL",
    signal,
  });
  keepChild(child);
  const exited = new Promise<number | Error | null>((resolve) => {
    child.once("error", resolve);
    child.once("close", resolve);
  });
  const complaints = collect(child.stderr);
  // It may leave before it has read everything.
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  let hasOutput = false;
  try {
    for await (const chunk of child.stdout) {
      hasOutput = true;
      take(chunk as Buffer);
    }
  } catch (thrown) {
    child.kill("SIGKILL");
    throw signal.aborted ? toAbortFailure(signal) : thrown;
  }
  const end = await exited;
  if (signal.aborted) throw toAbortFailure(signal);
  if (child.killed) throw new Failure("tool_failed", "Command timed out after 30 seconds");
  // It ends with 1 when it found nothing, and with 2 when a part could not be read.
  if (end === 0 || end === 1 || (end === 2 && hasOutput)) return;
  const reason = end instanceof Error ? end.message : complaints() || `it ended with ${end}`;
  // What it was asked was wrong where it ends with 2 and says nothing else.
  const code = end === 2 ? "invalid_request" : "tool_failed";
  throw new Failure(code, `${complaint}: ${clip(reason, 300)}`);
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    if (text.length < 1000) text += chunk.toString("utf8");
  });
  return () => text.trim();
}
