/**
 * Runs a GGUF file as a model in this process (`-m gguf:path`). The package uses the model's own template
 * and reads its own form of tool calls. A schema becomes a grammar, which the model cannot leave. With
 * tools there is no grammar for the answer, so the instructions describe the schema.
 */

import { throwIfAborted, toAbortFailure } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { type MakeId, makeId as processId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { FunctionTool } from "../../protocol/tools.ts";
import { toUsage, type Usage } from "../../protocol/usage.ts";
import { omittedMarks } from "../cache-marks.ts";
import { ItemWriter } from "../item-writer.ts";
import { keepOptions, type OptionName, omittedOfFormat } from "../known-options.ts";
import { isForced, offeredTools } from "../offered-tools.ts";
import type { ModelCall, ModelOptions, ModelRequest, Provider } from "../provider.ts";
import { dropNulls, toGrammarSchema } from "./grammar-schema.ts";
import { toHistory } from "./history.ts";
import type { GgufLibrary, TakenModel } from "./library.ts";
import type {
  GeneratedResponse,
  GenerateOptions,
  HistoryItem,
  LlamaFunctions,
  LlamaGrammar,
  ResponseChunk,
} from "./llama-module.ts";

export interface GgufProviderOptions {
  readonly path: string;
  /** Holds the loaded models of all runs. Its owner closes it. */
  readonly library: GgufLibrary;
  readonly makeId?: MakeId;
}

const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "frequency_penalty",
  "presence_penalty",
]);

export function createGgufProvider(options: GgufProviderOptions): Provider {
  const { path, library, makeId = processId } = options;

  async function* stream(
    asked: ModelRequest,
    call: ModelCall,
  ): AsyncGenerator<readonly ModelEvent[], void> {
    throwIfAborted(call.signal);
    const { request, dropped } = keepOptions(asked, (name) => OPTIONS.has(name));
    const isUnheard = request.tools.length > 0 && isForced(request.tool_choice);
    const own = Object.keys({ ...request.extras, ...request.own });
    const omitted = [...dropped, ...omittedOfFormat(request), ...own, ...omittedMarks(request)];
    const unsaid = isUnheard ? [...omitted, "tool_choice"] : omitted;
    for (const name of unsaid) {
      const message = `\`${name}\` left out: a model in this process does not support it.`;
      call.notice?.({ code: "dropped", message, params: [name] });
    }
    const tools = offeredTools(request.tools, request.tool_choice);
    // Done before anything is loaded, because the conversation may be refused.
    const history = toHistory(request, { isInWords: tools.length > 0 });
    const model = await library.take(path, call);
    try {
      yield* new Generation({ model, request, tools, history, makeId }).run(call.signal);
    } finally {
      model.release();
    }
  }

  return { name: "gguf", stream };
}

interface GenerationParts {
  readonly model: TakenModel;
  readonly request: ModelRequest;
  readonly tools: readonly FunctionTool[];
  readonly history: readonly HistoryItem[];
  readonly makeId: MakeId;
}

