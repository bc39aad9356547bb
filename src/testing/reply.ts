/**
 * The answers of a scripted model, as plain values: `reply.text("Hello")`, `reply.calls([…])`.
 *
 * The same value works in an upstream server and in an in-process provider. `reply.raw` is bytes of one vendor's wire
 * and works in an upstream only.
 */

import type { JsonObject } from "../base/json.ts";
import type { EndReason } from "../protocol/model-events.ts";

/** Small enough that a short sentence comes in several pieces. */
const PIECE_LENGTH = 7;

export type Reply = AnswerReply | RawReply | StatusReply;

export interface AnswerReply {
  readonly kind: "answer";
  readonly parts: readonly ReplyPart[];
  /** `fail`: stops with an error. `hang`: sends nothing further and never ends. Neither closes the last item. */
  readonly ending: EndReason | "fail" | "hang";
  /** Why it failed; empty otherwise. */
  readonly message: string;
  /** Characters in each delta. */
  readonly pieceLength: number;
  /** Tokens to report; counted from the text when left out. */
  readonly usage: ReplyUsage | undefined;
}

export type ReplyPart =
  | {
      readonly type: "text";
      readonly text: string;
      /** The pages that all of the text is cited from; none unless given. */
      readonly cites?: readonly ScriptedPage[];
    }
  | {
      /** A search that the vendor makes itself. */
      readonly type: "search";
      readonly query: string;
      readonly pages: readonly ScriptedPage[];
      /** Says nothing. */
      readonly text: "";
    }
  | {
      /** A picture that the model draws. */
      readonly type: "picture";
      /** Base64 of a PNG. */
      readonly data: string;
      /** Says nothing. */
      readonly text: "";
    }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "refusal"; readonly text: string }
  | {
      readonly type: "call";
      readonly name: string;
      readonly arguments: string;
      /** Generated when left out. */
      readonly call_id: string | undefined;
    };

export interface ScriptedPage {
  readonly url: string;
  readonly title: string;
}

export interface RawReply {
  readonly kind: "raw";
  readonly body: string;
}

export interface StatusReply {
  readonly kind: "status";
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface ReplyUsage {
  readonly input?: number;
  readonly cached?: number;
  readonly output?: number;
  readonly reasoning?: number;
}

export interface ReplyOptions {
  readonly pieceLength?: number;
  readonly usage?: ReplyUsage;
}

export interface ScriptedCall {
  readonly name: string;
  /** Text is sent as it is, even if it is not JSON; an object is written as JSON. */
  readonly arguments: string | JsonObject;
  readonly call_id?: string;
}

export const reply = {
  text: (text: string, options: ReplyOptions = {}): AnswerReply =>
    answer([{ type: "text", text }], "stop", options),

  /** Searches with a tool of the vendor's own, and says what it found, with its sources. */
  searched: (
    { query, pages }: { readonly query: string; readonly pages: readonly ScriptedPage[] },
    text: string,
    options: ReplyOptions = {},
  ): AnswerReply =>
    answer(
      [
        { type: "search", query, pages, text: "" },
        { type: "text", text, cites: pages },
      ],
      "stop",
      options,
    ),

  /** Draws a picture (base64 of a PNG), after a sentence about it. */
  picture: (data: string, text: string, options: ReplyOptions = {}): AnswerReply =>
    answer(
      [
        { type: "text", text },
        { type: "picture", data, text: "" },
      ],
      "stop",
      options,
    ),

  /** Thinks first, then continues as `then` does. */
  reasoning: (text: string, then: AnswerReply): AnswerReply => ({
    ...then,
    parts: [{ type: "reasoning", text }, ...then.parts],
  }),

  /** Calls tools, after a sentence of text if there is one. */
  calls: (
    calls: readonly ScriptedCall[],
    options: ReplyOptions & { readonly text?: string } = {},
  ): AnswerReply => {
    const parts: ReplyPart[] = calls.map((call) => ({
      type: "call",
      name: call.name,
      arguments:
        typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
      call_id: call.call_id,
    }));
    if (options.text !== undefined) parts.unshift({ type: "text", text: options.text });
    return answer(parts, "tool_calls", options);
  },

  refusal: (text: string, options: ReplyOptions = {}): AnswerReply =>
    answer([{ type: "refusal", text }], "refusal", options),

  /** Text that the token limit truncated. */
  length: (text: string, options: ReplyOptions = {}): AnswerReply =>
    answer([{ type: "text", text }], "length", options),

  /** Says `text` and then stops with an error, as a server that fails in the middle does. */
  failure: (
    message: string,
    options: ReplyOptions & { readonly text?: string } = {},
  ): AnswerReply => ({
    ...answer(
      options.text === undefined ? [] : [{ type: "text", text: options.text }],
      "fail",
      options,
    ),
    message,
  }),

  /** Says `text` and then nothing more until it is cancelled. */
  silence: (text = "", options: ReplyOptions = {}): AnswerReply =>
    answer(text === "" ? [] : [{ type: "text", text }], "hang", options),

  /**
   * An event stream word for word. A string is the whole body; a list has one `data:` payload for each entry, like the
   * lines of a recording.
   */
  raw: (body: string | readonly string[]): RawReply => ({
    kind: "raw",
    body: typeof body === "string" ? body : body.map((data) => `data: ${data}\n\n`).join(""),
  }),

  /** An HTTP answer that replaces the model's. An object is written as JSON. */
  status: (
    status: number,
    body: string | JsonObject = "",
    headers: Readonly<Record<string, string>> = {},
  ): StatusReply => ({
    kind: "status",
    status,
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers,
  }),
} as const;

function answer(
  parts: readonly ReplyPart[],
  ending: AnswerReply["ending"],
  { pieceLength = PIECE_LENGTH, usage }: ReplyOptions,
): AnswerReply {
  return { kind: "answer", parts, ending, message: "", pieceLength, usage };
}
