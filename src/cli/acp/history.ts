/**
 * Turns a past conversation into updates for an editor that opens its session again: the same ones as those that it
 * got when they happened, as far as the conversation says them. Pure.
 */

import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { isDelegating } from "../../delegation/tools/names.ts";
import type { Item, Message } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { tryJson } from "./prompt-items.ts";
import { toDiff, toLocations, toTitle, toToolKind } from "./tool-views.ts";

/**
 * The updates that show a past conversation again, in order. Calls get new ids that begin with `name`, because model
 * servers repeat theirs. The earlier content of files is not known any more: the diff of an edit has only the replaced
 * text, and that of a file written as a whole has no earlier text.
 */
export function* toHistory(
  items: readonly Item[],
  { name, cwd }: { readonly name: string; readonly cwd: string },
): Generator<SessionUpdate> {
  const calls = new Map<string, PastCall>();
  for (const [at, item] of items.entries()) {
    const id = `${name}:${at}`;
    switch (item.type) {
      case "message":
        yield* toSaid(item, id);
        break;
      case "reasoning": {
        const parts = [...(item.content ?? []), ...(item.summary ?? [])];
        const text = parts.map(textOfPart).join("\n");
        if (text !== "") yield toChunk("agent_thought_chunk", { type: "text", text }, id);
        break;
      }
      case "function_call":
        calls.set(item.call_id, { id, tool: item.name });
        yield isDelegating(item.name) ? toPastChild(item, id) : toPastCall(item, id, cwd);
        break;
      case "function_call_output":
        yield toPastEnd(item, calls.get(item.call_id) ?? { id, tool: "" });
        break;
      default:
      // Editors cannot show the other kinds.
    }
  }
}

/** A call under the id that the editor has. */
interface PastCall {
  readonly id: string;
  readonly tool: string;
}

function* toSaid({ role, content }: Message, id: string): Generator<SessionUpdate> {
  if (role !== "user" && role !== "assistant") return;
  const kind = role === "user" ? "user_message_chunk" : "agent_message_chunk";
  if (role === "assistant" || typeof content === "string") {
    const text = typeof content === "string" ? content : content.map(textOfPart).join("\n");
    if (text !== "") yield toChunk(kind, { type: "text", text }, id);
    return;
  }
  for (const part of content) {
    const block = toBlock(part);
    if (block) yield toChunk(kind, block, id);
  }
}

const PICTURE = /^data:([\w.+/-]+);base64,(.*)$/s;

/** Undefined for a part that editors cannot show. */
function toBlock(part: object): ContentBlock | undefined {
  const text = textOfPart(part);
  if (text !== undefined) return text === "" ? undefined : { type: "text", text };
  const url = "image_url" in part ? part.image_url : undefined;
  if (typeof url !== "string") return undefined;
  const [, mimeType, data] = PICTURE.exec(url) ?? [];
  if (mimeType !== undefined && data !== undefined) return { type: "image", mimeType, data };
  return { type: "resource_link", name: clip(url, 200), uri: url };
}

function toChunk(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  content: ContentBlock,
  messageId: string,
): SessionUpdate {
  return { sessionUpdate, content, messageId };
}

type ItemOf<Kind extends Item["type"]> = Extract<Item, { type: Kind }>;

function toPastCall(
  { name, arguments: given }: ItemOf<"function_call">,
  toolCallId: string,
  cwd: string,
): SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    name,
    title: toTitle(name, given),
    kind: toToolKind(name, given),
    status: "completed",
    rawInput: tryJson(given),
    locations: toLocations(given, cwd),
    content: toDiff({ name, arguments: given }, cwd, undefined),
  };
}

/** The conversation has no ids of the runs of subagents: all that one call started is shown as one. */
function toPastChild(
  { arguments: given }: ItemOf<"function_call">,
  toolCallId: string,
): SessionUpdate {
  const labels = readLabels(tryParseJson(given)).map((label) => clip(label, 80));
  const title = clip(`subagent ${labels.join(", ")}`, 200);
  return { sessionUpdate: "tool_call", toolCallId, title, kind: "think", status: "completed" };
}

function readLabels(given: unknown): string[] {
  if (!isJsonObject(given)) return [];
  const { label, tasks } = given;
  if (Array.isArray(tasks)) return tasks.flatMap(readLabels);
  return typeof label === "string" ? [label] : [];
}

function toPastEnd(
  { output }: ItemOf<"function_call_output">,
  { id: toolCallId, tool }: PastCall,
): SessionUpdate {
  const text = typeof output === "string" ? output : output.map(textOfPart).join("\n");
  // The gate begins every text about a failure this way.
  const status = text.startsWith("Error: ") ? "failed" : "completed";
  const end = { sessionUpdate: "tool_call_update" as const, toolCallId, status } as const;
  // The change was shown with the call; a content would replace the diff.
  if (!isDelegating(tool)) return { ...end, rawOutput: text };
  return { ...end, content: [{ type: "content", content: { type: "text", text } }] };
}