/** One answer. The package calls back on one side; batches are read on the other. */
class Generation {
  readonly #parts: GenerationParts;
  readonly #items = new ItemWriter();
  #batch: ModelEvent[] = [];
  #reasoningTokens = 0;
  #isDone = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(parts: GenerationParts) {
    this.#parts = parts;
  }

  /** A reader that leaves early stops the model. */
  async *run(signal: AbortSignal): AsyncGenerator<readonly ModelEvent[], void> {
    const stop = new AbortController();
    const work = this.#generate(AbortSignal.any([signal, stop.signal]));
    try {
      for (;;) {
        if (this.#batch.length > 0) yield this.#takeBatch();
        else if (this.#isDone) break;
        else await this.#nextBatch();
      }
      if (this.#failure !== undefined) throw toModelFailure(this.#failure, signal);
    } finally {
      stop.abort();
      await work;
    }
  }

  #takeBatch(): ModelEvent[] {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  #nextBatch(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Never rejects: a failure is thrown after the last batch. */
  async #generate(signal: AbortSignal): Promise<void> {
    try {
      await this.#answer(signal);
    } catch (thrown) {
      this.#failure = thrown;
    }
    this.#isDone = true;
    this.#wake?.();
  }

  async #answer(signal: AbortSignal): Promise<void> {
    const { model, history, makeId } = this.#parts;
    const { sequence, module, name } = model;
    this.#batch.push({ type: "start", response_id: makeId("resp"), model: name });
    const before = sequence.tokenMeter.getState();
    const options = await this.#options(signal);
    const chat = new module.LlamaChat({ contextSequence: sequence });
    try {
      const response = await chat.generateResponse(history, options);
      this.#addCalls(response);
      const isCut = response.metadata.stopReason === "maxTokens";
      this.#finish(isCut ? "length" : "whole", this.#usage(before));
    } catch (thrown) {
      // A context that fills up after the answer has begun cuts it short. If nothing was written, the call
      // fails.
      if (!isContextFull(thrown) || !this.#items.hasOutput) throw thrown;
      this.#finish("length", this.#usage(before));
    } finally {
      chat.dispose();
    }
  }

  async #options(signal: AbortSignal): Promise<GenerateOptions> {
    const { request, tools, model } = this.#parts;
    const { max_output_tokens, temperature, top_p, parallel_tool_calls, reasoning } = request;
    const grammar = tools.length > 0 ? undefined : await this.#grammar();
    return {
      signal,
      ...(grammar && { grammar }),
      ...(tools.length > 0 && { functions: toFunctions(tools) }),
      ...(parallel_tool_calls === false && { maxParallelFunctionCalls: 1 }),
      ...(max_output_tokens !== undefined && { maxTokens: max_output_tokens }),
      ...(temperature !== undefined && { temperature }),
      ...(top_p !== undefined && { topP: top_p }),
      ...encodeOptions(request.options ?? {}),
      ...(reasoning.effort === "none" && { budgets: { thoughtTokens: 0 } }),
      contextShift: {
        // Otherwise the package would drop the oldest turns without saying so.
        size: () => {
          throw contextFull(model);
        },
      },
      onResponseChunk: (chunk) => this.#readChunk(chunk),
    };
  }

  async #grammar(): Promise<LlamaGrammar | undefined> {
    const { format } = this.#parts.request;
    const { llama } = this.#parts.model;
    if (format.type === "text") return undefined;
    if (format.type === "json_object") return llama.getGrammarFor("json");
    try {
      return await llama.createGrammarForJsonSchema(toGrammarSchema(format.schema, "write"));
    } catch (cause) {
      const reason = clip(toFailure(cause).message, 200);
      const message = `No grammar can be made of the schema: ${reason}`;
      throw new Failure("invalid_request", message, { cause, param: "schema" });
    }
  }

  #readChunk({ type, text, tokens }: ResponseChunk): void {
    if (type === "segment") this.#reasoningTokens += tokens.length;
    if (text === "") return;
    this.#items.write(type === "segment" ? "reasoning" : "text", text, this.#batch);
    this.#wake?.();
  }

  #addCalls({ functionCalls = [] }: GeneratedResponse): void {
    const { tools, makeId } = this.#parts;
    for (const { functionName: name, params } of functionCalls) {
      const schema = tools.find((tool) => tool.name === name)?.parameters ?? undefined;
      const given = dropNulls((params ?? {}) as Json, schema);
      const call = { call_id: makeId("call"), name, arguments: JSON.stringify(given) };
      this.#items.addCall(call, this.#batch);
    }
  }

  #finish(ending: "whole" | "length", usage: Usage): void {
    this.#items.finish(ending, usage, this.#batch);
  }

  /** Tokens that were still in the model's memory from the call before count as cached. */
  #usage(before: { usedInputTokens: number; usedOutputTokens: number }): Usage {
    const { tokenMeter, nextTokenIndex } = this.#parts.model.sequence;
    const after = tokenMeter.getState();
    const read = after.usedInputTokens - before.usedInputTokens;
    const output = after.usedOutputTokens - before.usedOutputTokens;
    const input = Math.max(read, nextTokenIndex - output);
    return toUsage({ input, cached: input - read, output, reasoning: this.#reasoningTokens });
  }
}

function encodeOptions(options: ModelOptions): Partial<GenerateOptions> {
  const { stop, frequency_penalty, presence_penalty } = options;
  const repeatPenalty = {
    ...(frequency_penalty !== undefined && { frequencyPenalty: frequency_penalty }),
    ...(presence_penalty !== undefined && { presencePenalty: presence_penalty }),
  };
  return {
    ...(stop && stop.length > 0 && { customStopTriggers: stop }),
    ...(Object.keys(repeatPenalty).length > 0 && { repeatPenalty }),
  };
}

function toFunctions(tools: readonly FunctionTool[]): LlamaFunctions {
  const entries = tools.map(({ name, description, parameters }) => {
    const fields = parameters?.["properties"];
    const hasNone = !fields || Object.keys(fields).length === 0;
    return [
      name,
      {
        ...(description ? { description } : {}),
        // A function without parameters is called without an object.
        ...(hasNone || !parameters ? {} : { params: toGrammarSchema(parameters, "or null") }),
      },
    ];
  });
  return Object.fromEntries(entries);
}

function contextFull({ name, contextTokens }: TakenModel): Failure {
  return new Failure(
    "context_exceeded",
    `The conversation is longer than the context of ${name}: ${contextTokens} tokens.`,
  );
}

function isContextFull(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "context_exceeded";
}

function toModelFailure(thrown: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return toAbortFailure(signal);
  if (thrown instanceof Failure) return thrown;
  const reason = clip(toFailure(thrown).message, 200);
  return new Failure("provider_failed", `The model stopped: ${reason}`, { cause: thrown });
}
