/**
 * Converts items to the turns of the Messages API: user and assistant in alternation, the user first.
 *
 * Its one hard rule: the turn after a call starts with the results of all calls of the turn before. So when
 * an assistant's turn ends, the results are looked up wherever their items are. A call without a result
 * gets a placeholder, and a result without its call is left out.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { FunctionCall, Item, Message, Reasoning } from "../../protocol/items.ts";
import {
  CALL_FIELDS,
  type Cached,
  CONTAINER,
  FOREIGN,
  type MessagesBlock,
  type MessagesTurn,
  placeOf,
  SEALER,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
} from "../../protocol/messages-blocks.ts";
import { unseal } from "../../protocol/sealed-reasoning.ts";
import { isMarked, ownMark } from "../cache-marks.ts";
import { type CallOutput, outputsByCall } from "../pair-results.ts";
import { encodeContent, encodeSaid, encodeText } from "./content.ts";
import { blocksIn } from "./hosted-calls.ts";

export interface MessagesConversation {
  /** The instructions that came as messages before the first turn. */
  readonly system: readonly TextBlock[];
  readonly turns: MessagesTurn[];
  /** The container that the current turn has used. */
  readonly container: string | undefined;
}

export function encodeConversation(items: readonly Item[]): MessagesConversation {
  const list = new TurnList(items);
  for (const item of items) list.add(item);
  return list.finish();
}

/** The user message to insert if the API needs one and the conversation has none. */
const GO_ON = "Go on.";
const NO_RESULT = "No result: the call was interrupted.";

class TurnList {
  readonly #system: TextBlock[] = [];
  readonly #turns: MessagesTurn[] = [];
  readonly #outputs: Map<string, CallOutput[]>;
  /** Calls of the assistant's current turn, by the item's id and the block's. */
  #calls: { readonly callId: string; readonly id: string }[] = [];
  readonly #ids = new Set<string>();
  #callFields = new Map<string, JsonObject>();
  #container: string | undefined;
  /** True if the last message is the beginning of the answer. */
  #isPrefilled = false;

  constructor(items: readonly Item[]) {
    this.#outputs = outputsByCall(items);
  }

  add(item: Item): void {
    switch (item.type) {
      case "message":
        return this.#addMessage(item);
      case "function_call":
        return this.#addCall(item, toInput(item));
      case "custom_tool_call":
        return this.#addCall(item, { input: item.input });
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#answerCalls();
      case "reasoning":
        return this.#addReasoning(item);
      default:
        return this.#addForeign(item as unknown as JsonObject);
    }
  }

  finish(): MessagesConversation {
    this.#answerCalls();
    if (this.#turns[0]?.role !== "user") {
      this.#turns.unshift({ role: "user", content: encodeText(GO_ON) });
    }
    const last = this.#turns.at(-1);
    // A turn with the vendor's own tools resumes where it paused; any other needs a user message.
    const isTaken = this.#isPrefilled || last?.content.some(isForeign);
    if (last?.role === "assistant" && !isTaken) this.#hear(encodeText(GO_ON));
    return { system: this.#system, turns: this.#turns, container: this.#container };
  }

  #addMessage(message: Message): void {
    const { role, content } = message;
    const { in_place, prefill } = placeOf(message);
    this.#isPrefilled = prefill === true;
    if (role === "assistant") return this.#say(encodeSaid(content));
    if (role === "user") {
      this.#container = undefined;
      return this.#hear(encodeContent(content));
    }
    if (in_place) return this.#instruct(encodeSaid(content));
    const text = encodeSaid(content)
      .map((block) => block.text)
      .join("\n");
    if (text === "") return;
    const isAbove = this.#turns.length === 0;
    // The instructions at the top stay unchanged: the cache begins with them, and newer models refuse their
    // own thinking under other instructions.
    const blocks = encodeText(isAbove ? text : `<system>\n${text}\n</system>`);
    const marked = blocks.map((block) => ({ ...block, ...markOf(content) }));
    if (isAbove) this.#system.push(...marked);
    else this.#hear(marked);
  }

