/**
 * The types that our server sends: the parse types, made strict. It has every field that any client of the API relies
 * on, with the type that OpenAI's own client promises (`test/protocol/openai-types.test.ts`).
 *
 * Items of a vendor's own tools are passed on unchanged; their content is the vendor's promise.
 */

import type {
  ContainerFileCitation,
  FileCitation,
  FilePath,
  InputFile,
  InputImage,
  InputText,
  Logprob,
  OutputText,
  ReasoningText,
  Refusal,
  SummaryText,
  UrlCitation,
} from "./content.ts";
import type { ItemStatus } from "./item-fields.ts";
import type {
  Compaction,
  CustomToolCall,
  FunctionCall,
  FunctionCallOutput,
  Item,
  Message,
  Reasoning,
} from "./items.ts";
import type { StopDetail } from "./model-events.ts";
import type { Effort, Metadata, ServiceTier, TextFormat } from "./request.ts";
import type { Response, ResponseError, ResponseStatus } from "./response.ts";
import type * as events from "./response-events.ts";
import type * as toolEvents from "./tool-call-events.ts";
import type { Tool, ToolChoice } from "./tools.ts";
import type { Usage } from "./usage.ts";

/** `Kind` with another type for some of its fields. */
type With<Kind, Fields> = Omit<Kind, keyof Fields> & Fields;

interface Span {
  start_index: number;
  end_index: number;
}

export type EmittedAnnotation =
  | With<UrlCitation, Span & { title: string }>
  | With<FileCitation, { filename: string; index: number }>
  | With<ContainerFileCitation, Span & { filename: string }>
  | With<FilePath, { index: number }>;

interface EmittedToken {
  token: string;
  logprob: number;
  bytes: number[];
}

export type EmittedLogprob = With<Logprob, EmittedToken & { top_logprobs: EmittedToken[] }>;

export type EmittedText = With<
  OutputText,
  { annotations: EmittedAnnotation[]; logprobs: EmittedLogprob[] }
>;

/** A part as `content_part` events carry it; reasoning is never part of a message. */
export type EmittedPart = EmittedText | Refusal | ReasoningText;

interface Made {
  id: string;
  status: ItemStatus;
}

interface InNamespace {
  namespace?: string | undefined;
}

export type EmittedMessage = With<
  Message,
  Made & { role: "assistant"; content: (EmittedText | Refusal)[] }
>;
export type EmittedFunctionCall = With<FunctionCall, Made & InNamespace>;
export type EmittedCustomToolCall = With<CustomToolCall, Made & InNamespace>;
export type EmittedReasoning = With<
  Reasoning,
  { id: string; content?: ReasoningText[] | undefined; status?: ItemStatus | undefined }
>;
export type EmittedCompaction = With<Compaction, { id: string }>;

type Unmarked<Part> = Omit<Part, "prompt_cache_breakpoint">;

/** A tool's result as an input item listing shows it. */
export type EmittedFunctionCallOutput = With<
  FunctionCallOutput,
  Made &
    InNamespace & {
      name?: string | undefined;
      output:
        | string
        | (
            | Unmarked<InputText>
            | With<Unmarked<InputImage>, { detail: NonNullable<InputImage["detail"]> }>
            | With<
                Unmarked<InputFile>,
                {
                  filename?: string | undefined;
                  file_data?: string | undefined;
                  file_url?: string | undefined;
                  detail?: NonNullable<InputFile["detail"]> | undefined;
                }
              >
          )[];
    }
>;

export type OwnItem =
  | EmittedMessage
  | EmittedFunctionCall
  | EmittedFunctionCallOutput
  | EmittedCustomToolCall
  | EmittedReasoning
  | EmittedCompaction;

/** An item of a kind we do not make ourselves. */
export type PassedItem = Exclude<Item, { type: OwnItem["type"] }>;

export type EmittedItem = OwnItem | PassedItem;

export type EmittedError = With<ResponseError, { code: NonNullable<ResponseError["code"]> }>;

/**
 * A response as our server sends it: a superset of what the published API, Open Responses and the older
 * reference require.
 */
export type EmittedResponse = Pick<
  Response,
  "id" | "object" | "model" | "prompt" | "prompt_cache_retention"
> & {
  /** Whole seconds. */
  created_at: number;
  completed_at: number | null;
  status: ResponseStatus;
  error: EmittedError | null;
  incomplete_details: { reason: "max_output_tokens" | "content_filter" } | null;
  output: EmittedItem[];
  output_text: string;
  /** Null until the response has ended. */
  usage: Usage | null;
  metadata: Metadata;
  /**
   * A field of this server: the parameters of the request that were ignored, and why exactly it ended.
   * Missing if there is neither.
   */
  offshoot?: { ignored: string[]; stop?: StopDetail } | undefined;
  /** Always null: one vendor has such programs, for vetted customers. */
  access_programs: null;
  instructions: string | null;
  previous_response_id: string | null;
  conversation: { id: string } | null;
  /** The tools as the client sent them. */
  tools: Tool[];
  tool_choice: ToolChoice;
  parallel_tool_calls: boolean;
  reasoning: {
    effort: Effort | null;
    summary: "auto" | "concise" | "detailed" | null;
  } | null;
  reasoning_effort: Effort | null;
  text: { format: TextFormat; verbosity?: "low" | "medium" | "high" | null | undefined };
  truncation: "auto" | "disabled";
  temperature: number;
  top_p: number;
  top_logprobs: number;
  frequency_penalty: number;
  presence_penalty: number;
  max_output_tokens: number | null;
  max_tool_calls: number | null;
  store: boolean;
  background: boolean;
  service_tier: ServiceTier;
  safety_identifier: string | null;
  prompt_cache_key: string | null;
  user: string | null;
};

/** An event with the number and the position that our server always gives. */
type Sent<Event, Fields = unknown> = With<
  Event,
  Fields &
    ("item_id" extends keyof Event ? { output_index: number } : unknown) & {
      sequence_number: number;
    }
>;

export type EmittedErrorEvent = Sent<
  events.ErrorEvent,
  {
    code: string | null;
    message: string;
    param: string | null;
    error: { type: string; code: string | null; message: string; param: string | null };
  }
>;

export type EmittedEvent =
  | Sent<events.Lifecycle, { response: EmittedResponse }>
  | Sent<events.OutputItemEvent, { item: EmittedItem }>
  | Sent<events.ContentPartEvent, { part: EmittedPart }>
  | Sent<events.OutputTextDelta, { logprobs: EmittedLogprob[] }>
  | Sent<events.OutputTextDone, { logprobs: EmittedLogprob[] }>
  | Sent<events.AnnotationEvent, { annotation: EmittedAnnotation }>
  | Sent<events.RefusalDelta>
  | Sent<events.RefusalDone>
  | Sent<events.ReasoningTextDelta>
  | Sent<events.ReasoningTextDone>
  | Sent<events.SummaryPartEvent, { part: SummaryText }>
  | Sent<events.SummaryTextDelta>
  | Sent<events.SummaryTextDone>
  | Sent<toolEvents.ToolCallDelta, { type: OwnDelta }>
  | Sent<toolEvents.FunctionCallArgumentsDone, { name: string }>
  | Sent<toolEvents.CustomToolCallInputDone>
  | EmittedErrorEvent;

/** The calls that we stream ourselves. */
type OwnDelta = "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta";

/** An event before it has its number. */
export type Unnumbered = WithoutNumber<EmittedEvent>;

/** Applied to each member of a union, so that the result stays a union. */
type WithoutNumber<Event> = Event extends unknown ? Omit<Event, "sequence_number"> : never;
