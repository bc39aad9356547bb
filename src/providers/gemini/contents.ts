/**
 * Writes the conversation as contents of two roles.
 *
 * The rules of the API: the parts of a model's step are together; each call of a step is answered by one
 * function response in the next content; a signature is on its own part; and newer models require one on
 * the first call of each step since the user's last message.
 */

import { asJsonObject, isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { ImageGenerationCall } from "../../protocol/hosted-kinds/image-generation.ts";
import type {
  FunctionCall,
  FunctionCallOutput,
  Item,
  Message,
  Reasoning,
} from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import type { ModelRequest } from "../provider.ts";
import type { Family } from "./family.ts";
import { partsIn } from "./hosted-calls.ts";
import { toMedia } from "./media.ts";
import { toPicturePart } from "./picture.ts";
import type { GeminiContent, GeminiMedia, GeminiPart } from "./schema.ts";
import { OWN_ID, type TextSegment, unsealPart } from "./sealed-part.ts";

/** The documented value for a call that another model made. */
const NO_SIGNATURE = "skip_thought_signature_validator";

const UNANSWERED = "This call was not answered.";

/** The types that a function response may contain, as the API documents them. */
const RESPONSE_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "application/pdf",
  "text/plain",
]);

export function encodeContents({ items }: ModelRequest, family: Family): GeminiContent[] {
  const list = new ContentList(items, family);
  for (const item of items) list.add(item);
  return list.finish();
}

/**
 * Finds how to continue a paused answer, if the conversation ends with one: the token, and the conversation
 * without the partial answer, because the same request must be sent again.
 */
export function findContinuation(
  items: readonly Item[],
): { readonly token: string; readonly items: readonly Item[] } | undefined {
  const last = items.at(-1);
  const token = last?.type === "reasoning" ? unsealPart(last.encrypted_content)?.token : undefined;
  if (token === undefined) return undefined;
  const asked = items.findLastIndex((item) => !isAnswer(item));
  return { token, items: items.slice(0, asked + 1) };
}

const ANSWERS: ReadonlySet<string> = new Set([
  "reasoning",
  "function_call",
  "image_generation_call",
  "web_search_call",
  "code_interpreter_call",
]);

function isAnswer(item: Item): boolean {
  if (item.type === "message") return item.role === "assistant";
  return ANSWERS.has(item.type) || item.type.includes(":");
}

class ContentList {
  readonly #family: Family;
  readonly #contents: GeminiContent[] = [];
  readonly #outputs: ReadonlyMap<FunctionCall, FunctionCallOutput>;
  readonly #paired: ReadonlySet<FunctionCallOutput>;
  #unanswered: FunctionCall[] = [];
  #signature: string | undefined;

  constructor(items: readonly Item[], family: Family) {
    this.#family = family;
    this.#outputs = pairOutputs(items);
    this.#paired = new Set(this.#outputs.values());
  }

  add(item: Item): void {
    const signature = this.#signature;
    this.#signature = undefined;
    switch (item.type) {
      case "message":
        return this.#addMessage(item);
      case "function_call":
        return this.#addCall(item, signature);
      case "function_call_output":
        return this.#addOutput(item);
      case "reasoning":
        return this.#addReasoning(item);
      case "image_generation_call":
        return this.#addPicture(item);
      default:
        return this.#addBlock(asJsonObject(item));
    }
  }

  finish(): GeminiContent[] {
    this.#answerCalls();
    // A conversation whose beginning was left out may start in the middle of a step.
    if (this.#contents[0]?.role === "model") {
      this.#contents.unshift({ role: "user", parts: [{ text: "[The beginning is left out.]" }] });
    }
    if (this.#family.isSigned) signCalls(this.#contents);
    return this.#contents;
  }

  #addMessage({ role, content }: Message): void {
    const parts = toParts(content);
    if (role === "assistant") return this.#addModel(...parts);
    this.#answerCalls();
    this.#addUser(parts);
  }

