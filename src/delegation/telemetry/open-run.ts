/**
 * A run while it lasts, as spans: itself `invoke_agent`, its turns `chat`, its calls
 * `execute_tool`. Metrics are counted when a turn or the run ends.
 */

import { FAILURES } from "../../base/failure.ts";
import type { ModelStart } from "../../protocol/model-events.ts";
import {
  ENDINGS,
  type Notice,
  type RunCompaction,
  type RunEnd,
  type RunEvent,
  type RunResume,
  type RunSettings,
  type RunStart,
  type TurnEnd,
  type TurnStart,
} from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import { type CallSpans, createCallSpans } from "./call-spans.ts";
import { toChildEndEvent, toChildStartEvent } from "./child-events.ts";
import { type Fields, OPERATIONS, SPAN_EVENTS, toAttributes, toModelFields } from "./genai.ts";
import { type OpenSpan, openSpan } from "./open-span.ts";
import { type Measurement, NO_SIGNALS, type Signals, type Span } from "./signals.ts";
import type { TraceContext } from "./trace-context.ts";

export interface Placement {
  readonly trace: Omit<TraceContext, "spanId">;
  readonly parent: TraceContext | undefined;
  readonly links: readonly TraceContext[];
  /** The id of the run at the top of the tree. */
  readonly conversation: string;
}

export interface OpenRun {
  readonly conversation: string;
  readonly context: TraceContext;
  /** True if the event with this number was not seen yet. */
  isNews(seq: number): boolean;
  observe(seq: number, event: RunEvent): Signals;
  /** The parent of a child of this call: the call's span, or the run's if the call is not known. */
  contextOf(callKey: string): TraceContext;
}

/** The name of a run without a label. */
const NO_LABEL = "offshoot";

export function openRun(start: RunStart, seq: number, placement: Placement): OpenRun {
  return new RunInSpans(start, seq, placement);
}

class RunInSpans implements OpenRun {
  readonly conversation: string;
  readonly #id: string;
  readonly #settings: RunSettings;
  readonly #model: { readonly vendor: string; readonly model: string };
  readonly #who: { readonly run_id: string; readonly agent: string; readonly conversation: string };
  readonly #run: OpenSpan;
  readonly #calls: CallSpans;
  #turn: OpenSpan | undefined;
  #responseModel: string | undefined;
  #lastSeq: number;
  #lastMs: number;

