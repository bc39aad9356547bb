/**
 * Turns messages into items. One turn contains what are several items here: a user's turn has words and results of
 * calls; an assistant's turn has thoughts, words, calls, and results of the server's tools.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { ContentPart, OutputText } from "../../protocol/content.ts";
import type { Item } from "../../protocol/items.ts";
import { BLOCKS, CALL_FIELDS, FOREIGN, fieldsOfCall } from "../../protocol/messages-blocks.ts";
import { createHostedReader } from "./hosted-blocks.ts";
import { markOf, type Reading, toInputParts, toOwnPart, toSaidPart } from "./messages-content.ts";
import type { BlockParam, MessageParam, ToolResultParam } from "./messages-request.ts";
import { fromRedacted, fromThinking, isHiddenThought } from "./thought-signature.ts";
import { toModelName } from "./tool-names.ts";

export interface MessagesItems {
  readonly items: Item[];
  /** Fields of the messages that items do not have, each once. */
  readonly ignored: readonly string[];
  /** Tools that results have named: they are offered from there on. */
  readonly references: ReadonlySet<string>;
}

/**
 * Rejects a result of a call that is not before it, a second result of one call, and a second call with the same id:
 * the model could not tell which one counts. `isVendor` says if the model's server uses this API itself.
 */
export function toMessagesItems(
  messages: readonly MessageParam[],
  isVendor: boolean,
): MessagesItems {
  const list = new ItemList(isVendor);
  for (const [at, message] of messages.entries()) list.add(message, at);
  const { ignored } = list.reading;
  const items = list.finish();
  if (items.length === 0) {
    const message = "`messages` has nothing for the model. Give at least one message with content.";
    throw new Failure("invalid_request", message, { param: "messages" });
  }
  return { items, ignored: [...ignored], references: list.references };
}

/** Calls that the server or the vendor has made. */
const HOSTED_CALLS: ReadonlySet<string> = new Set(["server_tool_use", "mcp_tool_use"]);

class ItemList {
  readonly reading: Reading;
  readonly references = new Set<string>();
  readonly #items: Item[] = [];
  readonly #called = new Set<string>();
  /** Those of the client's calls, and of hosted ones. */
  readonly #callIds = new Set<string>();
  readonly #answered = new Set<string>();
  /** The calls before a compaction are gone, and their results may be there. */
  #isCompacted = false;
  readonly #hosted: ReturnType<typeof createHostedReader>;
  #said: OutputText[] = [];
  #heard: ContentPart[] = [];

  constructor(isVendor: boolean) {
    this.reading = { ignored: new Set(), isVendor };
    const onReference = (name: string): unknown => this.references.add(name);
    this.#hosted = createHostedReader({ isVendor, onReference });
  }

  add({ role, content }: MessageParam, at: number): void {
    if (typeof content === "string") {
      this.#items.push({ type: "message", role, content, ...this.#toPlace(role) });
      return;
    }
    for (const [place, block] of content.entries()) {
      const where = `messages[${at}].content[${place}]`;
      const isTaken =
        role === "assistant" ? this.#say(block, where) : this.#hear(block, role, where);
      if (!isTaken) this.reading.ignored.add(`${where} (${block.type})`);
    }
    this.#flush(role);
  }

  /** The beginning of an answer is at the end. */
  finish(): Item[] {
    const last = this.#items.at(-1);
    const isBegun = last?.type === "message" && last.role === "assistant";
    if (isBegun && this.reading.isVendor) Object.assign(last, { [BLOCKS]: { prefill: true } });
    return this.#items;
  }

