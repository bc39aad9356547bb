/**
 * Decodes events of `streamGenerateContent` to model events.
 *
 * An answer is a list of parts. Adjacent texts become one message, adjacent thoughts one reasoning item. A
 * call, whole or in pieces, ends what was open before it. Every other kind of part is kept unchanged.
 * Signatures go into reasoning items beside what they sign (`sealed-part.ts`). The end event comes at the
 * end of the stream, because some models repeat their finish reason in every event.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject, tryParsePayload } from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { EndReason, ModelEvent } from "../../protocol/model-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import { toNamelessCall, toUnreadable } from "../broken-answer.ts";
import type { ModelRequest } from "../provider.ts";
import { toVendorFailure } from "../provider-failure.ts";
import { readShape } from "../shape.ts";
import type { Decoder } from "../wire.ts";
import { isBroken, isFiltered, readUsage, toRefusalText } from "./answer-end.ts";
import { type Sources, toCitations } from "./citations.ts";
import { familyOf } from "./family.ts";
import { HostedCalls } from "./hosted-calls.ts";
import {
  addSegment,
  createOpenText,
  type OpenText,
  toLogprobs,
  toMessage,
  toReasoning,
  toStart,
} from "./open-text.ts";
import { ArgumentsWriter, toArguments } from "./partial-arguments.ts";
import { pictureIn, toPicture, toPictureStart } from "./picture.ts";
import {
  ASIDE,
  CHUNK,
  type GeminiAnswerCall,
  type GeminiAnswerPart,
  type GeminiCandidate,
  HEAD,
} from "./schema.ts";
import { OWN_ID, type SealedPart } from "./sealed-part.ts";

type Asked = Pick<ModelRequest, "items"> & Partial<Pick<ModelRequest, "tools" | "model">>;

export function createDecoder(request: Asked): Decoder {
  return new GeminiDecoder(request);
}

interface OpenCall {
  readonly index: number;
  /** The id that the vendor gave. */
  readonly id: string | undefined;
  readonly call: Omit<FunctionCall, "arguments">;
  readonly writer: ArgumentsWriter;
  /** Arguments that came whole; they win over pieces. */
  args: JsonObject | undefined;
  /** A signature that came after the call had begun. */
  lateSignature: string | undefined;
}

type Status = "completed" | "incomplete";

class GeminiDecoder implements Decoder {
  /** Number of items in the conversation. It makes our ids differ from those of other turns. */
  readonly #turn: number;
  #responseId = "";
  #isStarted = false;
  #isEnded = false;
  #nextIndex = 0;
  #open: OpenText | undefined;
  /** A text that a picture or code ended. It is closed later, as its sources may still come. */
  #waiting: OpenText | undefined;
  /** Sources that came before a text. */
  #early: Sources[] = [];
  #call: OpenCall | undefined;
  readonly #callIds = new Set<string>();
  #finish: { readonly reason: string; readonly message: string | undefined } | undefined;
  #token: string | undefined;
  /** The counts so far. */
  #usage: object = {};
  /** The probabilities of an event whose text is still to be read. */
  #logprobs: Logprob[] | undefined;
  readonly #hosted: HostedCalls;
  readonly #paysQueries: boolean;

  constructor({ items, tools = [], model = "" }: Asked) {
    this.#turn = items.length;
    this.#hosted = new HostedCalls(tools);
    this.#paysQueries = familyOf(model).paysQueries;
  }

  /** Without `alt=sse` the stream is one list of events. */
  read(data: string, out: ModelEvent[]): void {
    const parsed = tryParsePayload(data);
    const chunks: readonly (Json | undefined)[] = Array.isArray(parsed) ? parsed : [parsed];
    for (const chunk of chunks) if (isJsonObject(chunk)) this.#readChunk(chunk, out);
  }

