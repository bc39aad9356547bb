/** Encodes a model request as a body of Cohere's chat API. */

import type { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { omittedMarks } from "../cache-marks.ts";
import { JSON_RULE, mentionsJson, toSchemaRule } from "../json-rule.ts";
import type { OptionName } from "../known-options.ts";
import { type ModelRequest, type ReasoningOptions, TEXT_FORMAT } from "../provider.ts";
import { type Quirks, toBody } from "../wire.ts";
import { encodeMessages } from "./messages.ts";
import { toOutputSchema } from "./output-schema.ts";
import type { CohereFormat, CohereRequest, CohereThinking } from "./schema.ts";
import { encodeTools, toFunctions } from "./tools.ts";

export const OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  "stop",
  "frequency_penalty",
  "presence_penalty",
]);

/** The parameters that the body leaves out. */
export function omitsOf(request: ModelRequest): string[] {
  const { tools, parallel_tool_calls, options } = request;
  const isPenalizedTwice =
    options?.frequency_penalty !== undefined && options.presence_penalty !== undefined;
  return [
    ...(tools.length > 0 && parallel_tool_calls === false ? ["parallel_tool_calls"] : []),
    ...(isPenalizedTwice ? ["presence_penalty"] : []),
    ...omittedMarks(request),
  ];
}

export function encodeRequest(request: ModelRequest, quirks: Quirks): JsonObject {
  return toBody(toRequest(request), quirks);
}

function toRequest(request: ModelRequest): CohereRequest {
  const { model, max_output_tokens, temperature, top_p, options, whole = false } = request;
  const functions = toFunctions(request);
  const { format, rule } = encodeFormat(request, functions.length > 0);
  const instructions = [request.instructions, rule].filter(Boolean).join("\n\n");
  return {
    model,
    messages: encodeMessages(instructions, request.items),
    stream: !whole,
    ...encodeTools(functions, request),
    response_format: format,
    thinking: encodeThinking(request),
    max_tokens: max_output_tokens,
    temperature,
    // 1, which cuts nothing off, is outside of the API's range; so is 0.
    p: top_p === undefined ? undefined : Math.min(0.99, Math.max(0.01, top_p)),
    stop_sequences: options?.stop,
    frequency_penalty: options?.frequency_penalty,
    // Newer models refuse both at once.
    presence_penalty:
      options?.frequency_penalty === undefined ? options?.presence_penalty : undefined,
  };
}

/**
 * Relaxes a request after a refusal that can be avoided. A model that cannot think refuses an effort; some
 * models cannot be forced to call a tool, and none supports every schema. Constraints that the vendor no
 * longer enforces are still checked here.
 */
export function relaxRequest(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (failure.code !== "provider_rejected") return undefined;
  const { reasoning, tools } = request;
  const isAbout = (words: RegExp): boolean => words.test(failure.message);
  if (reasoning.effort !== undefined && isAbout(/thinking/i)) {
    return { ...request, reasoning: { ...reasoning, effort: undefined } };
  }
  const isStrict = tools.some((tool) => tool.type === "function" && tool.strict);
  if (isStrict && isAbout(/strict|schema/i)) {
    const relaxed = tools.map((tool) =>
      tool.type === "function" ? { ...tool, strict: false } : tool,
    );
    return { ...request, tools: relaxed };
  }
  return relaxFormat(request, isAbout);
}

/** First without the schema, then without a format: the API refuses both if there are documents. */
function relaxFormat(
  request: ModelRequest,
  isAbout: (words: RegExp) => boolean,
): ModelRequest | undefined {
  const { format, instructions } = request;
  if (format.type === "text" || !isAbout(/schema|response_format/i)) return undefined;
  const isSchema = format.type === "json_schema";
  const rule = isSchema ? toSchemaRule(format) : JSON_RULE;
  return {
    ...request,
    instructions: [instructions, rule].filter(Boolean).join("\n\n"),
    format: isSchema && isAbout(/schema/i) ? { type: "json_object" } : TEXT_FORMAT,
  };
}

interface Formatted {
  readonly format: CohereFormat | undefined;
  /** The rule for the answer's format that goes into the instructions. */
  readonly rule: string | undefined;
}

/** With tools the API refuses any format, so the instructions describe it. The answer is checked anyway. */
function encodeFormat({ format, instructions, items }: ModelRequest, hasTools: boolean): Formatted {
  if (format.type === "text") return { format: undefined, rule: undefined };
  const plain = hasTools ? undefined : ({ type: "json_object" } as const);
  // Without a description in the prompt, the model may write white space forever.
  const word = mentionsJson(instructions, items) ? undefined : JSON_RULE;
  if (format.type === "json_object") return { format: plain, rule: word };
  const json_schema = plain && toOutputSchema(format.schema);
  if (json_schema) return { format: { type: "json_object", json_schema }, rule: word };
  return { format: plain, rule: toSchemaRule(format) };
}

type Asked = NonNullable<ReasoningOptions["effort"]>;

/** Thinking budgets in tokens. The vendor advises against a limit, so from `high` on there is none. */
const BUDGETS: Readonly<Partial<Record<Asked, number>>> = {
  minimal: 1024,
  low: 4096,
  medium: 10_240,
};
/** The vendor's advice on what to leave for the answer itself, which shares the limit. */
const ANSWER_TOKENS = 1000;

function encodeThinking({
  reasoning: { effort },
  max_output_tokens = Number.POSITIVE_INFINITY,
}: ModelRequest): CohereThinking | undefined {
  if (effort === undefined) return undefined;
  if (effort === "none") return { type: "disabled" };
  const wanted = BUDGETS[effort];
  if (wanted === undefined) return { type: "enabled" };
  const token_budget = Math.max(1, Math.min(wanted, max_output_tokens - ANSWER_TOKENS));
  return { type: "enabled", token_budget };
}
