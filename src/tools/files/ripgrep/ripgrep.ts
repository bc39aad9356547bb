/**
 * Starts ripgrep, which respects `.gitignore` and is fast. It gets no shell, no environment and no
 * configuration, follows no links, and runs in a folder that is held open.
 */

import { spawn } from "node:child_process";
import { toAbortFailure } from "../../../base/async.ts";
import { Failure } from "../../../base/failure.ts";
import { clip } from "../../../base/text.ts";
import { keepChild } from "../../sandbox/life-line.ts";
import { PROTECTED_PATHS } from "../../workspace/protected.ts";

export const RIPGREP_TIMEOUT_MS = 30_000;

/** Comes after all other globs, because the last matching one decides. Case does not matter. */
export const EXCLUDING_FLAGS: readonly string[] = Object.keys(PROTECTED_PATHS).flatMap((path) => [
  "--iglob",
  `!**/${path}`,
]);

const ALWAYS = ["--no-config", "--no-messages", "--no-follow", "--color=never"];

interface RipgrepCall {
  readonly flags: readonly string[];
  readonly cwd: string;
  /** Text to search in place of the folder. */
  readonly stdin?: Buffer | undefined;
  readonly signal: AbortSignal;
  /** The words before the reason of a failure. */
  readonly complaint: string;
}

/** Passes the output to `take`, piece by piece. Finding nothing is not a failure. */
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
  // ripgrep may exit before it has read everything.
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
  // ripgrep exits with 1 if it found nothing, and with 2 if some file could not be read.
  if (end === 0 || end === 1 || (end === 2 && hasOutput)) return;
  const reason = end instanceof Error ? end.message : complaints() || `it ended with ${end}`;
  // Exit code 2 without output means that the request was wrong.
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