  #addCall({ call_id, name }: Pick<FunctionCall, "call_id" | "name">, input: JsonObject): void {
    const id = this.#freeId(call_id);
    this.#calls.push({ callId: call_id, id });
    const block: ToolUseBlock = { type: "tool_use", id, name, input };
    this.#say([{ ...block, ...this.#callFields.get(call_id) }]);
  }

  /** Another vendor's id may have letters that this API refuses, and a conversation may have an id twice. */
  #freeId(callId: string): string {
    const plain = callId.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
    let id = plain;
    for (let count = 2; this.#ids.has(id); count++) id = `${plain}_${count}`;
    this.#ids.add(id);
    return id;
  }

  #addReasoning({ encrypted_content }: Reasoning): void {
    const block = unseal(SEALER, encrypted_content);
    if (isJsonObject(block)) this.#say([block as unknown as MessagesBlock]);
  }

  /** Adds a block of this vendor; a block that another vendor left is skipped. */
  #addForeign(item: JsonObject): void {
    const { type, id, block } = item;
    this.#say(blocksIn(item) as unknown as MessagesBlock[]);
    if (typeof type !== "string" || !type.startsWith(FOREIGN) || !isJsonObject(block)) return;
    if (type === FOREIGN + CONTAINER) {
      this.#container = typeof block["id"] === "string" ? block["id"] : undefined;
    } else if (type === FOREIGN + CALL_FIELDS) {
      const { type: _, id: __, ...fields } = block;
      if (typeof id === "string") this.#callFields.set(id, fields);
    } else {
      this.#say([block as unknown as MessagesBlock]);
    }
  }

  #answerCalls(): void {
    const calls = this.#calls;
    this.#calls = [];
    for (const { callId, id } of calls) {
      this.#push("user", [toResult(id, this.#outputs.get(callId)?.shift())]);
    }
  }

  #say(blocks: readonly MessagesBlock[]): void {
    this.#push("assistant", blocks);
  }

  #instruct(blocks: readonly TextBlock[]): void {
    this.#answerCalls();
    this.#push("system", blocks);
  }

  #hear(blocks: readonly MessagesBlock[]): void {
    this.#answerCalls();
    this.#push("user", blocks);
  }

  #push(role: MessagesTurn["role"], blocks: readonly MessagesBlock[]): void {
    if (blocks.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === role) (last.content as MessagesBlock[]).push(...blocks);
    else this.#turns.push({ role, content: [...blocks] } as MessagesTurn);
  }
}

/** The input as an object, which the API requires. Other text is wrapped as the vendor's own guide says. */
function toInput({ arguments: text }: FunctionCall): JsonObject {
  const input = tryParseJson(text === "" ? "{}" : text);
  return isJsonObject(input) ? input : { INVALID_JSON: text };
}

function toResult(tool_use_id: string, output: CallOutput | undefined): ToolResultBlock {
  const block: ToolResultBlock = { type: "tool_result", tool_use_id };
  if (!output) return { ...block, content: NO_RESULT, is_error: true };
  const { output: given, status } = output;
  Object.assign(block, markOf(given));
  const content = typeof given === "string" ? given : encodeContent(given.map(toUnmarked));
  if (content.length === 0 || (typeof content === "string" && content.trim() === "")) return block;
  const isSayable = typeof content === "string" || content.every(({ type }) => type === "text");
  // A failure must have text: the API refuses an error without text, or with a picture.
  return { ...block, content, ...(status === "incomplete" && isSayable ? { is_error: true } : {}) };
}

/**
 * The mark of a block. A mark on a part inside goes to the end of the block, because the API accepts none
 * further in.
 */
function markOf(content: string | readonly ContentPart[]): Cached {
  const part = typeof content === "string" ? undefined : content.findLast(isMarked);
  return part ? { cache_control: ownMark(part) } : {};
}

function toUnmarked(part: ContentPart): ContentPart {
  return isMarked(part) ? ({ ...part, prompt_cache_breakpoint: null } as ContentPart) : part;
}

const OWN_BLOCKS: readonly string[] = ["text", "thinking", "redacted_thinking", "tool_use"];

function isForeign({ type }: MessagesBlock): boolean {
  return !OWN_BLOCKS.includes(type);
}