  /** Instructions stay in their place for the vendor, which has a role for them there. */
  #toPlace(role: MessageParam["role"]): object {
    return role === "system" && this.reading.isVendor ? { [BLOCKS]: { in_place: true } } : {};
  }

  #hear(block: BlockParam, role: MessageParam["role"], where: string): boolean {
    if (block.type === "tool_result") {
      this.#flush(role);
      this.#checkResult(block.tool_use_id, where);
      this.#items.push(this.#toResult(block));
      return true;
    }
    const parts = toInputParts(block, this.reading);
    if (parts) this.#heard.push(...parts);
    return parts !== undefined;
  }

  #checkResult(id: string, where: string): void {
    if (!this.#called.has(id) && !this.#isCompacted) {
      const message = `\`${where}\`: a \`tool_result\` must have its \`tool_use\` before it. There is none with the id ${clip(id, 80)}.`;
      throw new Failure("invalid_request", message, { param: where });
    }
    if (!this.#answered.has(id)) {
      this.#answered.add(id);
      return;
    }
    const message = `\`${where}\`: each tool_use must have a single result. There is more than one \`tool_result\` with the id ${clip(id, 80)}.`;
    throw new Failure("invalid_request", message, { param: where });
  }

  #say(block: BlockParam, where: string): boolean {
    if (block.type === "text") {
      // Some vendors refuse an empty text, and it says nothing.
      if (block.text !== "") this.#said.push(toSaidPart(block));
      return true;
    }
    // A hidden thought was told after the text that it was thought for. Vendors want it before the text.
    if (block.type !== "redacted_thinking" || !isHiddenThought(block.data))
      this.#flush("assistant");
    switch (block.type) {
      case "thinking":
        this.#items.push(fromThinking(block.thinking, block.signature));
        return true;
      case "redacted_thinking":
        this.#items.push(fromRedacted(block.data));
        return true;
      case "tool_use":
        this.#noteCall(block.id, where);
        this.#addCall(block);
        return true;
      default:
        return this.#addHosted(block as unknown as JsonObject, where);
    }
  }

  /** Vendors refuse an id that comes twice, in words about their own form of the request. */
  #noteCall(id: string, where: string): void {
    if (this.#callIds.has(id)) {
      const message = `\`${where}\`: \`tool_use\` ids must be unique. There is more than one with the id ${clip(id, 80)}.`;
      throw new Failure("invalid_request", message, { param: where });
    }
    this.#callIds.add(id);
  }

  #addCall(block: Extract<BlockParam, { type: "tool_use" }>): void {
    const { id, name, input } = block;
    this.#called.add(id);
    const fields = fieldsOfCall(block as unknown as JsonObject);
    if (fields) this.#addForeign({ type: CALL_FIELDS, id, ...fields });
    this.#items.push({
      type: "function_call",
      call_id: id,
      name: toModelName(name, this.reading.isVendor),
      arguments: JSON.stringify(isJsonObject(input) ? input : {}),
    });
  }

  /** Results of hosted tools, here or at the vendor; an unknown one is the vendor's own. */
  #addHosted(block: JsonObject, where: string): boolean {
    const { type, encrypted_content, id } = block;
    if (HOSTED_CALLS.has(String(type)) && typeof id === "string") this.#noteCall(id, where);
    if (type === "compaction") this.#isCompacted = true;
    const items = this.#hosted.read(block);
    // Sealed by this server; the vendor's own goes back to the vendor.
    const isOwn =
      typeof encrypted_content === "string" && encrypted_content.startsWith("offshoot1.");
    if (type === "compaction" && isOwn) this.#items.push({ type, encrypted_content });
    else if (type === "compaction" && !this.reading.isVendor) this.#addSummary(block);
    else if (items) this.#items.push(...items);
    else this.#addForeign(block);
    return true;
  }

  /** Of a conversation that another server has compacted, only this is left. */
  #addSummary({ content }: JsonObject): void {
    if (typeof content !== "string" || content === "") return;
    this.#items.push({ type: "message", role: "user", content });
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
    return [...parts.slice(0, -1), { ...last, ...markOf({ cache_control }) } as ContentPart];
  }

  #toResultParts(block: BlockParam): ContentPart[] {
    const { type, tool_name } = block as { type: string; tool_name?: unknown };
    if (type === "tool_reference" && typeof tool_name === "string") {
      this.references.add(tool_name);
      if (this.reading.isVendor) return [toOwnPart(block)];
      return [
        {
          type: "input_text",
          text: `The tool ${toModelName(tool_name, false)} can be called now.`,
        },
      ];
    }
    const parts = toInputParts(block, this.reading);
    if (!parts) this.reading.ignored.add(`messages.tool_result (${type})`);
    return parts ?? [];
  }

  #flush(role: MessageParam["role"]): void {
    if (this.#said.length > 0) {
      this.#items.push({ type: "message", role: "assistant", content: this.#said });
      this.#said = [];
    }
    if (this.#heard.length === 0) return;
    const spoken = role === "system" ? "system" : "user";
    const content = toContent(this.#heard);
    this.#items.push({ type: "message", role: spoken, content, ...this.#toPlace(role) });
    this.#heard = [];
  }
}

/** A single text stays a text: the fast path and every server accept it. */
function toContent(parts: ContentPart[]): string | ContentPart[] {
  const [first] = parts;
  const isPlain =
    parts.length === 1 &&
    first?.type === "input_text" &&
    !first.prompt_cache_breakpoint &&
    !(BLOCKS in first);
  return isPlain ? first.text : parts;
}

/** Marks the end of the conversation for the cache, if the request asks for that. */
export function markLast(items: readonly Item[], cache_control: unknown): readonly Item[] {
  const mark = markOf({ cache_control });
  const last = items.at(-1);
  if (!last || Object.keys(mark).length === 0) return items;
  const before = items.slice(0, -1);
  if (last.type === "message" && last.role !== "assistant") {
    return [...before, { ...last, content: withMark(last.content, mark) } as Item];
  }
  if (last.type !== "function_call_output") return items;
  return [...before, { ...last, output: withMark(last.output, mark) } as Item];
}

function withMark(content: string | readonly ContentPart[], mark: object): ContentPart[] {
  const parts: readonly ContentPart[] =
    typeof content === "string" ? [{ type: "input_text", text: content }] : content;
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, ...mark } : part));
}
