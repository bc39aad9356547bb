/** The parameters that Converse refuses in a request, in the service's words. */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { type AwsCheck, invalid, refusedByModel, unfit } from "./aws-rejection.ts";
import { checkMessages, listOf, membersOf } from "./converse-messages.ts";
import type { ReasoningMemory } from "./reasoning-memory.ts";

/** The request fields of the published API; the model's id is in the path. */
const FIELDS: Readonly<Record<string, readonly string[] | undefined>> = {
  messages: undefined,
  system: undefined,
  inferenceConfig: ["maxTokens", "temperature", "topP", "stopSequences"],
  toolConfig: ["tools", "toolChoice"],
  guardrailConfig: ["guardrailIdentifier", "guardrailVersion", "trace", "streamProcessingMode"],
  additionalModelRequestFields: undefined,
  promptVariables: undefined,
  additionalModelResponseFieldPaths: undefined,
  requestMetadata: undefined,
  performanceConfig: ["latency"],
  serviceTier: ["type"],
  outputConfig: ["textFormat", "effort"],
};
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_CACHE_POINTS = 4;
const SYSTEM_TOOLS = ["nova_grounding", "nova_code_interpreter"];
const TIERS = ["default", "flex", "priority", "reserved"];

export function* checkConverseRequest(body: JsonObject, memory: ReasoningMemory): AwsCheck {
  yield* checkFields(body);
  for (const [at, block] of listOf(body["system"]).entries()) {
    if (typeof block["text"] === "string" && block["text"].trim() === "") {
      yield invalid(`The text field in the SystemContentBlock object at system.${at} is blank.`);
    }
  }
  yield* checkMessages(body["messages"], memory);
  yield* checkInference(body["inferenceConfig"]);
  const { type = "default" } = objectOf(body["serviceTier"]);
  if (!TIERS.includes(String(type))) {
    const rule = `Member must satisfy enum value set: [${TIERS.join(", ")}]`;
    yield unfit(type, "serviceTier.type", rule);
  }
  yield* checkTools(body);
  yield* checkCachePoints(body);
  yield* checkThinking(body);
  yield* checkFormat(body["outputConfig"]);
}

function* checkFields(body: JsonObject): AwsCheck {
  for (const [name, value] of Object.entries(body)) {
    if (!Object.hasOwn(FIELDS, name)) yield extraneous("#", name);
    const inner = FIELDS[name];
    if (!inner || !isJsonObject(value)) continue;
    const unknown = Object.keys(value).find((key) => !inner.includes(key));
    if (unknown !== undefined) yield extraneous(`#/${name}`, unknown);
  }
}

function extraneous(place: string, key: string) {
  return invalid(
    `Malformed input request: ${place}: extraneous key [${key}] is not permitted, please reformat your input and try again.`,
  );
}

function* checkInference(config: Json | undefined): AwsCheck {
  if (!isJsonObject(config)) return;
  yield* checkRange(config, "temperature", [0, 1]);
  yield* checkRange(config, "topP", [0, 1]);
  yield* checkRange(config, "maxTokens", [1, 1e6]);
  const { stopSequences: stops } = config;
  for (const stop of Array.isArray(stops) ? stops : []) {
    if (typeof stop === "string" && stop !== "") continue;
    const rule = "Member must have length greater than or equal to 1";
    yield unfit(stop, "inferenceConfig.stopSequences", rule);
  }
}

function* checkRange(config: JsonObject, name: string, [min, max]: [number, number]): AwsCheck {
  const value = config[name];
  if (value === undefined) return;
  const place = `inferenceConfig.${name}`;
  if (typeof value !== "number") yield unfit(value, place, "Member must be a number");
  else if (value < min)
    yield unfit(value, place, `Member must have value greater than or equal to ${min}`);
  else if (value > max)
    yield unfit(value, place, `Member must have value less than or equal to ${max}`);
}

