/**
 * One interpreter: a started process that answers one request at a time. After anything but an answer (too
 * late, cancelled, gone, out of memory) it is ended, and its variables are lost.
 */

import { toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { createLineReader } from "../../base/lines.ts";
import { clip } from "../../base/text.ts";
import type { Exit, RunningCommand } from "../sandbox/sandbox.ts";
import type { Request } from "./messages.ts";

export interface Interpreter {
  /** Rejects with `Failure("tool_failed")`; then the interpreter cannot be used any more and must be closed. */
  ask(request: Request, limits: Limits): Promise<JsonObject>;
  /** Ends the process; may be called twice. */
  close(): Promise<void>;
}

interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The last output of a process that ends says why. */
const TAIL_CHARS = 2000;

/** Takes ownership of the process: `close` ends it. */
export function createInterpreter(command: RunningCommand): Interpreter {
  let answer: (line: string) => void = () => undefined;
  const tail = readTail(command.stderr);
  const gone = readLines(command, (line) => answer(line)).then(async (broken) => {
    const exit = broken ? undefined : await command.exited;
    await tail.ended;
    throw toDeath(exit, tail.text());
  });
  // The interpreter may end while no request waits.
  gone.catch(() => undefined);

  return {
    async ask(request, { timeoutMs, signal }) {
      const answered = new Promise<string>((resolve) => {
        answer = resolve;
      });
      // An interpreter that has ended reports it through `gone`.
      command.stdin.write(`${JSON.stringify(request)}\n`);
      const cut = createCut(timeoutMs, signal);
      try {
        return parseReply(await Promise.race([answered, gone, cut.promise]));
      } finally {
        cut.clear();
      }
    },
    close: () => command.kill(),
  };
}

interface Cut {
  readonly promise: Promise<never>;
  clear(): void;
}

function createCut(timeoutMs: number, signal: AbortSignal): Cut {
  const { promise, reject } = withReject();
  const cancel = (): void => reject(toAbortFailure(signal));
  const timer = setTimeout(
    () => reject(new Failure("tool_failed", `Execution timed out after ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return {
    promise,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    },
  };
}

function withReject(): { promise: Promise<never>; reject: (failure: Failure) => void } {
  let reject: (failure: Failure) => void = () => undefined;
  const promise = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  return { promise, reject };
}

/** Resolves with true if the output was no longer lines: a line without end. */
async function readLines(
  { stdout }: RunningCommand,
  onLine: (line: string) => void,
): Promise<boolean> {
  const reader = createLineReader({ endings: "lf", onLine });
  try {
    for await (const chunk of stdout) reader.push(chunk);
    return false;
  } catch {
    return true;
  }
}

function readTail(stream: AsyncIterable<Buffer>): { text(): string; ended: Promise<void> } {
  let text = "";
  const ended = (async () => {
    try {
      for await (const chunk of stream) text = (text + chunk.toString("utf8")).slice(-TAIL_CHARS);
    } catch {
      // The output so far is all there is.
    }
  })();
  return { text: () => text, ended };
}

/** A reply of `error` comes from the driver or the process, not from the code. */
function parseReply(line: string): JsonObject {
  const reply = tryParseJson(line);
  if (!isJsonObject(reply)) throw failed("the interpreter broke its protocol");
  const error = reply["error"];
  if (error === undefined) return reply;
  throw isOutOfMemory(String(error)) ? outOfMemory() : failed(lastLine(String(error)));
}

function toDeath(exit: Exit | undefined, tail: string): Failure {
  // The system's memory killer and a failed allocation in V8 both end it by a signal.
  const isKilled = exit?.signal === "SIGKILL" || exit?.code === 137;
  if (isKilled || isOutOfMemory(tail)) return outOfMemory();
  const how = exit === undefined ? "broke its protocol" : `ended (${toReason(exit)})`;
  const last = lastLine(tail);
  return failed(`the interpreter ${how}${last === "" ? "" : `: ${last}`}`);
}

function toReason({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

function isOutOfMemory(text: string): boolean {
  return /out of memory|allocation failed|cannot allocate|MemoryError/i.test(text);
}

function lastLine(text: string): string {
  return clip(text.trim().split("\n").at(-1) ?? "", 300);
}

function outOfMemory(): Failure {
  return failed("out of memory");
}

function failed(why: string): Failure {
  return new Failure("tool_failed", `Execution failed: ${why}`);
}
