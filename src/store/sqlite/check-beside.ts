/**
 * Checks a file while this process works with it. In a process of its own: in a thread SQLite would
 * have to come to its end before this process could, and a large file takes minutes.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import { findOwnProgram } from "../../base/own-program.ts";
import { toDamaged } from "./sqlite-fault.ts";

export type CheckReply = { readonly problem?: string | undefined } | { readonly error: string };

/**
 * Gives what is wrong with the file, as `store_failed`; undefined where nothing is. Rejects where it could not
 * be looked through. Settles when the process has ended, also where `signal` has ended it.
 */
export async function checkBeside(path: string, signal: AbortSignal): Promise<Failure | undefined> {
  if (signal.aborted) throw toAbortFailure(signal);
  const child = spawn(process.execPath, [findOwnProgram("check-worker")], {
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
  });
  // A process that has ended does not read; its end says why.
  child.stdin.on("error", () => {});
  child.stdin.end(path);
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  // For a process of ours that ends without waiting.
  process.once("exit", kill);
  try {
    const [said, how] = await Promise.all([text(child.stdout), ended(child)]);
    if (signal.aborted) throw toAbortFailure(signal);
    const reply = parseReply(said, how);
    return reply.problem === undefined ? undefined : toDamaged(path, reply.problem);
  } finally {
    signal.removeEventListener("abort", kill);
    process.off("exit", kill);
  }
}

function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(String(signal ?? code)));
  });
}

function parseReply(said: string, how: string): { readonly problem?: string | undefined } {
  let reply: CheckReply;
  try {
    reply = JSON.parse(said) as CheckReply;
  } catch (cause) {
    const message = `the process that checks it ended early (${how})`;
    throw new Failure("internal", message, { cause });
  }
  if ("error" in reply) throw new Failure("store_failed", reply.error);
  return reply;
}
