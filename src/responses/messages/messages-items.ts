/**
 * Messages as items. A turn holds what are several items here: a user's turn words and results of calls, an
 * assistant's turn thoughts, words, calls, and what tools of the server did.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ContentPart, OutputText } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import { CALL_FIELDS, FOREIGN, fieldsOfCall } from "../../protocol/messages-blocks.ts";
import { createHostedReader } from "./hosted-blocks.ts";
import { type Ignored, toInputParts, toSaidPart } from "./messages-content.ts";
import type { BlockParam, MessageParam, ToolResultParam } from "./messages-request.ts";
import { fromRedacted, fromThinking } from "./thought-signature.ts";

export interface MessagesItems {
  readonly items: Item[];
  /** What of the messages has no place in items, each once. */
  readonly ignored: readonly string[];
  /** Tools that results have named: they are offered from there on. */
  readonly references: ReadonlySet<string>;
}

export function toMessagesItems(messages: readonly MessageParam[]): MessagesItems {
  const list = new ItemList();
  for (const [at, message] of messages.entries()) list.add(message, at);
  return { items: list.finish(), ignored: [...list.ignored], references: list.references };
}

class ItemList {
  readonly ignored: Ignored = new Set<string>();
  readonly references = new Set<string>();
  readonly #items: Item[] = [];
  readonly #hosted = createHostedReader((name) => this.references.add(name));
  #said: OutputText[] = [];
  #heard: ContentPart[] = [];

  add({ role, content }: MessageParam, at: number): void {
    if (typeof content === "string") {
      this.#items.push({ type: "message", role, content });
      return;
    }
    for (const [place, block] of content.entries()) {
      const isTaken = role === "assistant" ? this.#say(block) : this.#hear(block, role);
      if (!isTaken) this.ignored.add(`messages[${at}].content[${place}] (${block.type})`);
    }
    this.#flush(role);
  }

  finish(): Item[] {
    return this.#items;
  }

  #hear(block: BlockParam, role: MessageParam["role"]): boolean {
    if (block.type === "tool_result") {
      this.#flush(role);
      this.#items.push(this.#toResult(block));
      return true;
    }
    const parts = toInputParts(block, this.ignored);
    if (parts) this.#heard.push(...parts);
    return parts !== undefined;
  }

  #say(block: BlockParam): boolean {
    if (block.type === "text") {
      // Some vendors refuse a text of nothing, and it says nothing.
      if (block.text !== "") this.#said.push(toSaidPart(block));
      return true;
    }
    this.#flush("assistant");
    switch (block.type) {
      case "thinking":
        this.#items.push(fromThinking(block.thinking, block.signature));
        return true;
      case "redacted_thinking":
        this.#items.push(fromRedacted(block.data));
        return true;
      case "tool_use":
        this.#addCall(block);
        return true;
      default:
        return this.#addHosted(block as unknown as JsonObject);
    }
  }

  #addCall(block: Extract<BlockParam, { type: "tool_use" }>): void {
    const { id, name, input } = block;
    const fields = fieldsOfCall(block as unknown as JsonObject);
    if (fields) this.#addForeign({ type: CALL_FIELDS, id, ...fields });
    this.#items.push({
      type: "function_call",
      call_id: id,
      name,
      arguments: JSON.stringify(isJsonObject(input) ? input : {}),
    });
  }

  /** What the server's tools did, here or at the vendor; what nobody here knows is the vendor's own. */
  #addHosted(block: JsonObject): boolean {
    const { type, encrypted_content } = block;
    const items = this.#hosted.read(block);
    // One that this server sealed; the vendor's own goes back to the vendor.
    const isOwn =
      typeof encrypted_content === "string" && encrypted_content.startsWith("offshoot1.");
    if (type === "compaction" && isOwn) this.#items.push({ type, encrypted_content });
    else if (items) this.#items.push(...items);
    else this.#addForeign(block);
    return true;
  }

  #addForeign(block: JsonObject): void {
    const { type, id } = block;
    const named = typeof id === "string" ? { id } : {};
    this.#items.push({ type: `${FOREIGN}${type}`, ...named, block } as unknown as Item);
  }

  #toResult(block: ToolResultParam): Item {
    const { tool_use_id: call_id, content, is_error } = block;
    const output = this.#toOutput(content ?? "", block);
    const status = is_error ? { status: "incomplete" as const } : {};
    return { type: "function_call_output", call_id, output, ...status };
  }

  #toOutput(
    content: NonNullable<ToolResultParam["content"]>,
    { cache_control }: ToolResultParam,
  ): string | ContentPart[] {
    const blocks =
      typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    const [first] = blocks;
    const isPlain = blocks.length === 1 && first?.type === "text" && !first.cache_control;
    if (isPlain && !cache_control) return first.text;
    const parts = blocks.flatMap((block) => this.#toResultParts(block as BlockParam));
    const last = parts.at(-1);
    if (!last || !cache_control) return parts.length > 0 ? parts : "";
    const marked = { ...last, prompt_cache_breakpoint: { mode: "explicit" } } as ContentPart;
    return [...parts.slice(0, -1), marked];
  }

  #toResultParts(block: BlockParam): ContentPart[] {
    const { type, tool_name } = block as { type: string; tool_name?: unknown };
    if (type === "tool_reference" && typeof tool_name === "string") {
      this.references.add(tool_name);
      return [{ type: "input_text", text: `The tool ${tool_name} can be called now.` }];
    }
    const parts = toInputParts(block, this.ignored);
    if (!parts) this.ignored.add(`messages.tool_result (${type})`);
    return parts ?? [];
  }

  #flush(role: MessageParam["role"]): void {
    if (this.#said.length > 0) {
      this.#items.push({ type: "message", role: "assistant", content: this.#said });
      this.#said = [];
    }
    if (this.#heard.length === 0) return;
    const spoken = role === "system" ? "system" : "user";
    this.#items.push({ type: "message", role: spoken, content: toContent(this.#heard) });
    this.#heard = [];
  }
}

/** One text stays a text: it is what the fast way takes, and every server. */
function toContent(parts: ContentPart[]): string | ContentPart[] {
  const [first] = parts;
  const isPlain =
    parts.length === 1 && first?.type === "input_text" && !first.prompt_cache_breakpoint;
  return isPlain ? first.text : parts;
}
