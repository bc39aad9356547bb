/**
 * An MCP server as a program that we start: messages over its standard input and output, one on each line.
 *
 * In place of the SDK's transport, which kills one process although a server is often three (`npx`, a
 * shell, node), and drops the connection for one long line. The server leads a process group. When it or
 * the connection ends, the whole group is killed, and on Linux also processes that left it and have its
 * mark.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { Failure } from "../../../base/failure.ts";
import { holdGroup, makeMark } from "../../sandbox/life-line.ts";
import { MARK } from "../../sandbox/process.ts";
import { sweep } from "../../sandbox/process-group.ts";
import { toCleanTail } from "../clean-text.ts";
import { createMessageLines, findRequestId, tooLarge } from "./message-lines.ts";

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly maxBytes: number;
  /** Checks the parsed JSON; throws if it is not a message. */
  readonly toMessage: (value: unknown) => JSONRPCMessage;
}

export interface StdioTransport extends Transport {
  /** How the server ended, or what it printed so far: exit code, last output. Empty if there is nothing. */
  lastWords(): string;
}

/** How long a server may take to exit after its input is closed, and again after a signal. */
const LEAVE_MS = 500;
const TERM_MS = 1500;

/** How much of the error output is kept for messages. */
const MAX_STDERR_BYTES = 4096;

export function createStdioTransport(options: StdioOptions): StdioTransport {
  let child: ChildProcessWithoutNullStreams | undefined;
  let gone: Promise<void> = Promise.resolve();
  let stderr = "";
  let ending = "";

  const lines = createMessageLines({
    maxBytes: options.maxBytes,
    onLine: (line) => receive(transport, line, options.toMessage),
    onTooLong(head, tail) {
      const id = findRequestId(head, tail);
      if (id === undefined) return endWith("It sent a message that is too large.");
      transport.onmessage?.(tooLarge(id, options.maxBytes));
    },
    onRunaway: () => endWith("It sent a message that is too large."),
  });

  function endWith(reason: string): void {
    ending ||= reason;
    if (child) killGroup(child, "SIGKILL");
  }

  const transport: StdioTransport = {
    async start() {
      const group = spawnGroup(options);
      const { child: started } = group;
      child = started;
      gone = watchEnd(group, (reason) => {
        ending ||= reason;
        transport.onclose?.();
      });
      started.stdout.on("data", (bytes: Buffer) => lines.push(bytes));
      started.stderr.on("data", (bytes: Buffer) => {
        stderr = `${stderr}${bytes.subarray(-MAX_STDERR_BYTES).toString("utf8")}`;
        stderr = stderr.slice(-MAX_STDERR_BYTES);
      });
      // A server that has exited reads nothing; its exit reports its end.
      started.stdin.on("error", () => {});
      await spawned(started, options.command);
    },
    send(message) {
      const stdin = child?.stdin;
      if (!stdin?.writable) return Promise.reject(new Error("The server has ended."));
      return new Promise((resolve, reject) => {
        stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      });
    },
    async close() {
      if (child) await leave(child, gone);
    },
    lastWords() {
      const said = toCleanTail(stderr, 600);
      return [ending, said === "" ? "" : `Its last output: ${said}`].filter(Boolean).join(" ");
    },
  };
  return transport;
}

/** Lines that are not messages come from a server that prints to its output; they are skipped. */
function receive(transport: Transport, line: string, toMessage: StdioOptions["toMessage"]): void {
  if (!line.trimStart().startsWith("{")) return;
  try {
    transport.onmessage?.(toMessage(JSON.parse(line)));
  } catch (thrown) {
    transport.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }
}

const isWindows = process.platform === "win32";

interface ServerGroup {
  readonly child: ChildProcessWithoutNullStreams;
  /** Ends processes that left the group. The keeper watches them until then, in case we end first. */
  sweep(): Promise<void>;
}

function spawnGroup({ command, args, env, cwd }: StdioOptions): ServerGroup {
  const mark = makeMark();
  const child = spawn(command, [...args], {
    cwd,
    env: { ...env, [MARK]: mark },
    stdio: ["pipe", "pipe", "pipe"],
    // Makes it the leader of a group, and keeps a terminal's Ctrl-C from it, because we decide when it
    // ends.
    detached: !isWindows,
    windowsHide: true,
  });
  const entry = `${MARK}=${mark}`;
  const { release } = holdGroup(child.pid ?? 0, entry);
  return {
    child,
    async sweep() {
      try {
        await sweep(entry);
      } finally {
        release();
      }
    },
  };
}

async function spawned(child: ChildProcessWithoutNullStreams, command: string): Promise<void> {
  try {
    await once(child, "spawn");
  } catch (cause) {
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? "there is no such program" : `it cannot be started (${code})`;
    throw new Failure("tool_failed", `\`${command}\`: ${reason}.`, { cause });
  }
}

/** Resolves when the server has exited and everything that it started has ended; `onEnd` is called before. */
function watchEnd(
  { child, sweep: sweepGroup }: ServerGroup,
  onEnd: (reason: string) => void,
): Promise<void> {
  const kill = (): void => killGroup(child, "SIGKILL");
  // For the case that our process exits without closing anything.
  process.once("exit", kill);
  return new Promise((resolve) => {
    child.once("error", () => {
      process.removeListener("exit", kill);
      resolve();
    });
    child.once("exit", (code, signal) => {
      process.removeListener("exit", kill);
      kill();
      // The server's last output may still arrive; another process that holds the pipe open is not waited for.
      const rest = new AbortController();
      const closed = once(child, "close", { signal: rest.signal });
      const read = Promise.race([closed, sleep(200)]).catch(() => {});
      void Promise.allSettled([read, sweepGroup()]).then(() => {
        rest.abort();
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
        onEnd(signal ? `It was ended by ${signal}.` : `It ended with exit code ${code}.`);
        resolve();
      });
      closed.catch(() => {});
    });
  });
}

async function leave(child: ChildProcessWithoutNullStreams, gone: Promise<void>): Promise<void> {
  child.stdin.end();
  for (const [signal, afterMs] of [
    ["SIGTERM", LEAVE_MS],
    ["SIGKILL", TERM_MS],
  ] as const) {
    const isGone = await Promise.race([
      gone.then(() => true),
      sleep(afterMs, false, { ref: false }),
    ]);
    if (isGone) return;
    killGroup(child, signal);
  }
  await gone;
}

function killGroup(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (isWindows) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // No process of the group is left.
  }
}
