/**
 * All events that a server may send while it streams a response. Those about tool calls are in
 * `tool-call-events.ts`.
 *
 * Order: `created` (or `queued`), `in_progress`; for each item `output_item.added`, its own events,
 * `output_item.done`; then one of `completed`, `incomplete` and `failed`. `error` comes before `failed`.
 */

import { z } from "zod";
import { Annotation, ContentPart, Logprob, SummaryText } from "./content.ts";
import { event, place } from "./event-fields.ts";
import { InputItem, Item } from "./items.ts";
import { open, openUnion, typesOf } from "./open.ts";
import { parseAs } from "./parse.ts";
import { Response } from "./response.ts";
import { TOOL_CALL_EVENT_KINDS } from "./tool-call-events.ts";

/** The state of the whole response, with all that is known of it. */
export const Lifecycle = event(
  [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
  ],
  { response: Response },
);
export type Lifecycle = z.infer<typeof Lifecycle>;

export const OutputItemEvent = event(["response.output_item.added", "response.output_item.done"], {
  output_index: z.number(),
  item: Item,
});
export type OutputItemEvent = z.infer<typeof OutputItemEvent>;

const partPlace = { ...place, content_index: z.number() };

export const ContentPartEvent = event(
  ["response.content_part.added", "response.content_part.done"],
  { ...partPlace, part: ContentPart },
);
export type ContentPartEvent = z.infer<typeof ContentPartEvent>;

const logprobs = z.array(Logprob).nullable().optional();
/** Padding against guessing the text from the length of its pieces. */
const obfuscation = z.string().optional();

export const OutputTextDelta = event(["response.output_text.delta"], {
  ...partPlace,
  delta: z.string(),
  logprobs,
  obfuscation,
});
export type OutputTextDelta = z.infer<typeof OutputTextDelta>;

export const OutputTextDone = event(["response.output_text.done"], {
  ...partPlace,
  text: z.string(),
  logprobs,
});
export type OutputTextDone = z.infer<typeof OutputTextDone>;

export const AnnotationEvent = event(["response.output_text.annotation.added"], {
  ...partPlace,
  annotation_index: z.number(),
  annotation: Annotation.nullable(),
});
export type AnnotationEvent = z.infer<typeof AnnotationEvent>;

export const RefusalDelta = event(["response.refusal.delta"], {
  ...partPlace,
  delta: z.string(),
  obfuscation,
});
export type RefusalDelta = z.infer<typeof RefusalDelta>;

export const RefusalDone = event(["response.refusal.done"], { ...partPlace, refusal: z.string() });
export type RefusalDone = z.infer<typeof RefusalDone>;

export const ReasoningTextDelta = event(["response.reasoning_text.delta"], {
  ...partPlace,
  delta: z.string(),
  obfuscation,
});
export type ReasoningTextDelta = z.infer<typeof ReasoningTextDelta>;

export const ReasoningTextDone = event(["response.reasoning_text.done"], {
  ...partPlace,
  text: z.string(),
});
export type ReasoningTextDone = z.infer<typeof ReasoningTextDone>;

const summaryPlace = { ...place, summary_index: z.number() };

export const SummaryPartEvent = event(
  ["response.reasoning_summary_part.added", "response.reasoning_summary_part.done"],
  { ...summaryPlace, part: SummaryText },
);
export type SummaryPartEvent = z.infer<typeof SummaryPartEvent>;

export const SummaryTextDelta = event(["response.reasoning_summary_text.delta"], {
  ...summaryPlace,
  delta: z.string(),
  obfuscation,
});
export type SummaryTextDelta = z.infer<typeof SummaryTextDelta>;

export const SummaryTextDone = event(["response.reasoning_summary_text.done"], {
  ...summaryPlace,
  text: z.string(),
});
export type SummaryTextDone = z.infer<typeof SummaryTextDone>;

/** Sound, and its transcript; neither names an item. */
export const AudioDelta = event(["response.audio.delta", "response.audio.transcript.delta"], {
  delta: z.string(),
});
export type AudioDelta = z.infer<typeof AudioDelta>;

export const AudioDone = event(["response.audio.done", "response.audio.transcript.done"], {});
export type AudioDone = z.infer<typeof AudioDone>;

const errorFields = {
  code: z.string().nullable().optional(),
  message: z.string().optional(),
  param: z.string().nullable().optional(),
};

/** Flat in the published document, nested in what servers send; both forms are accepted. */
export const ErrorEvent = event(["error"], {
  ...errorFields,
  error: open({ type: z.string().nullable().optional(), ...errorFields })
    .nullable()
    .optional(),
});
export type ErrorEvent = z.infer<typeof ErrorEvent>;

/** Answers to what a client sent into a running response over a WebSocket. */
export const InjectCreated = event(["response.inject.created"], { response_id: z.string() });
export type InjectCreated = z.infer<typeof InjectCreated>;

export const InjectFailed = event(["response.inject.failed"], {
  response_id: z.string(),
  input: z.array(InputItem),
  error: open(errorFields),
});
export type InjectFailed = z.infer<typeof InjectFailed>;

const EVENT_KINDS = [
  Lifecycle,
  OutputItemEvent,
  ContentPartEvent,
  OutputTextDelta,
  OutputTextDone,
  AnnotationEvent,
  RefusalDelta,
  RefusalDone,
  ReasoningTextDelta,
  ReasoningTextDone,
  SummaryPartEvent,
  SummaryTextDelta,
  SummaryTextDone,
  AudioDelta,
  AudioDone,
  ErrorEvent,
  InjectCreated,
  InjectFailed,
  ...TOOL_CALL_EVENT_KINDS,
] as const;

/** Every event type that has a schema; others are kept as they are. */
export const RESPONSE_EVENT_TYPES: readonly string[] = typesOf(EVENT_KINDS);

export const ResponseEvent = openUnion(EVENT_KINDS);
export type ResponseEvent = z.infer<typeof ResponseEvent>;

/** Rejects a known event with a wrong field; keeps an unknown one as it is. */
export function parseResponseEvent(value: unknown): ResponseEvent {
  return parseAs(ResponseEvent, value, "event");
}
