/**
 * Converts items to turns of a Converse conversation.
 *
 * The rules of the API: turns alternate and start with the user's; every call is answered in the very next
 * turn, and a result answers a call of the turn before; no text is blank; a document has a text beside it.
 * A conversation of another model may break all of them, so results are looked up by their call and moved
 * to where the API expects them.
 */

import { asJsonObject, isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type {
  CustomToolCallOutput,
  FunctionCallOutput,
  Item,
  Message,
  Reasoning,
} from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { isMarked } from "../cache-marks.ts";
import { isUnsigned, ownBlockOf, unsealReasoning } from "./blocks.ts";
import { isPoint, POINT } from "./cache-points.ts";
import { encodeAudio, encodeDocument, encodeImage } from "./media.ts";
import { createNames } from "./names.ts";
import type {
  CachePoint,
  ContentBlock,
  ConverseResultBlock,
  ConverseToolResult,
  ConverseTurn,
  Role,
  SystemBlock,
} from "./schema.ts";

export interface ConverseConversation {
  readonly turns: readonly ConverseTurn[];
  /** The system and developer messages; for Claude only those before the conversation. */
  readonly system: readonly SystemBlock[];
}

export interface TurnOptions {
  /** The maker whose reasoning can be sent back. */
  readonly maker: string;
  /**
   * False if the request has no tools. The API then refuses even old calls and results, so they are sent as
   * text.
   */
  readonly hasTools: boolean;
  /** True if parts that the caller marked get a cache point. */
  readonly hasPoints: boolean;
}

export function encodeTurns(items: readonly Item[], options: TurnOptions): ConverseConversation {
  const list = new TurnList(items, options);
  for (const [at, item] of items.entries()) list.add(item, at);
  return list.finish();
}

/** A call, from any kind of item. */
interface Call {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

type Output = FunctionCallOutput | CustomToolCallOutput;
type OpenTurn = { readonly role: Role; readonly content: ContentBlock[] };

class TurnList {
  readonly #options: TurnOptions;
  readonly #names = createNames();
  readonly #outputs = new Map<string, Output[]>();
  readonly #called: ReadonlySet<string>;
  /** Position of the last message of the user. */
  readonly #asked: number;
  readonly #system: SystemBlock[] = [];
  readonly #turns: OpenTurn[] = [];
  /** The results with which the next turn must begin. */
  #due: ContentBlock[] = [];
  /** Parts of those results that the API does not accept inside a result. */
  #after: ContentBlock[] = [];

  constructor(items: readonly Item[], options: TurnOptions) {
    this.#options = options;
    this.#called = new Set(items.flatMap((item) => (isCall(item) ? [item.call_id] : [])));
    this.#asked = items.findLastIndex((item) => item.type === "message" && item.role === "user");
    for (const item of items) if (isOutput(item)) this.#keepOutput(item);
  }

  add(item: Item, at: number): void {
    switch (item.type) {
      case "message":
        return this.#addMessage(item);
      case "function_call":
        return this.#addCall(item);
      case "custom_tool_call":
        return this.#addCall({ ...item, arguments: JSON.stringify({ input: item.input }) });
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#addOutput(item);
      case "reasoning":
        return this.#addReasoning(item, at > this.#asked);
      default:
        return this.#addOwn(item);
    }
  }

  finish(): ConverseConversation {
    this.#answerCalls();
    const turns = this.#turns.map(toTurn).filter(({ content }) => content.length > 0);
    const merged = mergeTurns(turns);
    if (merged[0]?.role !== "user") merged.unshift({ role: "user", content: [{ text: BEGIN }] });
    return { turns: withoutTrailingSpace(merged), system: this.#system };
  }

  #addMessage({ role, content }: Message): void {
    if (role === "assistant") return this.#push("assistant", texts(toText(content)));
    if (role === "user") return this.#push("user", this.#encodeContent(content));
    const text = toText(content);
    const points =
      typeof content === "string" ? [] : content.flatMap((part) => this.#pointOf(part));
    const point = points.slice(0, 1);
    if (this.#turns.length === 0 || this.#options.maker !== KEEPS_PREFIX) {
      this.#system.push(...withPoint(texts(text), point));
    } else {
      const blocks = texts(text === "" ? "" : `<system>\n${text}\n</system>`);
      this.#push("user", withPoint(blocks, point));
    }
  }

  #addCall({ call_id, name, arguments: text }: Call): void {
    const output = this.#outputs.get(call_id)?.shift();
    if (!this.#options.hasTools) {
      this.#push("assistant", [{ text: `[Called ${name} with ${text || "{}"}]` }]);
      this.#due.push({ text: `[Result of ${name}]` }, ...this.#told(output));
      return;
    }
    const toolUseId = this.#names.callId(call_id);
    this.#push("assistant", [{ toolUse: { toolUseId, name, input: toInput(text) } }]);
    this.#due.push({ toolResult: { toolUseId, ...this.#toResult(output) } });
  }

  /** Ends the turn of the calls. The result itself is already with its call. */
  #addOutput(item: Output): void {
    this.#answerCalls();
    if (this.#called.has(item.call_id)) return;
    this.#push("user", [{ text: "[Result of an earlier call]" }, ...this.#told(item)]);
  }

  /** Adds reasoning. Unsigned reasoning is useful between calls; after the answer it would only cost tokens. */
  #addReasoning({ encrypted_content }: Reasoning, isCurrent: boolean): void {
    const { maker, hasTools } = this.#options;
    const content = unsealReasoning(encrypted_content, maker);
    if (!content || (isUnsigned(content) && !(isCurrent && hasTools))) return;
    this.#push("assistant", [{ reasoningContent: content }]);
  }

  /** Blocks of the vendor's own tools go back unchanged. */
  #addOwn(item: Item): void {
    const block = ownBlockOf(asJsonObject(item));
    const isCall = block && ("toolUse" in block || "toolResult" in block);
    if (block && (this.#options.hasTools || !isCall))
      this.#push("assistant", [block as unknown as ContentBlock]);
  }

  #push(role: Role, blocks: readonly ContentBlock[]): void {
    if (blocks.length === 0) return;
    if (role === "user") this.#answerCalls();
    const last = this.#turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else this.#turns.push({ role, content: [...blocks] });
  }

  #answerCalls(): void {
    if (this.#due.length === 0) return;
    // One cache point after all results is enough.
    const points = this.#after.filter(isPoint).slice(0, 1);
    const media = this.#after.filter((block) => !isPoint(block));
    this.#turns.push({ role: "user", content: [...this.#due, ...media, ...points] });
    this.#due = [];
    this.#after = [];
  }

  #keepOutput(item: Output): void {
    const known = this.#outputs.get(item.call_id);
    if (known) known.push(item);
    else this.#outputs.set(item.call_id, [item]);
  }

  #toResult(output: Output | undefined): Omit<ConverseToolResult, "toolUseId"> {
    if (!output) return { content: [{ text: NO_RESULT }], status: "error" };
    const all = this.#encodeContent(output.output);
    const content = all.filter((block) => this.#isResultBlock(block));
    this.#after.push(...all.filter((block) => !this.#isResultBlock(block)));
    const failed = output.status === "incomplete" ? ({ status: "error" } as const) : {};
    if (content.length > 0) return { content, ...failed };
    return { content: [{ text: all.length > 0 ? RESULT_BEHIND : EMPTY_RESULT }], ...failed };
  }

  /**
   * True if a result may contain the block. No result holds sound, and no result for an Amazon model holds
   * a document.
   */
  #isResultBlock(block: ContentBlock): block is ConverseResultBlock {
    if ("document" in block) return this.#options.maker !== "amazon";
    return "text" in block || "image" in block;
  }

  #told(output: Output | undefined): readonly ContentBlock[] {
    if (!output) return [{ text: NO_RESULT }];
    const content = this.#encodeContent(output.output);
    return content.length > 0 ? content : [{ text: EMPTY_RESULT }];
  }

  #encodeContent(content: string | readonly ContentPart[]): ContentBlock[] {
    if (typeof content === "string") return texts(content);
    return content.flatMap((part) => withPoint(this.#encodePart(part), this.#pointOf(part)));
  }

  #pointOf(part: ContentPart): CachePoint[] {
    return this.#options.hasPoints && isMarked(part) ? [POINT] : [];
  }

  #encodePart(part: ContentPart): ContentBlock[] {
    switch (part.type) {
      case "input_image":
      case "computer_screenshot":
        return [encodeImage(part)];
      case "input_file":
        return [encodeDocument(part, this.#names.documentName(part.filename))];
      case "input_audio":
        return [encodeAudio(part)];
      default:
        return texts(partText(part));
    }
  }
}

