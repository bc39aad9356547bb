/**
 * Converts a conversation to the form of `node-llama-cpp`. There, all reasoning, text and calls of a model
 * up to the user's next message are one response, and a call and its result are one part of it.
 */

import { Failure } from "../../base/failure.ts";
import { type Json, tryParseJson } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { FunctionCall, Item, Message, Reasoning } from "../../protocol/items.ts";
import { toFileText } from "../file-content.ts";
import { JSON_RULE, mentionsJson } from "../json-rule.ts";
import { readOwnReasoning } from "../own-reasoning.ts";
import type { ModelRequest } from "../provider.ts";
import type { HistoryItem, ResponsePart } from "./llama-module.ts";

/**
 * Rejects input that a text model cannot take. `isInWords` says that no grammar enforces the answer's
 * format.
 */
export function toHistory(
  request: ModelRequest,
  { isInWords }: { readonly isInWords: boolean },
): HistoryItem[] {
  const history = new History(request.items);
  const instructions = toInstructions(request, isInWords);
  if (instructions) history.add({ type: "system", text: instructions });
  for (const [index, item] of request.items.entries()) history.addItem(item, index);
  return history.finish();
}

/**
 * The instructions. A model whose answer a grammar constrains writes better if they describe the format
 * too.
 */
function toInstructions(
  { instructions, items, format }: ModelRequest,
  isInWords: boolean,
): string | undefined {
  if (format.type === "text") return instructions;
  const rule =
    format.type === "json_schema" && isInWords
      ? `${JSON_RULE} It fits this JSON schema:\n${JSON.stringify(format.schema)}`
      : mentionsJson(instructions, items)
        ? ""
        : JSON_RULE;
  return [instructions, rule].filter(Boolean).join("\n\n");
}

class History {
  readonly #items: readonly Item[];
  readonly #history: HistoryItem[] = [];
  /** The response in progress; undefined if the last message is of another role. */
  #response: ResponsePart[] | undefined;

  constructor(items: readonly Item[]) {
    this.#items = items;
  }

  add(item: HistoryItem): void {
    this.#response = undefined;
    this.#history.push(item);
  }

  addItem(item: Item, index: number): void {
    switch (item.type) {
      case "message":
        return this.#addMessage(item);
      case "function_call":
        return this.#addCall(item, index);
      case "reasoning":
        return this.#addReasoning(item);
      default:
      // Tools that other vendors run cannot be expressed here; results are already with their calls.
    }
  }

  finish(): HistoryItem[] {
    return this.#history;
  }

  #addMessage({ role, content }: Message): void {
    const text = toText(content);
    if (text === "") return;
    if (role === "assistant") this.#respond(text);
    else this.add({ type: role === "user" ? "user" : "system", text });
  }

  #addCall({ call_id, name, arguments: text }: FunctionCall, index: number): void {
    this.#respond({
      type: "functionCall",
      name,
      params: tryParseJson(text) ?? text,
      result: this.#findResult(call_id),
      startsNewChunk: this.#items[index - 1]?.type !== "function_call",
    });
  }

  #findResult(callId: string): Json {
    for (const item of this.#items) {
      if (item.type === "function_call_output" && item.call_id === callId) {
        return toText(item.output);
      }
    }
    return "No result: the call was not finished.";
  }

  #addReasoning(item: Reasoning): void {
    const text = readOwnReasoning(item);
    if (text) this.#respond({ type: "segment", segmentType: "thought", text, ended: true });
  }

  #respond(part: ResponsePart): void {
    if (!this.#response) {
      const response: ResponsePart[] = [];
      this.add({ type: "model", response });
      this.#response = response;
    }
    this.#response.push(part);
  }
}

function toText(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((part) => {
    switch (part.type) {
      case "input_text":
      case "output_text":
      case "text":
        return part.text;
      case "refusal":
        return part.refusal;
      default: {
        const text = part.type === "input_file" ? toFileText(part) : undefined;
        if (text !== undefined) return text;
        throw new Failure(
          "invalid_request",
          `A GGUF model in this process takes text only, not \`${part.type}\` parts.`,
          { param: "input" },
        );
      }
    }
  });
  return texts.filter((text) => text !== "").join("\n");
}