  get usage(): Usage {
    return readUsage(this.#usage, this.#hosted.counts(this.#paysQueries));
  }

  end(out: ModelEvent[]): void {
    if (this.#isEnded) return;
    if (!this.#finish) {
      throw new Failure(
        "provider_broke_protocol",
        "The stream ended before the answer did: no finish reason came.",
      );
    }
    this.#end(this.#finish.reason, out);
  }

  #readChunk(sent: JsonObject, out: ModelEvent[]): void {
    if (sent["error"]) throw toVendorFailure(sent["error"]);
    // A proxy may send an error itself in place of a chunk.
    if (sent["type"] === "error") throw toVendorFailure(sent);
    const { candidates, promptFeedback, usageMetadata } = readShape(sent, CHUNK);
    if (!candidates && !promptFeedback && !usageMetadata) return;
    if (!this.#isStarted) this.#start(sent, out);
    // Counts arrive in parts; one that is missing later still counts.
    this.#usage = { ...this.#usage, ...usageMetadata };
    if (promptFeedback?.blockReason) {
      const { blockReason, blockReasonMessage } = promptFeedback;
      this.#finish = { reason: `PROMPT_${blockReason}`, message: blockReasonMessage ?? undefined };
    }
    const candidate = candidates?.find(({ index }) => !index);
    if (candidate) this.#readCandidate(candidate, out);
  }

  #start(sent: JsonObject, out: ModelEvent[]): void {
    this.#isStarted = true;
    const { responseId, modelVersion } = readShape(sent, HEAD);
    this.#responseId = responseId ?? "";
    out.push({ type: "start", response_id: this.#responseId, model: modelVersion ?? "" });
  }

  #readCandidate(candidate: GeminiCandidate, out: ModelEvent[]): void {
    const aside = hasAside(candidate) ? readShape(candidate, ASIDE) : {};
    const { logprobsResult, finishMessage, continuationToken } = aside;
    this.#logprobs = logprobsResult ? toLogprobs(logprobsResult) : undefined;
    for (const part of candidate.content?.parts ?? []) this.#readPart(part, out);
    if (aside.citationMetadata || aside.groundingMetadata) this.#addSources(aside);
    this.#token = continuationToken ?? this.#token;
    const { finishReason } = candidate;
    if (!finishReason || finishReason === "FINISH_REASON_UNSPECIFIED") return;
    const message = finishMessage ?? undefined;
    if (isBroken(finishReason)) throw toUnreadable(finishReason, message);
    this.#finish = { reason: finishReason, message };
  }

  #addSources(sources: Sources): void {
    this.#hosted.readSources(sources);
    const open = this.#open?.kind === "text" ? this.#open : this.#waiting;
    (open?.sources ?? this.#early).push(sources);
  }

  #readPart(part: GeminiAnswerPart, out: ModelEvent[]): void {
    const signature = part.thoughtSignature ?? undefined;
    if (part.functionCall) return this.#readCall(part.functionCall, signature, out);
    const kind = kindOf(part);
    if (kind !== undefined) return this.#readBlock(kind, part, out);
    const text = part.text ?? "";
    if (text === "" && signature === undefined) return;
    this.#closeCall("completed", out);
    if (part.thought) this.#readThought(text, signature, out);
    else this.#readText(text, signature, out);
  }

  /** A signed thought is an item of its own, because its signature covers only that text. */
  #readThought(text: string, thought: string | undefined, out: ModelEvent[]): void {
    if (thought !== undefined) this.#closeText("completed", out);
    if (this.#open?.kind !== "thought") this.#openText("thought", out);
    this.#append(text, undefined, out);
    if (thought !== undefined) this.#closeThought({ thought }, out);
  }

  #readText(text: string, signature: string | undefined, out: ModelEvent[]): void {
    if (this.#open?.kind === "text") return this.#append(text, signature, out);
    if (text === "") return this.#sealAlone({ text: [[0, signature ?? null]] }, out);
    this.#openText("text", out);
    this.#append(text, signature, out);
  }

  #openText(kind: OpenText["kind"], out: ModelEvent[]): void {
    this.#closeText("completed", out);
    if (kind === "text") this.#endWaiting(out);
    const index = this.#nextIndex++;
    const sources = kind === "text" ? this.#early.splice(0) : [];
    this.#open = createOpenText(kind, index, sources);
    out.push({ type: "item_start", index, item: toStart(kind) });
  }

