/**
 * GGUF models in this process. Each file is loaded once for all callers, and they take turns. A second
 * conversation at the same time would need memory of its own and make neither faster.
 *
 * The owner of the library closes it; until then the models stay in memory.
 */

import { open, realpath } from "node:fs/promises";
import { basename } from "node:path";
import { toAbortFailure } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { clip } from "../../base/text.ts";
import type { ModelCall } from "../provider.ts";
import {
  type Llama,
  type LlamaModel,
  type LlamaModule,
  type LlamaSequence,
  loadLlamaModule,
} from "./llama-module.ts";

export interface GgufLibrary {
  /** Resolves when it is this call's turn. The caller returns the model with `release`. */
  take(path: string, call: ModelCall): Promise<TakenModel>;
  /** Frees every model. Calls in progress fail. */
  close(): Promise<void>;
}

export interface TakenModel {
  /** The file's own name. */
  readonly name: string;
  readonly contextTokens: number;
  readonly module: LlamaModule;
  readonly llama: Llama;
  readonly sequence: LlamaSequence;
  release(): void;
}

export interface GgufLibraryOptions {
  readonly load?: () => Promise<LlamaModule>;
  /** The largest context. It is smaller if the model or the memory requires it. */
  readonly contextTokens?: number;
  readonly log?: Log;
}

/** Room for a run of many turns. Models claim far more than a machine has memory for. */
const CONTEXT_TOKENS = 32_768;

interface LoadedModel extends Omit<TakenModel, "release"> {
  readonly model: LlamaModel;
  readonly turns: Turns;
}

export function createGgufLibrary(options: GgufLibraryOptions = {}): GgufLibrary {
  const { load = loadLlamaModule, contextTokens = CONTEXT_TOKENS, log = silentLog } = options;
  const models = new Map<string, Promise<LoadedModel>>();
  let engine: Promise<{ module: LlamaModule; llama: Llama }> | undefined;
  let arrivals: Promise<unknown> = Promise.resolve();

  async function startEngine(): Promise<{ module: LlamaModule; llama: Llama }> {
    const module = await load();
    const llama = await module.getLlama({
      build: "never",
      skipDownload: true,
      progressLogs: false,
      logLevel: "error",
      // Without a logger the package writes to the terminal.
      logger: (_level, message) => log.debug(message.trim(), { vendor: "gguf" }),
    });
    // The package uses at least four threads, and more threads than cores wait for each other: on two busy
    // cores 60 tokens of the test model took 33 s, and 1.5 s with two threads.
    if (llama.maxThreads > llama.cpuMathCores) llama.maxThreads = llama.cpuMathCores;
    return { module, llama };
  }

  async function loadModel(path: string): Promise<LoadedModel> {
    engine ??= startEngine();
    const { module, llama } = await engine.catch((thrown) => {
      engine = undefined;
      throw toLoadFailure("node-llama-cpp", thrown);
    });
    try {
      const model = await llama.loadModel({ modelPath: path });
      const context = await model.createContext({ contextSize: { max: contextTokens } });
      const sequence = context.getSequence();
      const found = { name: basename(path), contextTokens: context.contextSize };
      return { ...found, module, llama, model, sequence, turns: createTurns() };
    } catch (thrown) {
      throw toLoadFailure(`\`${clip(path, 120)}\``, thrown);
    }
  }

  function share(path: string, { notice }: ModelCall): Promise<LoadedModel> {
    const known = models.get(path);
    if (known !== undefined) return known;
    notice?.({ code: "wait", message: `Loading ${basename(path)}.` });
    const loading = loadModel(path);
    models.set(path, loading);
    // A failed load is tried again at the next call: the file may have changed, or memory may be free.
    loading.catch(() => models.delete(path));
    return loading;
  }

  return {
    async take(path, call) {
      // Files are checked one after another, so that calls keep the order in which they came.
      const checked = arrivals.then(() => checkFile(path));
      arrivals = checked.catch(() => {});
      const loading = share(await checked, call);
      const { turns, model: _, ...taken } = await orAbort(loading, call.signal);
      const release = await turns.next(call);
      return { ...taken, release };
    },
    async close() {
      const loaded = await Promise.allSettled(models.values());
      models.clear();
      for (const one of loaded) if (one.status === "fulfilled") await one.value.model.dispose();
      const started = await engine?.catch(() => undefined);
      engine = undefined;
      await started?.llama.dispose();
    },
  };
}

const MAGIC = "GGUF";

/** The real path of the file. Rejects a missing file and a file that is not a model. */
async function checkFile(path: string): Promise<string> {
  const shown = clip(path, 120);
  const found = await realpath(path).catch((cause) => {
    throw new Failure("not_found", `There is no file \`${shown}\`.`, { cause, param: "model" });
  });
  const start = await readStart(found).catch((cause) => {
    const message = `\`${shown}\` cannot be read: ${clip(toFailure(cause).message, 120)}`;
    throw new Failure("invalid_request", message, { cause, param: "model" });
  });
  if (start === MAGIC) return found;
  const message = `\`${shown}\` is not a GGUF file. Get one with \`offshoot models pull\`, or convert the model.`;
  throw new Failure("invalid_request", message, { param: "model" });
}

async function readStart(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
  return buffer.toString("latin1", 0, bytesRead);
}

function toLoadFailure(what: string, thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const reason = clip(toFailure(thrown).message, 200);
  return new Failure("invalid_request", `${what} does not load: ${reason}`, {
    cause: thrown,
    param: "model",
  });
}

/** Stops waiting when the signal aborts. Others may wait for the same promise, so the work continues. */
function orAbort<Out>(promise: Promise<Out>, signal: AbortSignal): Promise<Out> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(toAbortFailure(signal));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const forget = (): void => signal.removeEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(forget);
  });
}

interface Turns {
  /** Resolves with the function that ends the turn. A second call of it has no effect. */
  next(call: ModelCall): Promise<() => void>;
}

function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  return {
    async next({ signal, notice }) {
      const before = last;
      let end = (): void => {};
      last = new Promise((resolve) => {
        end = resolve;
      });
      if (waiting > 0) notice?.({ code: "wait", message: "The model is busy with another run." });
      waiting += 1;
      const release = once(() => {
        waiting -= 1;
        end();
      });
      try {
        await orAbort(before, signal);
        return release;
      } catch (thrown) {
        // The abandoned turn is passed on when it comes.
        void before.then(release);
        throw thrown;
      }
    },
  };
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) action();
    isDone = true;
  };
}
