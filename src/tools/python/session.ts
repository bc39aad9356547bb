/**
 * The Python of one run: calls one after the other in one interpreter. The first call starts it, and so
 * does the first call after it was lost. Owns the interpreter; closed with the run.
 */

import { throwIfAborted, toAbortFailure, untilAborted } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ScopedResource } from "../scope.ts";
import type { Interpreter } from "./interpreter.ts";
import { type RunReply, toNames, toRunReply, type Wheel } from "./messages.ts";

export interface PythonCall {
  readonly code: string;
  /** The memory limit as it was written, for messages. */
  readonly mem: string;
  readonly memBytes: number;
  readonly timeoutMs: number;
}

export interface PythonSession extends ScopedResource {
  /** Rejects with `Failure("tool_failed")` if this call made the interpreter fail. */
  run(call: PythonCall, signal: AbortSignal): Promise<RunReply & { readonly note?: string }>;
}

export interface PythonSessionParts {
  /** Starts and opens an interpreter. */
  open(memBytes: number, signal: AbortSignal): Promise<Interpreter>;
  /** The wheel for a module or a distribution; missing if the interpreter has its own packages. */
  readonly findWheel:
    | ((name: string, signal: AbortSignal) => Promise<Wheel | undefined>)
    | undefined;
  /** How long reading the packages of one call may take; `PACKAGES_MS` if missing. */
  readonly packagesMs?: number;
  /** A sentence on how to get a missing module. */
  howToGet(name: string): string;
}

const GONE = "Variables and files of earlier calls are gone.";

/** Reading and unpacking packages does not count as the code's time. */
const PACKAGES_MS = 90_000;
const INSTALL_MS = 120_000;

/** No package that works in a browser has a longer chain of requirements. */
const MAX_ROUNDS = 8;

export function createPythonSession(parts: PythonSessionParts): PythonSession {
  let current: { readonly interpreter: Interpreter; readonly memBytes: number } | undefined;
  let calls = 0;
  let isLost = false;
  let queue: Promise<unknown> = Promise.resolve();

  async function drop(): Promise<void> {
    const { interpreter } = current ?? {};
    current = undefined;
    isLost ||= calls > 0;
    calls = 0;
    await interpreter?.close();
  }

  async function take({ memBytes }: PythonCall, signal: AbortSignal): Promise<Interpreter> {
    // The system's limit on an interpreter's memory cannot be raised while it runs.
    if (current && memBytes > current.memBytes) await drop();
    current ??= { interpreter: await parts.open(memBytes, signal), memBytes };
    return current.interpreter;
  }

  async function run(
    call: PythonCall,
    signal: AbortSignal,
  ): Promise<RunReply & { readonly note?: string }> {
    try {
      const interpreter = await take(call, signal);
      const missing = await provide(interpreter, parts, call, signal);
      const reply = await interpreter.ask(
        { op: "run", mem: call.memBytes, code: call.code, missing },
        { timeoutMs: call.timeoutMs, signal },
      );
      const note = isLost ? { note: `The interpreter was restarted. ${GONE}` } : {};
      isLost = false;
      calls++;
      return { ...toRunReply(reply), ...note };
    } catch (thrown) {
      const loss = calls > 0 ? ` ${GONE}` : "";
      await drop();
      throw signal.aborted ? toAbortFailure(signal) : toLoss(thrown, call, loss);
    }
  }

  return {
    run(call, signal) {
      const next = queue.then(() => run(call, signal));
      queue = next.catch(() => undefined);
      return next;
    },
    close: drop,
  };
}

/** Installs the modules that the code imports, and says how to get those that were not found. */
async function provide(
  interpreter: Interpreter,
  { findWheel, howToGet, packagesMs = PACKAGES_MS }: PythonSessionParts,
  { code, memBytes: mem }: PythonCall,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (!/\bimport\b/.test(code)) return {};
  const limits = { timeoutMs: INSTALL_MS, signal };
  const ask = async (
    request: { op: "imports"; code: string } | { op: "install"; wheels: Wheel[] },
  ) => toNames((await interpreter.ask({ ...request, mem }, limits)) satisfies JsonObject);
  const named = await ask({ op: "imports", code });
  const search = findWheel && createSearch(findWheel, packagesMs, signal);
  try {
    let names = named;
    for (let round = 0; round < MAX_ROUNDS && names.length > 0 && search; round++) {
      const wheels = await search.find(names);
      names = wheels.length > 0 ? await ask({ op: "install", wheels }) : [];
    }
  } finally {
    search?.close();
  }
  const missing = named.filter((name) => !search?.found.has(name));
  const how = (name: string): string => search?.problems.get(name) ?? howToGet(name);
  return Object.fromEntries(missing.map((name) => [name, how(name)]));
}

interface Search {
  /** Searches each name once. Rejects if the call is cancelled. */
  find(names: readonly string[]): Promise<Wheel[]>;
  readonly found: ReadonlySet<string>;
  readonly problems: ReadonlyMap<string, string>;
  close(): void;
}

/** Searches wheels until its time is over, even if a read still hangs. */
function createSearch(
  findWheel: NonNullable<PythonSessionParts["findWheel"]>,
  limitMs: number,
  signal: AbortSignal,
): Search {
  const tried = new Set<string>();
  const found = new Set<string>();
  const problems = new Map<string, string>();
  const late = new AbortController();
  const timer = setTimeout(() => {
    const message = `It could not be read within ${limitMs / 1000} s.`;
    late.abort(new Failure("tool_failed", message));
  }, limitMs);
  const limit = AbortSignal.any([signal, late.signal]);

  async function find(name: string): Promise<Wheel[]> {
    try {
      const wheel = await untilAborted(findWheel(name, limit), limit);
      if (!wheel) return [];
      found.add(name);
      return [wheel];
    } catch (thrown) {
      throwIfAborted(signal);
      problems.set(name, toFailure(thrown).message);
      return [];
    }
  }

  return {
    async find(names) {
      const wheels: Wheel[] = [];
      for (const name of names.filter((one) => !tried.has(one))) {
        tried.add(name);
        wheels.push(...(await find(name)));
      }
      return wheels;
    },
    found,
    problems,
    close: () => clearTimeout(timer),
  };
}

/** Says which limit the interpreter exceeded, and what was lost with it. */
function toLoss(thrown: unknown, { mem }: PythonCall, loss: string): Failure {
  const failure = toFailure(thrown);
  if (failure.code !== "tool_failed") return failure;
  const limit = /out of memory$/.test(failure.message) ? ` (${mem})` : "";
  const message = `${failure.message.replace(/\.$/, "")}${limit}.${loss}`;
  return new Failure("tool_failed", message, { cause: thrown });
}