  constructor(start: RunStart, seq: number, placement: Placement) {
    const { run_id, path, settings, created_at_ms } = start;
    const { conversation } = placement;
    this.conversation = conversation;
    this.#id = run_id;
    this.#settings = settings;
    this.#model = toModelFields(settings.model);
    this.#who = { run_id, agent: settings.label ?? NO_LABEL, conversation };
    this.#lastSeq = seq;
    this.#lastMs = created_at_ms;
    const fields = { ...this.#who, ...this.#model, path, depth: settings.depth };
    this.#run = openSpan(run_id, seq, {
      ...placement,
      name: `${OPERATIONS.run} ${this.#who.agent}`,
      kind: "internal",
      startMs: created_at_ms,
      attributes: toAttributes({ operation: OPERATIONS.run, ...fields }),
    });
    this.#calls = createCallSpans(run_id, { parent: this.#run.context, who: this.#who });
  }

  get context(): TraceContext {
    return this.#run.context;
  }

  isNews(seq: number): boolean {
    return seq > this.#lastSeq;
  }

  contextOf(callKey: string): TraceContext {
    return (this.#calls.of(callKey) ?? this.#run).context;
  }

  observe(seq: number, event: RunEvent): Signals {
    this.#lastSeq = seq;
    if ("at_ms" in event) this.#lastMs = event.at_ms;
    switch (event.type) {
      case "turn_end":
        return this.#endTurn(event);
      case "tool_end": {
        const call = this.#calls.end(event);
        return call ? { spans: [call], measurements: [] } : NO_SIGNALS;
      }
      case "compaction":
        return this.#compact(event);
      case "run_resume":
        return this.#resume(event);
      case "run_end":
        return this.#end(event);
      default:
        this.#note(seq, event);
        return NO_SIGNALS;
    }
  }

  /**
   * Notes an event that ends nothing. Most events of a run are pieces of text, which return at
   * once.
   */
  #note(seq: number, event: RunEvent): void {
    switch (event.type) {
      case "turn_start":
        this.#startTurn(seq, event);
        break;
      case "start":
        this.#answer(event);
        break;
      case "tool_start":
        this.#calls.start(seq, event);
        break;
      case "tool_decision":
        this.#calls.decide(event);
        break;
      case "child_start":
        (this.#calls.of(event.call_key) ?? this.#run).event(toChildStartEvent(event));
        break;
      case "child_end":
        this.#run.event(toChildEndEvent(event, this.#settings.depth + 1));
        break;
      case "run_input":
        // The text of the message is private and left out.
        this.#run.event({ name: SPAN_EVENTS.input, atMs: event.at_ms, attributes: {} });
        break;
      case "notice":
        this.#notice(event);
        break;
    }
  }

  /** The text of the summary is private and left out. An open turn was refused as too long. */
  #compact({ usage, cost_usd, at_ms }: RunCompaction): Signals {
    const refused = this.#cutOff(at_ms, "context_exceeded", FAILURES.context_exceeded.summary);
    const attributes = toAttributes({ ...toTokens(usage), cost_usd });
    this.#run.event({ name: SPAN_EVENTS.compaction, atMs: at_ms, attributes });
    return refused;
  }

  #startTurn(seq: number, { turn, at_ms }: TurnStart): void {
    this.#calls.begin();
    this.#responseModel = undefined;
    const { temperature, max_output_tokens, format } = this.#settings;
    const asked = { turn, temperature, max_output_tokens };
    this.#turn = openSpan(this.#id, seq, {
      trace: this.context,
      parent: this.context,
      name: `${OPERATIONS.turn} ${this.#model.model}`,
      kind: "client",
      startMs: at_ms,
      attributes: toAttributes({
        operation: OPERATIONS.turn,
        ...this.#who,
        ...this.#model,
        ...asked,
        output_type: format["type"] === "text" ? "text" : "json",
      }),
    });
  }

  #answer({ response_id, model }: ModelStart): void {
    this.#responseModel = model || undefined;
    const response_model = this.#responseModel;
    this.#turn?.add(toAttributes({ response_id: response_id || undefined, response_model }));
  }

  #notice({ code }: Notice): void {
    const attributes = toAttributes({ notice: code });
    const span = this.#turn?.isOpen ? this.#turn : this.#run;
    span.event({ name: SPAN_EVENTS.notice, atMs: this.#lastMs, attributes });
  }

  #endTurn({ usage, cost_usd, reason, at_ms }: TurnEnd): Signals {
    if (!this.#turn?.isOpen) return NO_SIGNALS;
    const attributes = toAttributes({ ...toTokens(usage), cost_usd, finish_reasons: [reason] });
    const ended = this.#turn.end(at_ms, attributes, undefined);
    const common = this.#turnFields();
    const tokens = (token_type: "input" | "output"): Measurement => ({
      histogram: "tokens",
      value: usage[`${token_type}_tokens`],
      attributes: toAttributes({ ...common, token_type }),
    });
    return {
      spans: [ended],
      measurements: [tokens("input"), tokens("output"), toDuration(ended, common)],
    };
  }

  #resume({ epoch, at_ms }: RunResume): Signals {
    const cut = this.#cutOff(at_ms, "interrupted", "The process was gone before it was over.");
    const attributes = toAttributes({ epoch });
    this.#run.event({ name: SPAN_EVENTS.resume, atMs: at_ms, attributes });
    return cut;
  }

  #end(end: RunEnd): Signals {
    const { ending, turns, tool_calls, usage, cost_usd, at_ms } = end;
    const { error, summary } = toProblem(end);
    const cut = this.#cutOff(at_ms, error ?? "interrupted", summary ?? ENDINGS[ending].summary);
    const figures = { ending, turns, tool_calls, cost_usd, error, ...toTokens(usage) };
    const ended = this.#run.end(at_ms, toAttributes(figures), summary);
    const common = { operation: OPERATIONS.run, ...this.#model, error };
    return {
      spans: [...cut.spans, ended],
      measurements: [...cut.measurements, toDuration(ended, common)],
    };
  }

  /** Ends what is still open inside the run, as interrupted. */
  #cutOff(atMs: number, error: string, summary: string): Signals {
    const attributes = toAttributes({ error });
    const calls = this.#calls.endAll(atMs, attributes, summary);
    if (!this.#turn?.isOpen) return { spans: calls, measurements: [] };
    const ended = this.#turn.end(atMs, attributes, summary);
    const measurements = [toDuration(ended, { ...this.#turnFields(), error })];
    return { spans: [...calls, ended], measurements };
  }

  #turnFields(): Fields {
    return { operation: OPERATIONS.turn, ...this.#model, response_model: this.#responseModel };
  }
}

/**
 * Partial work is an error here. The summary is the table's: a message may quote the conversation.
 */
function toProblem({ ending, error }: RunEnd): {
  readonly error: string | undefined;
  readonly summary: string | undefined;
} {
  if (ending === "completed") return { error: undefined, summary: undefined };
  if (!error) return { error: ending, summary: ENDINGS[ending].summary };
  return { error: error.code, summary: FAILURES[error.code].summary };
}

function toTokens({ input_tokens, output_tokens, ...details }: Usage): Fields {
  const { cached_tokens, cache_write_tokens } = details.input_tokens_details;
  const { reasoning_tokens } = details.output_tokens_details;
  return { input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens };
}

function toDuration({ startMs, endMs }: Span, fields: Fields): Measurement {
  const value = (endMs - startMs) / 1000;
  return { histogram: "duration", value, attributes: toAttributes(fields) };
}
