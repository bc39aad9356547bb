/**
 * The Python of one run: calls one after the other in one interpreter, which is started by the first
 * call and anew by the first after it was lost. Owns the interpreter; closed with the run.
 */

import { throwIfAborted, toAbortFailure, untilAborted } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Kept } from "../scope.ts";
import type { Interpreter } from "./interpreter.ts";
import { type RunReply, toNames, toRunReply, type Wheel } from "./messages.ts";

export interface PythonCall {
  readonly code: string;
  /** As it was written, for messages. */
  readonly mem: string;
  readonly memBytes: number;
  readonly timeoutMs: number;
}

export interface PythonSession extends Kept {
  /** Rejects with `Failure("tool_failed")` when the interpreter was lost with this call. */
  run(call: PythonCall, signal: AbortSignal): Promise<RunReply & { readonly note?: string }>;
}

export interface SessionParts {
  /** Starts and opens an interpreter. */
  open(memBytes: number, signal: AbortSignal): Promise<Interpreter>;
  /** The wheel for a module or a distribution; none where the interpreter brings its own. */
  readonly findWheel:
    | ((name: string, signal: AbortSignal) => Promise<Wheel | undefined>)
    | undefined;
  /** How long the packages of one call may take to be read; `PACKAGES_MS` when left out. */
  readonly packagesMs?: number;
  /** How a person gets a module that nobody has. */
  howToGet(name: string): string;
}

const GONE = "Variables and files of earlier calls are gone.";

/** Reading and unpacking packages is not the code's time. */
const PACKAGES_MS = 90_000;
const INSTALL_MS = 120_000;

/** A chain of requirements longer than this is none of a package that works in a browser. */
const MAX_ROUNDS = 8;

export function createPythonSession(parts: SessionParts): PythonSession {
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
      const note = isLost ? { note: `The interpreter was started anew. ${GONE}` } : {};
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

/** Installs what the code imports and somebody has; gives how to get the rest. */
async function provide(
  interpreter: Interpreter,
  { findWheel, howToGet, packagesMs = PACKAGES_MS }: SessionParts,
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
  /** Each name is looked for once. Rejects when the call is cancelled. */
  find(names: readonly string[]): Promise<Wheel[]>;
  readonly found: ReadonlySet<string>;
  readonly problems: ReadonlyMap<string, string>;
  close(): void;
}

/** Looks for wheels until its time is over; whatever reads them, it waits no longer. */
function createSearch(
  findWheel: NonNullable<SessionParts["findWheel"]>,
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

/** Says which limit the interpreter met, and what is lost with it. */
function toLoss(thrown: unknown, { mem }: PythonCall, loss: string): Failure {
  const failure = toFailure(thrown);
  if (failure.code !== "tool_failed") return failure;
  const limit = /out of memory$/.test(failure.message) ? ` (${mem})` : "";
  const message = `${failure.message.replace(/\.$/, "")}${limit}.${loss}`;
  return new Failure("tool_failed", message, { cause: thrown });
}
