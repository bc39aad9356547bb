/** The parameters that the service refuses in a request, in its words. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { type ContentsContext, checkContent, checkContents, toSnake } from "./gemini-contents.ts";
import {
  type GeminiCheck,
  invalidArgument,
  invalidField,
  unknownName,
} from "./gemini-rejection.ts";
import { checkTools } from "./gemini-tools.ts";

const FIELDS: Readonly<Record<string, readonly string[] | undefined>> = {
  contents: undefined,
  systemInstruction: undefined,
  tools: undefined,
  toolConfig: ["functionCallingConfig", "retrievalConfig", "includeServerSideToolInvocations"],
  safetySettings: undefined,
  generationConfig: [
    "candidateCount",
    "enableEnhancedCivicAnswers",
    "frequencyPenalty",
    "imageConfig",
    "logprobs",
    "maxOutputTokens",
    "mediaResolution",
    "presencePenalty",
    "responseFormat",
    "responseJsonSchema",
    "responseLogprobs",
    "responseMimeType",
    "responseModalities",
    "responseSchema",
    "seed",
    "speechConfig",
    "stopSequences",
    "temperature",
    "thinkingConfig",
    "topK",
    "topP",
  ],
  cachedContent: undefined,
  continuationToken: undefined,
  labels: undefined,
  model: undefined,
  serviceTier: undefined,
  store: undefined,
};

export function* checkGeminiRequest(body: JsonObject, context: ContentsContext): GeminiCheck {
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(FIELDS, name)) yield unknownName(name, "");
    const fields = FIELDS[name];
    if (fields && isJsonObject(value)) yield* checkFields(value, fields, toSnake(name));
  }
  yield* checkContents(body["contents"], context);
  const { systemInstruction: system, tools } = body as { systemInstruction?: Json; tools?: Json };
  if (system !== undefined) yield* checkContent(system, "system_instruction");
  yield* checkTools(body, context.model);
  yield* checkTier(body["serviceTier"]);
  const config = body["generationConfig"];
  if (!isJsonObject(config)) return;
  yield* checkNumbers(config);
  yield* checkWishes(config);
  yield* checkFormat(config, tools, context.model);
  yield* checkThinking(config["thinkingConfig"], context.model);
}

export function* checkFields(
  object: JsonObject,
  known: readonly string[],
  place: string,
): GeminiCheck {
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) yield unknownName(name, place);
  }
}

const RANGES: Readonly<Record<string, readonly [min: number, max: number]>> = {
  temperature: [0, 2],
  topP: [0, 1],
  maxOutputTokens: [1, 1_048_576],
  frequencyPenalty: [-2, 2],
  presencePenalty: [-2, 2],
  logprobs: [0, 20],
};

function* checkNumbers(config: JsonObject): GeminiCheck {
  for (const [name, [min, max]] of Object.entries(RANGES)) {
    const value = config[name];
    const field = `generation_config.${toSnake(name)}`;
    if (value === undefined) continue;
    if (typeof value !== "number") {
      yield invalidArgument(`Invalid value at '${field}' (TYPE_FLOAT), ${JSON.stringify(value)}`);
    } else if (value < min || value > max) {
      yield invalidField(field, `${toSnake(name)} must be in the range [${min}, ${max}].`);
    }
  }
}

const TIERS = ["unspecified", "flex", "standard", "priority"];

function* checkTier(tier: Json | undefined): GeminiCheck {
  if (tier === undefined || TIERS.includes(String(tier))) return;
  yield invalidArgument(`Invalid value at 'service_tier', ${JSON.stringify(tier)}`);
}

const MAX_STOPS = 5;

function* checkWishes({ stopSequences, logprobs, responseLogprobs }: JsonObject): GeminiCheck {
  if (Array.isArray(stopSequences) && stopSequences.length > MAX_STOPS) {
    const field = "generation_config.stop_sequences";
    yield invalidField(field, `at most ${MAX_STOPS} stop sequences are allowed.`);
  }
  if (logprobs !== undefined && responseLogprobs !== true) {
    yield invalidField("generation_config.logprobs", "response_logprobs must be true.");
  }
}

function* checkFormat(config: JsonObject, tools: Json | undefined, model: string): GeminiCheck {
  const { responseMimeType, responseJsonSchema, responseSchema } = config as Record<string, Json>;
  const isJson = responseMimeType === "application/json";
  if ((responseJsonSchema || responseSchema) && !isJson) {
    yield invalidArgument(
      `Response schema with a response mime type: '${String(responseMimeType ?? "text/plain")}' is unsupported`,
    );
  }
  if (responseJsonSchema && responseSchema) {
    yield invalidArgument("Only one of response_schema and response_json_schema may be set.");
  }
  const hasFunctions = JSON.stringify(tools ?? []).includes('"functionDeclarations"');
  if (isJson && hasFunctions && /gemini-[12]/.test(model)) {
    yield invalidArgument(
      "Function calling with a response mime type: 'application/json' is unsupported",
    );
  }
}

function* checkThinking(config: Json | undefined, model: string): GeminiCheck {
  if (!isJsonObject(config)) return;
  yield* checkFields(
    config,
    ["includeThoughts", "thinkingBudget", "thinkingLevel"],
    "generation_config.thinking_config",
  );
  const { thinkingBudget: budget, thinkingLevel: level } = config as Record<string, Json>;
  if (budget !== undefined && level !== undefined) {
    yield invalidArgument("You can only set one of thinking budget and thinking level.");
  }
  if (/gemini-(1|2\.0)/.test(model)) {
    yield invalidArgument(
      "Unable to submit request because thinking is not supported by this model.",
    );
  }
  if (level !== undefined && /gemini-2/.test(model)) {
    yield invalidArgument("Thinking level is not supported for this model.");
  }
  if (typeof budget === "number") yield* checkBudget(budget, model);
  if (level === "MINIMAL" && /gemini-3.*pro|gemini-(3\.[6-9]|[4-9])/.test(model)) {
    yield invalidArgument("Thinking level MINIMAL is not supported for this model.");
  }
}

function* checkBudget(budget: number, model: string): GeminiCheck {
  if (/gemini-4/.test(model)) {
    yield invalidArgument("Thinking budget is not supported for this model.");
  }
  const isPro = model.includes("pro");
  if (budget === 0 && isPro) {
    yield invalidArgument("Budget 0 is invalid. This model only works in thinking mode.");
  }
  const [min, max] = isPro ? [128, 32_768] : [0, 24_576];
  if (budget !== -1 && (budget < min || budget > max)) {
    yield invalidArgument(
      `The thinking budget ${budget} is invalid. Please choose a value between ${min} and ${max}.`,
    );
  }
}