/**
 * No role of this API is for instructions in the middle of a conversation. As text of the user they derail small
 * models, so they join those at the top, in order: each new one then ends the cached prompt. Claude follows them as
 * text, and must get them so: newer models refuse their own thinking if the instructions above it have changed.
 */
const KEEPS_PREFIX = "anthropic";

const BEGIN = "(The conversation begins.)";
const NO_RESULT = "No result: the call was interrupted.";
const EMPTY_RESULT = "(no output)";
const RESULT_BEHIND = "(It stands below.)";
const SEE_DOCUMENT = "(See the document.)";

function isCall(item: Item): item is Extract<Item, { type: "function_call" | "custom_tool_call" }> {
  return item.type === "function_call" || item.type === "custom_tool_call";
}

function isOutput(item: Item): item is Output {
  return item.type === "function_call_output" || item.type === "custom_tool_call_output";
}

/** The input of a call as an object. Text that is not a JSON object is sent as it was written. */
function toInput(text: string): JsonObject {
  if (text.trim() === "") return {};
  const parsed = tryParseJson(text);
  return isJsonObject(parsed) ? parsed : { invalid: parsed ?? text };
}

/** Bedrock refuses blank texts. */
function texts(text: string): { readonly text: string }[] {
  return text.trim() === "" ? [] : [{ text }];
}

