/**
 * The types of the parts of `node-llama-cpp` that are used here, and how it is loaded. The package is an
 * optional peer of about a hundred megabytes. It is imported when a GGUF model is first used, and its types
 * are here because most checkouts do not have it.
 */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";

export interface LlamaModule {
  getLlama(options: LlamaOptions): Promise<Llama>;
  readonly LlamaChat: new (options: { readonly contextSequence: LlamaSequence }) => LlamaChat;
}

export interface LlamaOptions {
  /** `never`: a machine without a prebuilt binary gets an error, and no compiler is started. */
  readonly build: "never";
  readonly skipDownload: true;
  readonly progressLogs: false;
  readonly logLevel: "error";
  readonly logger: (level: string, message: string) => void;
}

export interface Llama {
  readonly cpuMathCores: number;
  /** 0 means no limit, as with a GPU. */
  maxThreads: number;
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
  createGrammarForJsonSchema(schema: JsonObject): Promise<LlamaGrammar>;
  getGrammarFor(type: "json"): Promise<LlamaGrammar>;
  dispose(): Promise<void>;
}

export interface LlamaModel {
  createContext(options: {
    readonly contextSize: number | { readonly max: number };
  }): Promise<LlamaContext>;
  dispose(): Promise<void>;
}

export interface LlamaContext {
  readonly contextSize: number;
  getSequence(): LlamaSequence;
}

/** The tokens in the model's memory. Calls with the same beginning do not read it twice. */
export interface LlamaSequence {
  readonly nextTokenIndex: number;
  readonly tokenMeter: { getState(): TokenCounts };
}

export interface TokenCounts {
  readonly usedInputTokens: number;
  readonly usedOutputTokens: number;
}

/** The package's own; nothing here reads it. */
export type LlamaGrammar = object;

/** Uses the model's own chat template and its own form of tool calls. */
export interface LlamaChat {
  generateResponse(
    history: readonly HistoryItem[],
    options: GenerateOptions,
  ): Promise<GeneratedResponse>;
  dispose(): void;
}

export type HistoryItem =
  | { readonly type: "system" | "user"; readonly text: string }
  | { readonly type: "model"; readonly response: readonly ResponsePart[] };

export type ResponsePart =
  | string
  | {
      readonly type: "functionCall";
      readonly name: string;
      readonly params: unknown;
      readonly result: unknown;
      /** True for the first of several parallel calls. */
      readonly startsNewChunk: boolean;
    }
  | {
      readonly type: "segment";
      readonly segmentType: "thought";
      readonly text: string;
      readonly ended: true;
    };

export interface GenerateOptions {
  readonly signal: AbortSignal;
  /** Never set together with `functions`. */
  readonly grammar?: LlamaGrammar;
  readonly functions?: LlamaFunctions;
  readonly maxParallelFunctionCalls?: number;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly repeatPenalty?: {
    readonly frequencyPenalty?: number;
    readonly presencePenalty?: number;
  };
  /** Texts at which the model stops. They are not part of the answer. */
  readonly customStopTriggers?: readonly string[];
  readonly budgets?: { readonly thoughtTokens: number };
  /** Called when the context is full. If it throws, the call ends. */
  readonly contextShift: { readonly size: () => number };
  readonly onResponseChunk: (chunk: ResponseChunk) => void;
}

export type LlamaFunctions = Readonly<
  Record<string, { readonly description?: string; readonly params?: JsonObject }>
>;

export interface ResponseChunk {
  /** `segment` for thoughts and comments, undefined for the answer. */
  readonly type: "segment" | undefined;
  readonly text: string;
  readonly tokens: readonly unknown[];
}

export interface GeneratedResponse {
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[];
  readonly metadata: { readonly stopReason: string };
}

const PACKAGE: string = "node-llama-cpp";

/** Rejects with the command that installs the package. */
export async function loadLlamaModule(): Promise<LlamaModule> {
  try {
    // A variable, so that neither compiler nor bundler looks for a package that may be missing.
    return (await import(PACKAGE)) as LlamaModule;
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(
      "invalid_request",
      isMissing
        ? `A GGUF file is run by the package \`${PACKAGE}\`, which is not installed. Install it beside offshoot: npm i ${PACKAGE}`
        : `The package \`${PACKAGE}\` does not load: ${clip(reason, 200)}`,
      { cause, param: "model" },
    );
  }
}
