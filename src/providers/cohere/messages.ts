/**
 * Converts items to messages of Cohere's chat API.
 *
 * The assistant's reasoning, text and calls of one turn are one message. All results of its calls follow
 * it, and the last message is never the assistant's. So when a message with calls ends, their results are
 * looked up wherever they are; a call without a result gets a placeholder, and a result without its call is
 * left out. The instructions, also later ones, are the first message.
 */

import type { FunctionCall, Item, Message, Reasoning } from "../../protocol/items.ts";
import { readOwnReasoning } from "../own-reasoning.ts";
import { type CallOutput, outputsByCall } from "../pair-results.ts";
import { encodeParts, imagesOf, toText } from "./parts.ts";
import type { CohereAnswer, CohereBlock, CohereCall, CohereMessage, CoherePart } from "./schema.ts";
import { toToolName } from "./tools.ts";

export function encodeMessages(
  instructions: string | undefined,
  items: readonly Item[],
): CohereMessage[] {
  const list = new MessageList(instructions, items);
  for (const item of items) list.add(item);
  return list.finish();
}

/** The user message to insert if the API needs one and the conversation has none. */
const GO_ON = "Go on.";
const NO_RESULT = "No result: the call was interrupted.";
/** Replaces an empty result, which the API refuses. */
const NO_OUTPUT = "(no output)";

/** The assistant's output since the last message of another role. */
interface Turn {
  readonly thoughts: CohereBlock[];
  readonly plans: string[];
  readonly texts: string[];
  readonly calls: { readonly call: CohereCall; readonly callId: string }[];
}

class MessageList {
  readonly #system: string[];
  readonly #messages: CohereMessage[] = [];
  readonly #outputs: Map<string, CallOutput[]>;
  readonly #ids = new Set<string>();
  #turn = emptyTurn();

  constructor(instructions: string | undefined, items: readonly Item[]) {
    this.#system = instructions ? [instructions] : [];
    this.#outputs = outputsByCall(items);
  }

  add(item: Item): void {
    switch (item.type) {
      case "message":
        return this.#addMessage(item);
      case "reasoning":
        return this.#addReasoning(item);
      case "function_call":
        return this.#addCall(item, item.arguments || "{}");
      case "custom_tool_call":
        return this.#addCall(item, JSON.stringify({ input: item.input }));
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#endTurn();
      default:
      // This API cannot express tools that other vendors run themselves.
    }
  }

  finish(): CohereMessage[] {
    this.#endTurn();
    const last = this.#messages.at(-1);
    if (last?.role !== "user" && last?.role !== "tool") this.#hear(GO_ON);
    const system = this.#system.join("\n\n");
    const told: CohereMessage[] = system === "" ? [] : [{ role: "system", content: system }];
    return [...told, ...this.#messages];
  }

  #addMessage({ role, content }: Message): void {
    if (role === "assistant") {
      const text = toText(content);
      if (text !== "") this.#turn.texts.push(text);
      return;
    }
    if (role === "user") {
      this.#endTurn();
      return this.#hear(encodeParts(content));
    }
    const text = toText(content);
    // Only the first message may be the system's, and as a user's text later instructions derail small models. What
    // the vendor has cached of the prompt ends with each new one.
    if (text !== "") this.#system.push(text);
  }

  /**
   * Adds reasoning. A plan is kept as a summary, because it is written for the reader; other reasoning
   * unchanged.
   */
  #addReasoning(item: Reasoning): void {
    const text = readOwnReasoning(item);
    if (text === undefined) return;
    const { content } = item;
    if (!content || content.length === 0) this.#turn.plans.push(text);
    else this.#turn.thoughts.push({ type: "thinking", thinking: text });
  }

  #addCall({ call_id, name }: Pick<FunctionCall, "call_id" | "name">, text: string): void {
    const id = this.#freeId(call_id);
    const called = { name: toToolName(name), arguments: text };
    const call: CohereCall = { id, type: "function", function: called };
    this.#turn.calls.push({ call, callId: call_id });
  }

  /**
   * An id that is not used yet. An id may appear twice in a conversation: some servers count them from 0 in
   * every answer.
   */
  #freeId(callId: string): string {
    const plain = callId || "call";
    let id = plain;
    for (let count = 2; this.#ids.has(id); count++) id = `${plain}_${count}`;
    this.#ids.add(id);
    return id;
  }

  #endTurn(): void {
    const turn = this.#turn;
    this.#turn = emptyTurn();
    const message = toAnswer(turn);
    if (message) this.#messages.push(message);
    const images: CoherePart[] = [];
    for (const { call, callId } of turn.calls) {
      const output = this.#outputs.get(callId)?.shift()?.output;
      const content = output === undefined ? NO_RESULT : toText(output) || NO_OUTPUT;
      this.#messages.push({ role: "tool", tool_call_id: call.id, content });
      // A tool's message cannot hold images, so a user message with them follows after all results.
      if (output !== undefined) images.push(...imagesOf(output));
    }
    if (images.length > 0) this.#hear(images);
  }

  #hear(content: string | readonly CoherePart[] | undefined): void {
    if (content !== undefined) this.#messages.push({ role: "user", content });
  }
}

function emptyTurn(): Turn {
  return { thoughts: [], plans: [], texts: [], calls: [] };
}

/**
 * The turn as one message; undefined for a turn that ended without output. Here, text before calls is their
 * plan, and a plan without calls is reasoning.
 */
function toAnswer({ thoughts, plans, texts, calls }: Turn): CohereAnswer | undefined {
  if (calls.length > 0) {
    const plan = [...plans, ...texts].join("\n");
    return {
      role: "assistant",
      ...(thoughts.length > 0 ? { content: thoughts } : {}),
      ...(plan === "" ? {} : { tool_plan: plan }),
      tool_calls: calls.map(({ call }) => call),
    };
  }
  if (texts.length === 0) return undefined;
  const planned = plans.map((thinking): CohereBlock => ({ type: "thinking", thinking }));
  const before = [...thoughts, ...planned];
  const text = texts.join("\n");
  if (before.length === 0) return { role: "assistant", content: text };
  return { role: "assistant", content: [...before, { type: "text", text }] };
}
