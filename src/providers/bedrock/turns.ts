/**
 * Items as turns of a Converse conversation.
 *
 * The rules of the API: turns alternate and start with the user's; every call is answered in the
 * very next turn, and a result answers a call of the turn before; no text is blank; a document has
 * a text beside it. A conversation made elsewhere keeps none of them by itself, so results are looked
 * up by their call and put where they must be.
 */

import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
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
  Role,
  SystemBlock,
  ToolResult,
  ToolResultBlock,
  Turn,
} from "./schema.ts";

export interface Conversation {
  readonly turns: readonly Turn[];
  /** What system and developer messages in front of the conversation said. */
  readonly system: readonly SystemBlock[];
}

export interface TurnOptions {
  /** Whose reasoning can be sent back. */
  readonly maker: string;
  /** Without tools the API takes no calls and results, not even old ones: they are told as text. */
  readonly hasTools: boolean;
  /** Whether parts that the caller marked end what is to be cached. */
  readonly hasPoints: boolean;
}

export function encodeTurns(items: readonly Item[], options: TurnOptions): Conversation {
  const list = new TurnList(items, options);
  for (const [at, item] of items.entries()) list.add(item, at);
  return list.finish();
}

/** A call, from whichever kind of item. */
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
  /** Where the user spoke last. */
  readonly #asked: number;
  readonly #system: SystemBlock[] = [];
  readonly #turns: OpenTurn[] = [];
  /** The answers that the next turn must begin with. */
  #due: ContentBlock[] = [];
  /** What those answers hold, and may not hold in themselves. */
  #behind: ContentBlock[] = [];

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

  finish(): Conversation {
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
    if (this.#turns.length === 0) this.#system.push(...withPoint(texts(text), point));
    // A turn of its own would break the alternation, and only the newest models know such a role.
    else {
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

  /** The result stands with its call already; here the turn of the calls ends. */
  #addOutput(item: Output): void {
    this.#answerCalls();
    if (this.#called.has(item.call_id)) return;
    this.#push("user", [{ text: "[Result of an earlier call]" }, ...this.#told(item)]);
  }

  /** Without a signature it is of use between calls; behind the answer it is no more than its price. */
  #addReasoning({ encrypted_content }: Reasoning, isCurrent: boolean): void {
    const { maker, hasTools } = this.#options;
    const content = unsealReasoning(encrypted_content, maker);
    if (!content || (isUnsigned(content) && !(isCurrent && hasTools))) return;
    this.#push("assistant", [{ reasoningContent: content }]);
  }

  /** What the vendor's own tools left goes back word for word. */
  #addOwn(item: Item): void {
    const block = ownBlockOf(item as unknown as JsonObject);
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
    // One point is enough behind all results.
    const points = this.#behind.filter(isPoint).slice(0, 1);
    const media = this.#behind.filter((block) => !isPoint(block));
    this.#turns.push({ role: "user", content: [...this.#due, ...media, ...points] });
    this.#due = [];
    this.#behind = [];
  }

  #keepOutput(item: Output): void {
    const known = this.#outputs.get(item.call_id);
    if (known) known.push(item);
    else this.#outputs.set(item.call_id, [item]);
  }

  #toResult(output: Output | undefined): Omit<ToolResult, "toolUseId"> {
    if (!output) return { content: [{ text: NO_RESULT }], status: "error" };
    const all = this.#encodeContent(output.output);
    const content = all.filter((block) => this.#isResultBlock(block));
    this.#behind.push(...all.filter((block) => !this.#isResultBlock(block)));
    const failed = output.status === "incomplete" ? ({ status: "error" } as const) : {};
    if (content.length > 0) return { content, ...failed };
    return { content: [{ text: all.length > 0 ? RESULT_BEHIND : EMPTY_RESULT }], ...failed };
  }

  /** No result holds sound, and none that a model of Amazon is given a document. */
  #isResultBlock(block: ContentBlock): block is ToolResultBlock {
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

/** What is no object cannot be sent as one; it is shown as it was written. */
function toInput(text: string): JsonObject {
  if (text.trim() === "") return {};
  const parsed = tryParseJson(text);
  return isJsonObject(parsed) ? parsed : { invalid: parsed ?? text };
}

/** Blank texts are refused. */
function texts(text: string): { readonly text: string }[] {
  return text.trim() === "" ? [] : [{ text }];
}

/** Behind nothing there is nothing to cache. */
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

/** Reasoning with nothing behind it is of an answer that was cut, and refused. */
function toTurn({ role, content }: OpenTurn): Turn {
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

/** Turns between two of the same role may have turned out empty. */
function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role !== turn.role) merged.push(turn);
    else merged[merged.length - 1] = { ...last, content: [...last.content, ...turn.content] };
  }
  return merged;
}

/** An answer that the model is to go on with may not end in white space. */
function withoutTrailingSpace(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== "assistant" || !block || !isText(block)) return turns;
  const content = [...last.content.slice(0, -1), { text: block.text.trimEnd() }];
  return [...turns.slice(0, -1), { ...last, content }];
}