  #append(delta: string, signature: string | undefined, out: ModelEvent[]): void {
    const open = this.#open;
    if (!open) return;
    open.text += delta;
    addSegment(open.segments, [delta.length, signature ?? null]);
    if (delta === "") return;
    const place = { index: open.index, part: 0, delta };
    if (open.kind === "text") out.push({ type: "text_delta", ...place, ...this.#likely(open) });
    else out.push({ type: "reasoning_delta", kind: "summary", ...place });
  }

  /** They belong to an event and not to a part: the first text of the event gets them. */
  #likely(open: OpenText): { readonly logprobs?: readonly Logprob[] } {
    const logprobs = this.#logprobs;
    if (!logprobs) return {};
    this.#logprobs = undefined;
    open.logprobs = [...(open.logprobs ?? []), ...logprobs];
    return { logprobs };
  }

  #closeText(status: Status, out: ModelEvent[]): void {
    if (this.#open?.kind === "thought") this.#closeThought({}, out);
    else if (this.#open) this.#closeMessage(this.#open, status, out);
  }

  #interrupt(out: ModelEvent[]): void {
    const open = this.#open;
    if (open?.kind !== "text") return this.#closeText("completed", out);
    this.#open = undefined;
    this.#waiting = open;
    this.#sealText(open, out);
  }

  #endWaiting(out: ModelEvent[]): void {
    if (this.#waiting) this.#endMessage(this.#waiting, "completed", out);
    this.#waiting = undefined;
  }

  #closeThought(sealed: SealedPart, out: ModelEvent[]): void {
    if (!this.#open) return;
    const { index, text } = this.#open;
    this.#open = undefined;
    out.push({ type: "item_end", index, item: toReasoning(text, sealed) });
  }