  #addCall(call: FunctionCall, thoughtSignature: string | undefined): void {
    this.#unanswered.push(call);
    this.#addModel({
      functionCall: { ...toId(call.call_id), name: call.name, args: toArgs(call.arguments) },
      ...(thoughtSignature !== undefined && { thoughtSignature }),
    });
  }

  /** The first output of a step answers all its calls. An output without a call is sent as text. */
  #addOutput(output: FunctionCallOutput): void {
    this.#answerCalls();
    if (this.#paired.has(output)) return;
    this.#addUser([{ text: `[Result of an earlier call]\n${toText(output.output)}` }]);
  }

  #answerCalls(): void {
    const calls = this.#unanswered;
    if (calls.length === 0) return;
    this.#unanswered = [];
    const after: GeminiMedia[] = [];
    const parts = calls.map((call) => {
      const output = this.#outputs.get(call);
      const media = output ? mediaOf(output.output) : [];
      after.push(...media.filter((part) => !this.#fitsResponse(part)));
      return toResponse(
        call,
        output,
        media.filter((part) => this.#fitsResponse(part)),
      );
    });
    this.#contents.push({ role: "user", parts });
    if (after.length > 0) this.#contents.push({ role: "user", parts: after });
  }

  /**
   * True if the response may contain the media. Other media, and all media by address, follow after the
   * responses.
   */
  #fitsResponse({ inlineData }: GeminiMedia): boolean {
    return this.#family.hasMediaResponses && RESPONSE_TYPES.has(inlineData?.mimeType ?? "");
  }

  /** Adds reasoning. What another vendor sealed is of no use here. */
  #addReasoning({ summary, encrypted_content }: Reasoning): void {
    const sealed = unsealPart(encrypted_content);
    if (!sealed) return;
    const text = summary.map((part) => part.text).join("\n");
    if (text !== "" || sealed.thought !== undefined) {
      const signed = sealed.thought === undefined ? {} : { thoughtSignature: sealed.thought };
      this.#addModel({ text, thought: true, ...signed });
    }
    if (sealed.text) this.#signText(sealed.text);
    if (sealed.last !== undefined) this.#signLastCall(sealed.last);
    this.#signature = sealed.next;
  }

  /** Splits the text before into the parts in which it came. Text that was changed stays unsigned. */
  #signText(segments: readonly TextSegment[]): void {
    const length = segments.reduce((sum, [count]) => sum + count, 0);
    const parts =
      this.#contents.at(-1)?.role === "model" ? this.#contents.at(-1)?.parts : undefined;
    const text = length === 0 ? "" : (parts?.at(-1)?.text ?? "");
    if (text.length !== length) return;
    if (length > 0) parts?.pop();
    let from = 0;
    for (const [count, thoughtSignature] of segments) {
      const piece = text.slice(from, from + count);
      this.#addModel({ text: piece, ...(thoughtSignature !== null && { thoughtSignature }) });
      from += count;
    }
  }

  #signLastCall(thoughtSignature: string): void {
    const part = this.#contents.at(-1)?.parts.at(-1);
    if (part?.functionCall) part.thoughtSignature = thoughtSignature;
  }

  /** A part of Google's own is sent back unchanged. Items of other vendors' tools cannot be expressed here. */
  #addBlock(item: JsonObject): void {
    const { type, block } = item;
    this.#addModel(...(partsIn(item) as GeminiPart[]));
    if (String(type).startsWith("google:") && isJsonObject(block)) {
      this.#addModel(block as GeminiPart);
    }
  }

  #addPicture(item: ImageGenerationCall): void {
    const part = toPicturePart(item);
    if (part) this.#addModel(part);
  }

  #addModel(...parts: GeminiPart[]): void {
    if (parts.length === 0) return;
    const last = this.#contents.at(-1);
    if (last?.role === "model") last.parts.push(...parts);
    else this.#contents.push({ role: "model", parts });
  }

  /** Never added to a content of function responses, which must have as many parts as there are calls. */
  #addUser(parts: GeminiPart[]): void {
    if (parts.length === 0) return;
    const last = this.#contents.at(-1);
    if (last?.role === "user" && !isResponse(last)) last.parts.push(...parts);
    else this.#contents.push({ role: "user", parts });
  }
}

/** Pairs each call with its output, which may come late. A later turn may use an id again. */
function pairOutputs(items: readonly Item[]): Map<FunctionCall, FunctionCallOutput> {
  const open = new Map<string, FunctionCall>();
  const pairs = new Map<FunctionCall, FunctionCallOutput>();
  for (const item of items) {
    if (item.type === "function_call") open.set(item.call_id, item);
    if (item.type !== "function_call_output") continue;
    const call = open.get(item.call_id);
    if (call) pairs.set(call, item);
    open.delete(item.call_id);
  }
  return pairs;
}

/**
 * Signs calls of the current turn only: the API checks only these, and a placeholder on older ones would
 * cost the model its train of thought.
 */
function signCalls(contents: readonly GeminiContent[]): void {
  const spoken = contents.findLastIndex(
    (content) => content.role === "user" && !isResponse(content),
  );
  for (const { parts } of contents.slice(spoken + 1)) {
    const first = parts.find((part) => part.functionCall);
    if (first) first.thoughtSignature ??= NO_SIGNATURE;
  }
}

function isResponse({ parts }: GeminiContent): boolean {
  return parts.some((part) => part.functionResponse);
}

/** The parts of a message. The API refuses empty texts. */
function toParts(content: Message["content"]): GeminiPart[] {
  const parts = typeof content === "string" ? [{ text: content }] : content.map(toPart);
  return parts.filter((part) => part.text !== "");
}

function toPart(part: ContentPart): GeminiPart {
  return toMedia(part) ?? { text: textOf(part) };
}

function textOf(part: ContentPart): string {
  if (part.type === "refusal") return part.refusal;
  return textOfPart(part) ?? "";
}

/** The vendor's id of a call; none if we created the id. */
function toId(callId: string): { id?: string } {
  return callId.startsWith(OWN_ID) ? {} : { id: callId };
}

/** The arguments as an object, which the API requires. Invalid text of a model is sent as it is. */
function toArgs(text: string): JsonObject {
  const args = tryParseJson(text);
  if (isJsonObject(args)) return args;
  return text.trim() === "" ? {} : { arguments: text };
}

function toResponse(
  { call_id, name }: FunctionCall,
  output: FunctionCallOutput | undefined,
  media: GeminiMedia[],
): GeminiPart {
  const response = output ? toOutcome(output) : { error: UNANSWERED };
  const parts = media.length > 0 ? { parts: media } : {};
  return { functionResponse: { ...toId(call_id), name, response, ...parts } };
}

/** A failed call has its result under another name. */
function toOutcome({ output, status }: FunctionCallOutput): JsonObject {
  return { [status === "incomplete" ? "error" : "output"]: toText(output) };
}

function toText(output: FunctionCallOutput["output"]): string {
  if (typeof output === "string") return output;
  const texts = output.map(textOf);
  return texts.filter((text) => text !== "").join("\n");
}

function mediaOf(output: FunctionCallOutput["output"]): GeminiMedia[] {
  if (typeof output === "string") return [];
  return output.flatMap((part) => toMedia(part) ?? []);
}
