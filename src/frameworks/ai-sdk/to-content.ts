/** Converts a response to the AI SDK's content. Pure. */

import type { Json, JsonObject } from "../../base/json.ts";
import { listOf, recordOf, textOf } from "../ask-server.ts";
import { type Content, type Finish, toMetadata } from "./language-model.ts";

/** The framework's parts for an item of the output. `stream-parts.ts` converts deltas of texts. */
export function toContent(item: JsonObject): Content[] {
  switch (item["type"]) {
    case "message":
      return listOf(item["content"]).flatMap(toTextAndSources);
    case "reasoning":
      return [{ type: "reasoning", text: toThought(item), providerMetadata: toMetadata({ item }) }];
    case "function_call":
      return [toCall(item)];
    case "mcp_approval_request":
      return toQuestion(item);
    default:
      return toServerCall(item);
  }
}

/** The parts of an item except its texts, which a stream has sent already. */
export function toUntold(item: JsonObject): Exclude<Content, { type: "text" | "reasoning" }>[] {
  return toContent(item).flatMap((part) =>
    part.type === "text" || part.type === "reasoning" ? [] : [part],
  );
}

function toTextAndSources(part: JsonObject): Content[] {
  const text = textOf(part["text"]) || textOf(part["refusal"]);
  const sources = listOf(part["annotations"]).flatMap((note): Content[] =>
    note["type"] === "url_citation" ? [toSource(note)] : [],
  );
  return [{ type: "text", text }, ...sources];
}

function toSource({ url, title }: JsonObject): Content {
  const address = textOf(url);
  return {
    type: "source",
    sourceType: "url",
    id: address,
    url: address,
    ...(typeof title === "string" ? { title } : {}),
  };
}

function toThought({ summary, content }: JsonObject): string {
  const parts = [...listOf(summary), ...listOf(content)];
  return parts.map(({ text }) => textOf(text)).join("\n\n");
}

function toCall({ call_id, name, arguments: input }: JsonObject): Content {
  return {
    type: "tool-call",
    toolCallId: textOf(call_id),
    toolName: textOf(name),
    input: textOf(input),
  };
}

/** A call that waits for the user, who answers through the framework. */
function toQuestion(item: JsonObject): Content[] {
  const id = textOf(item["id"]);
  return [
    {
      type: "tool-call",
      toolCallId: id,
      toolName: textOf(item["name"]),
      input: textOf(item["arguments"]),
      providerExecuted: true,
      dynamic: true,
      providerMetadata: toMetadata({ item }),
    },
    { type: "tool-approval-request", approvalId: id, toolCallId: id },
  ];
}

/** Fields that identify an item and are not part of its result. */
const NAMING: ReadonlySet<string> = new Set(["type", "id", "name", "arguments", "server_label"]);

/** A call that the server has made itself. Pictures are files, too. */
function toServerCall(item: JsonObject): Content[] {
  const type = textOf(item["type"]);
  const toolCallId = textOf(item["id"]);
  const toolName = textOf(item["name"]) || type.replace(/_call$/, "");
  const result = Object.fromEntries(Object.entries(item).filter(([name]) => !NAMING.has(name)));
  const isError = isSet(item["error"]) || item["status"] === "failed";
  return [
    {
      type: "tool-call",
      toolCallId,
      toolName,
      input: textOf(item["arguments"]) || JSON.stringify(item["action"] ?? {}),
      providerExecuted: true,
      dynamic: true,
    },
    {
      type: "tool-result",
      toolCallId,
      toolName,
      result: result as Record<string, never>,
      ...(isError ? { isError } : {}),
      dynamic: true,
      providerMetadata: toMetadata({ item }),
    },
    ...toPicture(type, item["result"]),
  ];
}

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

function toPicture(type: string, result: Json | undefined): Content[] {
  if (type !== "image_generation_call" || typeof result !== "string") return [];
  return [{ type: "file", mediaType: "image/png", data: { type: "data", data: result } }];
}

export function toFinish(response: JsonObject): Finish {
  const { usage, id } = response;
  const { input_tokens, output_tokens, ...details } = recordOf(usage);
  const input = recordOf(details["input_tokens_details"]);
  const output = recordOf(details["output_tokens_details"]);
  const cacheRead = countOf(input["cached_tokens"]);
  const cacheWrite = countOf(input["cache_write_tokens"]);
  const reasoning = countOf(output["reasoning_tokens"]);
  const total = countOf(input_tokens);
  const all = countOf(output_tokens);
  return {
    finishReason: toReason(response),
    usage: {
      inputTokens: { total, noCache: minus(total, cacheRead, cacheWrite), cacheRead, cacheWrite },
      outputTokens: { total: all, text: minus(all, reasoning), reasoning },
    },
    providerMetadata: toMetadata({ responseId: textOf(id) }),
  };
}

function countOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function minus(from: number | undefined, ...parts: (number | undefined)[]): number | undefined {
  if (from === undefined) return undefined;
  return parts.reduce<number>((rest, part) => rest - (part ?? 0), from);
}

function toReason(response: JsonObject): Finish["finishReason"] {
  const output = listOf(response["output"]);
  const raw =
    textOf(recordOf(response["incomplete_details"])["reason"]) || textOf(response["status"]);
  if (raw === "max_output_tokens") return { unified: "length", raw };
  if (raw === "content_filter" || output.some(isRefusal)) return { unified: "content-filter", raw };
  if (raw === "failed") return { unified: "error", raw };
  if (output.some(({ type }) => type === "function_call")) return { unified: "tool-calls", raw };
  return { unified: raw === "completed" ? "stop" : "other", raw };
}

function isRefusal({ content }: JsonObject): boolean {
  return listOf(content).some(({ type }) => type === "refusal");
}