  #closeMessage(open: OpenText, status: Status, out: ModelEvent[]): void {
    this.#open = undefined;
    this.#endMessage(open, status, out);
    this.#sealText(open, out);
  }

  #endMessage(open: OpenText, status: Status, out: ModelEvent[]): void {
    const { index, sources, text } = open;
    const annotations = toCitations(sources, text);
    for (const annotation of annotations) {
      out.push({ type: "annotation", index, part: 0, annotation });
    }
    out.push({ type: "item_end", index, item: toMessage(open, annotations, status) });
  }

  #sealText({ segments }: OpenText, out: ModelEvent[]): void {
    const isSigned = segments.some(([, signature]) => signature !== null);
    if (isSigned) this.#sealAlone({ text: segments }, out);
  }

  /** A reasoning item without text, for the vendor only. */
  #sealAlone(sealed: SealedPart, out: ModelEvent[]): void {
    this.#closeText("completed", out);
    const index = this.#nextIndex++;
    out.push({ type: "item_start", index, item: { type: "reasoning", summary: [] } });
    out.push({ type: "item_end", index, item: toReasoning("", sealed) });
  }

  #readCall(part: GeminiAnswerCall, signature: string | undefined, out: ModelEvent[]): void {
    const isContinued = !part.name || (part.id && part.id === this.#call?.id);
    if (!isContinued) this.#openCall(part, signature, out);
    const call = this.#call;
    // An empty part after a complete call only repeats that it is complete.
    if (!call && !part.args && !part.partialArgs) return;
    if (!call) {
      throw toNamelessCall();
    }
    if (isContinued) call.lateSignature = signature ?? call.lateSignature;
    call.args = (part.args as JsonObject | null | undefined) ?? call.args;
    for (const partial of part.partialArgs ?? []) {
      const delta = call.writer.write(partial);
      if (delta !== "") out.push({ type: "arguments_delta", index: call.index, delta });
    }
    if (!part.willContinue) this.#closeCall("completed", out);
  }

  #openCall(part: GeminiAnswerCall, next: string | undefined, out: ModelEvent[]): void {
    this.#closeCall("completed", out);
    if (next === undefined) this.#closeText("completed", out);
    else if (this.#open?.kind === "thought") this.#closeThought({ next }, out);
    else this.#sealAlone({ next }, out);
    const id = part.id || undefined;
    const call: OpenCall["call"] = {
      type: "function_call",
      call_id: this.#callId(id),
      name: part.name ?? "",
    };
    const index = this.#nextIndex++;
    const writer = new ArgumentsWriter();
    this.#call = { index, id, call, writer, args: undefined, lateSignature: undefined };
    const item: FunctionCall = { ...call, arguments: "", status: "in_progress" };
    out.push({ type: "item_start", index, item });
  }

  /** The id of a call. Results are matched by id, so a missing or repeated id is replaced. */
  #callId(id: string | undefined): string {
    const count = this.#callIds.size;
    const made = `${OWN_ID}${this.#responseId || `turn${this.#turn}`}_${count}`;
    const callId = id === undefined ? made : this.#callIds.has(id) ? `${id}_${count}` : id;
    this.#callIds.add(callId);
    return callId;
  }

  #closeCall(status: Status, out: ModelEvent[]): void {
    if (!this.#call) return;
    const { index, call, writer, args, lateSignature } = this.#call;
    this.#call = undefined;
    const isInPieces = writer.text !== "";
    const rest = isInPieces ? writer.end() : toArguments(args);
    if (rest !== "") out.push({ type: "arguments_delta", index, delta: rest });
    const text = args || !isInPieces ? toArguments(args) : writer.text;
    out.push({ type: "item_end", index, item: { ...call, arguments: text, status } });
    if (lateSignature !== undefined) this.#sealAlone({ last: lateSignature }, out);
  }

  #readBlock(kind: string, block: GeminiAnswerPart, out: ModelEvent[]): void {
    this.#closeCall("completed", out);
    this.#interrupt(out);
    const next = () => this.#next();
    if (this.#hosted.readPart(kind, block, { next, out })) return;
    const { index, id } = next();
    const isPicture = pictureIn(block) !== undefined;
    const own = { type: `google:${kind}`, id, block } as unknown as Item;
    const start = isPicture ? toPictureStart(id) : own;
    const item = isPicture ? toPicture(id, block) : own;
    out.push({ type: "item_start", index, item: start }, { type: "item_end", index, item });
  }

  #next(): { index: number; id: string } {
    const index = this.#nextIndex++;
    return { index, id: `${this.#responseId || "google"}_${index}` };
  }

  #end(finishReason: string, out: ModelEvent[]): void {
    this.#isEnded = true;
    const status = finishReason === "MAX_TOKENS" ? "incomplete" : "completed";
    this.#closeCall(status, out);
    this.#closeText(status, out);
    this.#endWaiting(out);
    this.#citeAlone(out);
    this.#hosted.end(() => this.#next(), out);
    const reason = this.#endReason(finishReason);
    if (reason === "refusal") this.#refuse(finishReason, out);
    if (reason === "pause" && this.#token) this.#sealAlone({ token: this.#token }, out);
    out.push({ type: "end", reason, usage: this.usage, continuation: undefined });
  }

  /** Sources of an answer without text go into an empty message. */
  #citeAlone(out: ModelEvent[]): void {
    if (toCitations(this.#early, "").length === 0) return;
    this.#openText("text", out);
    this.#closeText("completed", out);
  }

  #endReason(finishReason: string): EndReason {
    if (finishReason === "MAX_TOKENS") return "length";
    if (finishReason === "CONTINUATION") return "pause";
    if (isFiltered(finishReason)) return "refusal";
    return this.#callIds.size > 0 ? "tool_calls" : "stop";
  }

  /** The vendor's filter gives its reason in a field. If it has no text, one is written here. */
  #refuse(finishReason: string, out: ModelEvent[]): void {
    const index = this.#nextIndex++;
    const refusal = toRefusalText(finishReason, this.#finish?.message);
    const message = { type: "message", role: "assistant" } as const;
    const start: Item = { ...message, status: "in_progress", content: [] };
    const end: Item = { ...message, status: "completed", content: [{ type: "refusal", refusal }] };
    out.push({ type: "item_start", index, item: start });
    out.push({ type: "refusal_delta", index, part: 0, delta: refusal });
    out.push({ type: "item_end", index, item: end });
  }
}

function hasAside(candidate: GeminiCandidate): boolean {
  if (candidate.finishReason || "logprobsResult" in candidate) return true;
  if ("groundingMetadata" in candidate || "citationMetadata" in candidate) return true;
  return "continuationToken" in candidate;
}

const WORDS = new Set(["text", "thought", "thoughtSignature"]);

/** The name of a part's content if it is not one that we read. */
function kindOf(part: GeminiAnswerPart): string | undefined {
  if (typeof part.text === "string") return undefined;
  const isOther = ([name, value]: readonly [string, unknown]) => !WORDS.has(name) && value !== null;
  return Object.entries(part).find(isOther)?.[0];
}
