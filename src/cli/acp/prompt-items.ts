/** What an editor sends as a prompt, as a message of ours; and a conversation of ours as what an editor is told. Pure. */

import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { ContentPart } from "../../protocol/content.ts";
import type { Item, Message } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { toToolKind } from "./tool-views.ts";

export function toMessage(prompt: readonly ContentBlock[]): Message {
  return { type: "message", role: "user", content: prompt.map(toPart) } as Message;
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

/** The updates that tell a past conversation again, in order. */
export function* toHistory(items: readonly Item[]): Generator<SessionUpdate> {
  for (const item of items) {
    if (item.type === "message" && (item.role === "user" || item.role === "assistant")) {
      const sessionUpdate = item.role === "user" ? "user_message_chunk" : "agent_message_chunk";
      yield { sessionUpdate, content: { type: "text", text: textOfMessage(item) } };
    } else if (item.type === "function_call") {
      const { call_id: toolCallId, name, arguments: given } = item;
      const call = { toolCallId, title: name, kind: toToolKind(name), rawInput: tryJson(given) };
      yield { sessionUpdate: "tool_call", ...call, status: "completed" };
    } else if (item.type === "function_call_output") {
      const text =
        typeof item.output === "string" ? item.output : item.output.map(textOfPart).join("\n");
      const content = [{ type: "content" as const, content: { type: "text" as const, text } }];
      yield { sessionUpdate: "tool_call_update", toolCallId: item.call_id, content };
    }
  }
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
