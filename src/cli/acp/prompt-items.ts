/** Turns an editor's prompt into a message of ours. Pure. */

import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { ContentPart } from "../../protocol/content.ts";
import type { Message } from "../../protocol/items.ts";

export function toMessage(prompt: readonly ContentBlock[]): Message {
  return { type: "message", role: "user", content: prompt.map(toPart) } as Message;
}

/** The text at its beginning; empty if it begins with something else. */
export function firstWords(prompt: readonly ContentBlock[]): string {
  const [first] = prompt;
  return first?.type === "text" ? first.text : "";
}

/** The same prompt with other words at its beginning. */
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
      // Quoted, so that a strange name of a file does not end the mark that it stands in.
      const uri = JSON.stringify(resource.uri);
      return { type: "input_text", text: `<file uri=${uri}>\n${text}\n</file>` };
    }
    default:
      return { type: "input_text", text: `[${block.type}: not supported]` };
  }
}

export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
