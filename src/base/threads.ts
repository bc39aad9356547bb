/**
 * Threads for work on input of strangers: schemas, patterns, large texts. The event loop stays free
 * meanwhile, and a thread that does not return is ended.
 *
 * Owners take turns, and none has all threads: a job may take long, and the jobs of one owner must not make
 * another wait. An idle thread keeps no process alive.
 */

import { Worker } from "node:worker_threads";
import { Failure } from "./failure.ts";
import { findOwnProgram, type OwnProgram } from "./own-program.ts";

export interface ThreadSettings {
  readonly program: OwnProgram;
  /** Most threads at the same time. */
  readonly size: number;
  /** Most threads that work for one owner at the same time. */
  readonly sizeForOne: number;
  /** Time limit of one job, including the start of its thread. */
  readonly limitMs: number;
  /** Memory limit of a thread. */
  readonly heapMib: number;
}

export interface Threads {
  /**
   * Runs the job in a thread. Jobs and results must be values that `postMessage` accepts. Rejects with
   * `invalid_request` if the thread takes too long or too much memory, and otherwise as the job does.
   */
  run(owner: string, job: unknown, what: WorkName): Promise<unknown>;
}

export interface WorkName {
  /** Names the work in a refusal: `The output schema`. */
  readonly what: string;
  readonly param?: string | undefined;
}

/** The answer of a thread. */
export type ThreadReply =
  | { readonly done: unknown }
  | { readonly refused: string }
  | { readonly broke: string };

interface Waiting extends WorkName {
  readonly owner: string;
  readonly job: unknown;
  resolve(value: unknown): void;
  reject(failure: Error): void;
}

export function createThreads(settings: ThreadSettings): Threads {
  const { program, size, sizeForOne, limitMs, heapMib } = settings;
  const queues = new Map<string, Waiting[]>();
  const idle: Worker[] = [];
  /** Threads at work, with their owners. */
  const busy = new Map<Worker, string>();

  const countFor = (owner: string): number =>
    [...busy.values()].filter((other) => other === owner).length;

  /**
   * Takes the next job. Its owner goes to the end of the queue; an owner who has enough threads keeps its
   * place.
   */
  function takeNext(): Waiting | undefined {
    for (const [owner, waiting] of queues) {
      if (countFor(owner) >= sizeForOne) continue;
      const next = waiting.shift();
      queues.delete(owner);
      if (waiting.length > 0) queues.set(owner, waiting);
      return next;
    }
    return undefined;
  }

  function startNext(): void {
    if (busy.size >= size) return;
    const next = takeNext();
    if (!next) return;
    const thread = idle.pop() ?? openThread();
    busy.set(thread, next.owner);
    const ended = (isWell: boolean): void => {
      if (isWell) idle.push(thread);
      busy.delete(thread);
      startNext();
    };
    work(thread, next, { limitMs, ended });
  }

  function openThread(): Worker {
    const thread = startThread(program, heapMib);
    // A thread that ends while it is idle gets no further work.
    thread.once("exit", () => {
      const at = idle.indexOf(thread);
      if (at >= 0) idle.splice(at, 1);
    });
    return thread;
  }

  return {
    run: (owner, job, { what, param }) =>
      new Promise((resolve, reject) => {
        const waiting = queues.get(owner) ?? [];
        waiting.push({ owner, job, what, param, resolve, reject });
        queues.set(owner, waiting);
        startNext();
      }),
  };
}

interface Work {
  readonly limitMs: number;
  /** Called once, with true if the thread can be used again. */
  readonly ended: (isWell: boolean) => void;
}

function work(thread: Worker, next: Waiting, { limitMs, ended }: Work): void {
  thread.ref();
  const late = setTimeout(() => lose("takes too long to work with"), limitMs);
  const onError = (cause: unknown): void => lose("asks for too much", cause);
  const onExit = (): void => lose("asks for too much");
  const rest = (): void => {
    clearTimeout(late);
    thread.off("error", onError).off("exit", onExit).off("message", onMessage);
  };
  const lose = (why: string, cause?: unknown): void => {
    rest();
    void thread.terminate();
    next.reject(toRefusal(next, why, cause));
    ended(false);
  };
  const onMessage = (reply: ThreadReply): void => {
    rest();
    thread.unref();
    if ("done" in reply) next.resolve(reply.done);
    else if ("refused" in reply) next.reject(new Failure("invalid_request", reply.refused, next));
    else next.reject(new Failure("internal", reply.broke));
    ended(true);
  };
  thread.on("error", onError).on("exit", onExit).on("message", onMessage);
  thread.postMessage(next.job);
}

function startThread(program: OwnProgram, heapMib: number): Worker {
  const thread = new Worker(findOwnProgram(program), {
    env: {},
    // The flags of this process are not passed on: a debugger's port, a loader.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMib },
  });
  // Errors of a thread that is being ended are ignored.
  thread.on("error", () => {});
  return thread;
}

function toRefusal({ what, param }: WorkName, why: string, cause: unknown): Failure {
  return new Failure("invalid_request", `${what} ${why}.`, { param, cause });
}
