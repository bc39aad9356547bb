/** The parts of `node-llama-cpp` that the provider uses, with scripted answers. */

import type {
  GeneratedResponse,
  GenerateOptions,
  HistoryItem,
  Llama,
  LlamaModule,
  LlamaSequence,
  ResponseChunk,
} from "../../../src/providers/gguf/llama-module.ts";

export interface FakeAnswer {
  readonly text?: readonly string[];
  readonly thoughts?: readonly string[];
  readonly calls?: GeneratedResponse["functionCalls"];
  readonly stopReason?: string;
  /** Writes its text, then hangs until it is aborted. */
  readonly hangs?: boolean;
  /** Writes its text, then reports that the context is full. */
  readonly isFull?: boolean;
  readonly error?: Error;
}

export interface Asked {
  readonly history: readonly HistoryItem[];
  readonly options: GenerateOptions;
}

export interface FakeLlama extends LlamaModule {
  readonly asked: Asked[];
  /** The calls of the package, in order. */
  readonly log: string[];
}

/** Each call reads ten tokens, and writes one token for each piece of `answers`. */
export function createFakeLlama(...answers: readonly FakeAnswer[]): FakeLlama {
  const rest = [...answers];
  const asked: Asked[] = [];
  const log: string[] = [];
  const counts = { usedInputTokens: 0, usedOutputTokens: 0 };
  const sequence: LlamaSequence = {
    get nextTokenIndex() {
      return counts.usedInputTokens + counts.usedOutputTokens;
    },
    tokenMeter: { getState: () => ({ ...counts }) },
  };

  async function generate(
    history: readonly HistoryItem[],
    options: GenerateOptions,
  ): Promise<GeneratedResponse> {
    asked.push({ history, options });
    counts.usedInputTokens += 10;
    const answer = rest.shift() ?? {};
    const say = (type: ResponseChunk["type"], text: string): void => {
      counts.usedOutputTokens += 1;
      options.onResponseChunk({ type, text, tokens: [counts.usedOutputTokens] });
    };
    for (const text of answer.thoughts ?? []) say("segment", text);
    for (const text of answer.text ?? []) {
      // One piece in each turn of the event loop, like a model.
      await new Promise(setImmediate);
      say(undefined, text);
    }
    await breakOff(answer, options);
    const metadata = { stopReason: answer.stopReason ?? "eogToken" };
    return answer.calls ? { functionCalls: answer.calls, metadata } : { metadata };
  }

  const llama: Llama = {
    cpuMathCores: 2,
    maxThreads: 4,
    async loadModel({ modelPath }) {
      log.push(`load ${modelPath.split("/").at(-1)}`);
      return {
        async createContext({ contextSize }) {
          const size = typeof contextSize === "number" ? contextSize : contextSize.max;
          return { contextSize: size, getSequence: () => sequence };
        },
        dispose: async () => void log.push("unload"),
      };
    },
    async createGrammarForJsonSchema(schema) {
      if ("bad" in schema) throw new Error("bad schema");
      return { schema };
    },
    getGrammarFor: async (type) => ({ type }),
    dispose: async () => void log.push(`stop with ${llama.maxThreads} threads`),
  };

  return {
    asked,
    log,
    async getLlama() {
      log.push("start");
      return llama;
    },
    LlamaChat: class {
      generateResponse = generate;
      dispose = () => void log.push("chat over");
    },
  };
}

async function breakOff(answer: FakeAnswer, options: GenerateOptions): Promise<void> {
  if (answer.hangs) await untilAborted(options.signal);
  if (answer.isFull) options.contextShift.size();
  if (answer.error) throw answer.error;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
  });
}