/** A cache point needs something before it to cache. */
function withPoint<Block>(blocks: readonly Block[], point: readonly CachePoint[]) {
  return blocks.length === 0 ? [] : [...blocks, ...point];
}

function toText(content: string | readonly ContentPart[]): string {
  return typeof content === "string" ? content : content.map(partText).join("");
}

function partText(part: ContentPart): string {
  if (part.type === "refusal") return part.refusal;
  return textOfPart(part) ?? "";
}

/** Bedrock refuses reasoning without anything after it, which is left by an interrupted answer. */
function toTurn({ role, content }: OpenTurn): ConverseTurn {
  if (role === "assistant") {
    return { role, content: content.slice(0, content.findLastIndex(isSaid) + 1) };
  }
  const isBare = content.some((block) => "document" in block) && !content.some(isText);
  return { role, content: isBare ? [...content, { text: SEE_DOCUMENT }] : content };
}

function isSaid(block: ContentBlock): boolean {
  return !("reasoningContent" in block);
}

function isText(block: ContentBlock): block is { readonly text: string } {
  return "text" in block;
}

/** Merges turns of the same role, because a turn between them may be empty. */
function mergeTurns(turns: readonly ConverseTurn[]): ConverseTurn[] {
  const merged: ConverseTurn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role !== turn.role) merged.push(turn);
    else merged[merged.length - 1] = { ...last, content: [...last.content, ...turn.content] };
  }
  return merged;
}

/** Removes trailing white space from an answer that the model continues, because the API refuses it. */
function withoutTrailingSpace(turns: readonly ConverseTurn[]): readonly ConverseTurn[] {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== "assistant" || !block || !isText(block)) return turns;
  const content = [...last.content.slice(0, -1), { text: block.text.trimEnd() }];
  return [...turns.slice(0, -1), { ...last, content }];
}
