/** What an editor sends as a prompt, as a message of ours; and a conversation of ours as what an editor is told. Pure. */

import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item, Message } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { toLocations, toTitle, toToolKind } from "./tool-views.ts";

export function toMessage(prompt: readonly ContentBlock[]): Message {
  return { type: "message", role: "user", content: prompt.map(toPart) } as Message;
}

/** The text that it begins with; empty where it begins with something else. */
export function firstWords(prompt: readonly ContentBlock[]): string {
  const [first] = prompt;
  return first?.type === "text" ? first.text : "";
}

/** The same with other words at its beginning. */
export function withFirstWords(prompt: readonly ContentBlock[], text: string): ContentBlock[] {
  return [{ type: "text", text }, ...prompt.slice(1)];
}

function toPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case "text":
      return { type: "input_text", text: block.text };
    case "image":
      return {
        type: "input_image",
        image_url: `data:${block.mimeType};base64,${block.data}`,
      } as ContentPart;
    case "resource_link":
      return { type: "input_text", text: `[${block.name}](${block.uri})` };
    case "resource": {
      const { resource } = block;
      const text =
        "text" in resource ? resource.text : `(${resource.mimeType ?? "binary"}, not shown)`;
      return { type: "input_text", text: `<file uri="${resource.uri}">\n${text}\n</file>` };
    }
    default:
      return { type: "input_text", text: `[${block.type}: not supported]` };
  }
}

/**
 * The updates that tell a past conversation again, in order. Ids of calls are made anew, because those of model servers
 * repeat; `name` begins them. What files looked like then is not known any more, so there are no differences.
 */
export function* toHistory(
  items: readonly Item[],
  { name, cwd }: { readonly name: string; readonly cwd: string },
): Generator<SessionUpdate> {
  const calls = new Map<string, string>();
  for (const [at, item] of items.entries()) {
    const id = `${name}:${at}`;
    if (item.type === "function_call") calls.set(item.call_id, id);
    const answered = item.type === "function_call_output" ? calls.get(item.call_id) : undefined;
    const update = toPast(item, answered ?? id, cwd);
    if (update) yield update;
  }
}

/** Undefined for what editors have no word for. */
function toPast(item: Item, id: string, cwd: string): SessionUpdate | undefined {
  switch (item.type) {
    case "message":
      if (item.role === "user") return toSaid("user_message_chunk", textOfMessage(item), id);
      if (item.role !== "assistant") return undefined;
      return toSaid("agent_message_chunk", textOfMessage(item), id);
    case "reasoning": {
      const parts = [...(item.content ?? []), ...(item.summary ?? [])];
      return toSaid("agent_thought_chunk", parts.map(textOfPart).join("\n"), id);
    }
    case "function_call":
      return toPastCall(item, id, cwd);
    case "function_call_output":
      return toPastEnd(item, id);
    default:
      return undefined;
  }
}

function toSaid(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  text: string,
  messageId: string,
): SessionUpdate | undefined {
  return text === "" ? undefined : { sessionUpdate, content: { type: "text", text }, messageId };
}

type ItemOf<Kind extends Item["type"]> = Extract<Item, { type: Kind }>;

function toPastCall(
  { name, arguments: given }: ItemOf<"function_call">,
  toolCallId: string,
  cwd: string,
): SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    ...{ toolCallId, name, title: toTitle(name, given), kind: toToolKind(name, given) },
    ...{ status: "completed", rawInput: tryJson(given), locations: toLocations(given, cwd) },
  };
}

function toPastEnd({ output }: ItemOf<"function_call_output">, toolCallId: string): SessionUpdate {
  const text = typeof output === "string" ? output : output.map(textOfPart).join("\n");
  const content = [{ type: "content" as const, content: { type: "text" as const, text } }];
  // That is how the gate begins every text that says what went wrong.
  const status = text.startsWith("Error: ") ? "failed" : "completed";
  return { sessionUpdate: "tool_call_update", toolCallId, status, content };
}

function textOfMessage({ content }: Message): string {
  return typeof content === "string" ? content : content.map(textOfPart).join("\n");
}

export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
