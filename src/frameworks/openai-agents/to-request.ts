/** Converts a request of the Agents SDK to one of the Responses API. Pure. */

import { asJson, asJsonObject, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { withoutUndefined } from "../ask-server.ts";
import type {
  AgentsHandoff,
  AgentsItem,
  AgentsRequest,
  AgentsSettings,
  AgentsTool,
} from "./model-types.ts";

/** The name under which a server's item is kept beside the framework's form of it. */
export const ITEM = "offshoot_item";

/** `base` has fields for every request of this model. */
export function toRequest(
  model: string | undefined,
  request: AgentsRequest,
  base: JsonObject,
): JsonObject {
  const { modelSettings: settings, prompt, conversationId, previousResponseId } = request;
  const { tools: baseTools, ...fields } = base;
  const own = Array.isArray(baseTools) ? baseTools : [];
  const tools = [...own, ...request.tools.map(toTool), ...request.handoffs.map(toHandoff)];
  return {
    ...fields,
    ...withoutUndefined({
      // A prompt may name its model.
      model: prompt && !request.overridePromptModel ? undefined : model,
      instructions: request.systemInstructions ?? fields["instructions"],
      input: typeof request.input === "string" ? request.input : request.input.map(toItem),
      tools: tools.length === 0 ? undefined : tools,
      tool_choice: toChoice(settings.toolChoice),
      parallel_tool_calls: tools.length === 0 ? undefined : settings.parallelToolCalls,
      text: toText(request),
      conversation: conversationId,
      previous_response_id: conversationId === undefined ? previousResponseId : undefined,
      prompt: prompt && toPrompt(prompt),
      ...toSampling(settings),
    }),
    ...(settings.providerData as JsonObject | undefined),
  };
}

function toSampling(settings: AgentsSettings): Readonly<Record<string, unknown>> {
  return {
    temperature: settings.temperature,
    top_p: settings.topP,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    truncation: settings.truncation,
    max_output_tokens: settings.maxTokens,
    store: settings.store,
    reasoning: settings.reasoning,
  };
}

function toPrompt({
  promptId,
  version,
  variables,
}: NonNullable<AgentsRequest["prompt"]>): JsonObject {
  return withoutUndefined({ id: promptId, version, variables });
}

function toText({ outputType, modelSettings }: AgentsRequest): JsonObject | undefined {
  const text = modelSettings.text as JsonObject | undefined;
  if (outputType === "text") return text;
  return { ...text, format: asJson(outputType) };
}

const PLAIN_CHOICES: ReadonlySet<string> = new Set(["auto", "required", "none"]);

function toChoice(choice: string | undefined): Json | undefined {
  if (choice === undefined || PLAIN_CHOICES.has(choice)) return choice;
  return { type: "function", name: choice };
}

/** The framework runs functions; the server runs tools of the API. */
function toTool({
  type,
  name,
  description,
  parameters,
  strict,
  providerData,
}: AgentsTool): JsonObject {
  if (type === "function") {
    return withoutUndefined({ type, name, description, parameters, strict });
  }
  if (type === "hosted_tool" && providerData) return providerData as JsonObject;
  throw new Error(
    `The tool \`${name}\` (${type}) does not work with this model. Use the SDK's own OpenAIProvider with the \`fetch\` of the server.`,
  );
}

function toHandoff(handoff: AgentsHandoff): JsonObject {
  return {
    type: "function",
    name: handoff.toolName,
    description: handoff.toolDescription,
    parameters: handoff.inputJsonSchema as Json,
    strict: handoff.strictJsonSchema,
  };
}

function toItem(item: AgentsItem): JsonObject {
  const kept = item.providerData?.[ITEM];
  if (isJsonObject(kept)) return kept;
  switch (item.type ?? "message") {
    case "message":
      return toMessage(item);
    case "function_call":
      return withoutUndefined({
        type: "function_call",
        call_id: item.callId,
        name: item.name,
        arguments: item.arguments,
      });
    case "function_call_result":
      return withoutUndefined({
        type: "function_call_output",
        call_id: item.callId,
        output: toResult(item.output),
      });
    case "compaction":
      return asJsonObject(item);
    case "unknown":
      return (item.providerData ?? {}) as JsonObject;
    default:
      throw new Error(`An item of type \`${String(item.type)}\` does not work with this model.`);
  }
}

function toMessage({ role = "user", content }: AgentsItem): JsonObject {
  const parts = Array.isArray(content) ? content.map(toPart) : String(content ?? "");
  return { type: "message", role, content: parts };
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly image?: string | { readonly id?: string; readonly url?: string };
  readonly file?: string | { readonly id?: string; readonly url?: string };
  readonly detail?: string;
  readonly filename?: string;
}

function toPart({ type, text, refusal, image, file, detail, filename }: Part): JsonObject {
  switch (type) {
    case "text":
    case "input_text":
      return { type: "input_text", text: text ?? "" };
    case "output_text":
      return { type, text: text ?? "", annotations: [] };
    case "refusal":
      return { type, refusal: refusal ?? "" };
    case "image":
    case "input_image":
      return withoutUndefined({
        type: "input_image",
        image_url: addressOf(image),
        file_id: idOf(image),
        detail: detail ?? "auto",
      });
    case "file":
    case "input_file": {
      const address = addressOf(file);
      const isInline = address?.startsWith("data:");
      return withoutUndefined({
        type: "input_file",
        filename: filename ?? (isInline ? "file" : undefined),
        file_data: isInline ? address : undefined,
        file_url: isInline ? undefined : address,
        file_id: idOf(file),
      });
    }
    default:
      throw new Error(`Content of type \`${type}\` does not work with this model.`);
  }
}

type Given = Part["image"];

function addressOf(given: Given): string | undefined {
  return typeof given === "string" ? given : given?.url;
}

function idOf(given: Given): string | undefined {
  return typeof given === "string" ? undefined : given?.id;
}

function toResult(output: unknown): Json {
  if (typeof output === "string") return output;
  const parts = (Array.isArray(output) ? output : [output]) as Part[];
  return parts.map(toPart);
}