function* checkTools(body: JsonObject): AwsCheck {
  const { toolConfig, messages } = body;
  const turns = listOf(messages);
  const hasBlocks = turns.some(
    (turn) => membersOf(turn, "toolUse").length + membersOf(turn, "toolResult").length > 0,
  );
  if (!isJsonObject(toolConfig)) {
    if (!hasBlocks) return;
    return yield invalid(
      "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    );
  }
  const specs = listOf(toolConfig["tools"]).flatMap(({ toolSpec }) =>
    isJsonObject(toolSpec) ? [toolSpec] : [],
  );
  const system = listOf(toolConfig["tools"]).flatMap(({ systemTool }) =>
    isJsonObject(systemTool) ? [String(systemTool["name"])] : [],
  );
  for (const name of system.filter((one) => !SYSTEM_TOOLS.includes(one))) {
    yield invalid(`The system tool ${name} is not supported by this model.`);
  }
  if (specs.length + system.length === 0) {
    yield unfit([], "toolConfig.tools", "Member must have length greater than or equal to 1");
  }
  for (const [index, spec] of specs.entries()) yield* checkSpec(spec, index);
  yield* checkChoice(toolConfig["toolChoice"], specs);
}

function* checkSpec({ name, description, inputSchema }: JsonObject, index: number): AwsCheck {
  const place = `toolConfig.tools.${index + 1}.member.toolSpec`;
  if (!NAME.test(String(name))) {
    const rule = "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+";
    yield unfit(name, `${place}.name`, rule);
  }
  if (description === "") {
    yield unfit("", `${place}.description`, "Member must have length greater than or equal to 1");
  }
  const schema = isJsonObject(inputSchema) ? inputSchema["json"] : undefined;
  if (isJsonObject(schema) && schema["type"] === "object") return;
  yield invalid(
    `The value at ${place}.inputSchema.json.type must be one of the following: object.`,
  );
}

function* checkChoice(choice: Json | undefined, specs: readonly JsonObject[]): AwsCheck {
  if (!isJsonObject(choice)) return;
  const [kind = ""] = Object.keys(choice);
  if (!["auto", "any", "tool"].includes(kind)) yield extraneous("#/toolConfig/toolChoice", kind);
  const named = choice["tool"];
  if (!isJsonObject(named) || specs.some(({ name }) => name === named["name"])) return;
  yield invalid(`The tool ${String(named["name"])} of toolConfig.toolChoice is not in its tools.`);
}

function* checkCachePoints(body: JsonObject): AwsCheck {
  const points = JSON.stringify(body).split('"cachePoint":').length - 1;
  if (points <= MAX_CACHE_POINTS) return;
  yield refusedByModel(
    `A maximum of ${MAX_CACHE_POINTS} blocks with cache_control may be provided. Found ${points}.`,
  );
}

/** The parameters that Claude refuses in addition when thinking is enabled. */
function* checkThinking(body: JsonObject): AwsCheck {
  const fields = objectOf(body["additionalModelRequestFields"]);
  const { type, budget_tokens: budget } = objectOf(fields["thinking"]);
  if (type !== "enabled") return;
  const { maxTokens, temperature } = objectOf(body["inferenceConfig"]);
  if (typeof budget !== "number" || budget < 1024) {
    yield refusedByModel(
      "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    );
  } else if (typeof maxTokens === "number" && maxTokens <= budget) {
    yield refusedByModel("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  if (temperature !== undefined && temperature !== 1) {
    yield refusedByModel("`temperature` may only be set to 1 when thinking is enabled.");
  }
  const choice = objectOf(objectOf(body["toolConfig"])["toolChoice"]);
  if ("any" in choice || "tool" in choice) {
    yield refusedByModel("Thinking may not be enabled when tool_choice forces tool use.");
  }
}

function* checkFormat(config: Json | undefined): AwsCheck {
  const { textFormat } = objectOf(config);
  if (textFormat === undefined) return;
  const { type, structure } = objectOf(textFormat);
  if (type !== "json_schema") {
    yield unfit(
      type,
      "outputConfig.textFormat.type",
      "Member must satisfy enum value set: [json_schema]",
    );
  }
  const { schema } = objectOf(objectOf(structure)["jsonSchema"]);
  const parsed = typeof schema === "string" ? tryParseJson(schema) : undefined;
  if (!isJsonObject(parsed)) {
    return yield invalid("The schema at outputConfig.textFormat.structure.jsonSchema is not JSON.");
  }
  if (!hasOpenObject(parsed)) return;
  yield refusedByModel(
    "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
  );
}

/** Only closed objects can be checked against their schema. */
function hasOpenObject(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.some(hasOpenObject);
  if (!isJsonObject(schema)) return false;
  if (schema["type"] === "object" && schema["additionalProperties"] !== false) return true;
  return Object.values(schema).some(hasOpenObject);
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
