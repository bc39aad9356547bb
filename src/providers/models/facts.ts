/** The type for facts about a model, and values that rows of the model table share across vendors. */

import type { OwnFields } from "../http/own-fields.ts";
import type { ReasoningOptions } from "../provider.ts";

export interface Model {
  readonly vendor: string;
  /** An exact name, which includes its dated snapshots, or a prefix that ends in `*`. */
  readonly name: string;
  readonly contextTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
  /** Undefined means unknown, which is not the same as free. */
  readonly price: Price | undefined;
  readonly reasoning: boolean;
  readonly vision: boolean;
  readonly pdf: boolean;
  readonly tools: boolean;
  /** True if its answer can be bound to a JSON schema. */
  readonly structured: boolean;
  readonly refuses: readonly RefusedParameter[];
  /** Only in the user's rows: fields that are added to each request. */
  readonly options?: OwnFields["options"];
  readonly headers?: OwnFields["headers"];
}

/** USD per million tokens. */
export interface Price {
  readonly input: number;
  /** Input read from the vendor's cache; undefined if that is not cheaper. */
  readonly cached: number | undefined;
  /** Input written to the cache; undefined if that costs nothing extra. */
  readonly cacheWrite?: number;
  readonly output: number;
  /** The price of a whole request with more input than this. */
  readonly long?: {
    readonly aboveTokens: number;
    readonly inputFactor: number;
    readonly outputFactor: number;
  };
}

export type ModelEffort = NonNullable<ReasoningOptions["effort"]>;

/**
 * `reasoning` is the whole parameter; `effort:none` is one of its values. `sampling_while_reasoning` means
 * that `temperature`, `top_p` and `top_logprobs` are accepted only with `effort: none`.
 */
export type RefusedParameter =
  | "temperature"
  | "top_p"
  | "stop"
  | "frequency_penalty"
  | "presence_penalty"
  | "top_logprobs"
  | "text.verbosity"
  | "sampling_while_reasoning"
  | "reasoning"
  | `effort:${ModelEffort}`
  | "summary"
  | "parallel_tool_calls";

export type ModelRow = Omit<Model, "vendor" | "name">;
/** A vendor's models by name. */
export type Rows = Readonly<Record<string, ModelRow>>;

/** The facts that most models share, so that a row has only its own. */
export const THINKS: ModelRow = {
  contextTokens: undefined,
  maxOutputTokens: undefined,
  price: undefined,
  reasoning: true,
  vision: true,
  pdf: true,
  tools: true,
  structured: true,
  refuses: [],
};
export const TALKS: ModelRow = { ...THINKS, reasoning: false, refuses: ["reasoning"] };

export const NO_SAMPLING: readonly RefusedParameter[] = ["temperature", "top_p"];

/** USD per million tokens: input, input from the cache, output. */
export function price(input: number, cached: number | undefined, output: number): Price {
  return { input, cached, output };
}
