/** Converts a call of the AI SDK to a request of the Responses API. Pure. */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { recordOf, withoutUndefined } from "../ask-server.ts";
import type {
  CallOptions,
  OfferedTool,
  PromptMessage,
  PromptPart,
  Warning,
} from "./language-model.ts";

export interface ToRequest {
  readonly body: JsonObject;
  /** Options that the server does not support. */
  readonly warnings: Warning[];
}

/** `base` has fields for every request of this model; those of the call's `providerOptions.offshoot` win. */
export function toRequest(model: string, options: CallOptions, base: JsonObject): ToRequest {
  const { tools: baseTools, ...fields } = base;
  const { tools: ownTools, ...own } = recordOf(options.providerOptions?.["offshoot"] as Json);
  const tools = [...toList(baseTools), ...toList(ownTools), ...(options.tools ?? []).map(toTool)];
  const body = {
    ...fields,
    ...withoutUndefined({
      model,
      input: options.prompt.flatMap(toItems),
      tools: tools.length === 0 ? undefined : tools,
      tool_choice: toChoice(options.toolChoice),
      text: toFormat(options.responseFormat),
      max_output_tokens: options.maxOutputTokens,
      temperature: options.temperature,
      top_p: options.topP,
      top_k: options.topK,
      presence_penalty: options.presencePenalty,
      frequency_penalty: options.frequencyPenalty,
      seed: options.seed,
      reasoning: toReasoning(options.reasoning),
    }),
    ...own,
  };
  const hasStops = (options.stopSequences ?? []).length > 0;
  return { body, warnings: hasStops ? [{ type: "unsupported", feature: "stopSequences" }] : [] };
}

function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/**
 * A tool of the framework is a function of the client. A provider's tool is one of the API's own:
 * `offshoot.web_search`.
 */
function toTool(tool: OfferedTool): Json {
  if (tool.type === "provider") {
    return { type: tool.id.slice(tool.id.indexOf(".") + 1), ...(tool.args as JsonObject) };
  }
  const { name, description, inputSchema: parameters, strict = false } = tool;
  return withoutUndefined({ type: "function", name, description, parameters, strict });
}

function toChoice(choice: CallOptions["toolChoice"]): Json | undefined {
  if (choice === undefined) return undefined;
  return choice.type === "tool" ? { type: "function", name: choice.toolName } : choice.type;
}

function toFormat(format: CallOptions["responseFormat"]): JsonObject | undefined {
  if (format?.type !== "json") return undefined;
  if (format.schema === undefined) return { format: { type: "json_object" } };
  const { name = "answer", description, schema } = format;
  return {
    format: withoutUndefined({ type: "json_schema", name, description, schema, strict: true }),
  };
}

function toReasoning(effort: string | undefined): JsonObject | undefined {
  return effort === undefined || effort === "provider-default" ? undefined : { effort };
}

function toItems({ role, content }: PromptMessage): readonly Json[] {
  if (typeof content === "string") return [{ type: "message", role, content }];
  switch (role) {
    case "system":
    case "user":
      return [{ type: "message", role, content: content.map(toInput) }];
    case "assistant":
      return content.flatMap(toOutputItem);
    case "tool":
      return content.map(toResultItem);
  }
}

function toInput(part: PromptPart): JsonObject {
  if (part.type === "text") return { type: "input_text", text: part.text ?? "" };
  const { mediaType = "application/octet-stream", filename } = part;
  const data = toFileData(part.data, mediaType);
  if (data.text !== undefined) return { type: "input_text", text: data.text };
  if (mediaType.startsWith("image/")) {
    const { url: image_url, fileId: file_id } = data;
    return withoutUndefined({ type: "input_image", image_url, file_id, detail: "auto" });
  }
  const isInline = data.url?.startsWith("data:");
  return withoutUndefined({
    type: "input_file",
    filename: filename ?? (isInline ? "file" : undefined),
    file_data: isInline ? data.url : undefined,
    file_url: isInline ? undefined : data.url,
    file_id: data.fileId,
  });
}

interface FileData {
  readonly url?: string | undefined;
  readonly fileId?: string | undefined;
  readonly text?: string | undefined;
}

/** Files come as bytes or base64, by address, by the server's id for them, or as plain text. */
function toFileData(given: unknown, mediaType: string): FileData {
  const { type, data, url, reference, text } = given as Record<string, unknown>;
  switch (type) {
    case "url":
      return { url: String(url) };
    case "text":
      return { text: String(text) };
    case "reference":
      return { fileId: (reference as Record<string, string>)["offshoot"] };
    default: {
      const base64 =
        typeof data === "string" ? data : Buffer.from(data as Uint8Array).toString("base64");
      return { url: `data:${mediaType};base64,${base64}` };
    }
  }
}

/** The model's earlier output. Items that came from the server are sent back unchanged. */
function toOutputItem(part: PromptPart): readonly Json[] {
  const kept = recordOf(part.providerOptions?.["offshoot"] as Json)["item"];
  if (isJsonObject(kept)) return [kept];
  if (part.type === "text") {
    const content = [{ type: "output_text", text: part.text ?? "", annotations: [] }];
    return [{ type: "message", role: "assistant", content }];
  }
  // Its result contains the item, and is sent back in its place.
  if (part.type !== "tool-call" || part.providerExecuted) return [];
  const { toolCallId = "", toolName = "", input } = part;
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
  return [{ type: "function_call", call_id: toolCallId, name: toolName, arguments: text }];
}

function toResultItem(part: PromptPart): JsonObject {
  if (part.type === "tool-approval-response") {
    const { approvalId: approval_request_id, approved: approve, reason } = part;
    return withoutUndefined({
      type: "mcp_approval_response",
      approval_request_id,
      approve,
      reason,
    });
  }
  const output = toResult(part.output as ToolResult);
  return { type: "function_call_output", call_id: part.toolCallId ?? "", output };
}

interface ToolResult {
  readonly type: string;
  readonly value?: unknown;
  readonly reason?: string;
}

function toResult({ type, value, reason }: ToolResult): Json {
  switch (type) {
    case "text":
    case "error-text":
      return String(value);
    case "execution-denied":
      return reason ?? "The user did not allow this call.";
    case "content":
      return (value as PromptPart[]).flatMap((part) =>
        part.type === "custom" ? [] : [toInput(part)],
      );
    default:
      return JSON.stringify(value ?? null);
  }
}
