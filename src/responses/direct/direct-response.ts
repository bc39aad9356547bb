/**
 * A response that needs only a model (`direct-request.ts`): one question, and its answer folded as it comes, without a
 * log. A client sees what it would see if the response were stored (test/responses/direct/direct-response.test.ts).
 */

import { type Broken, type CallMeter, createCallMeter } from "../../agent/broken-answer.ts";
import { toAbortFailure } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { EmittedEvent, EmittedResponse } from "../../protocol/emitted.ts";
import type { Item } from "../../protocol/items.ts";
import type { AnsweredBy, EndReason, ModelEnd, ModelEvent } from "../../protocol/model-events.ts";
import type { Ending, LoggedEvent, Notice, RunEnd, RunStart } from "../../protocol/run-events.ts";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.ts";
import type { ModelCall, ModelRequest, Provider, WholeAnswer } from "../../providers/provider.ts";
import { createEventWriter, type EventWriter } from "../fold/event-writer.ts";
import type { PlacedItem } from "../fold/given-items.ts";
import type { Events, LiveResponse } from "../follow/live-response.ts";
import type { AskedResponse } from "../request/asked-response.ts";
import { encodeResponseSettings, type ResponseSettings } from "../request/response-settings.ts";
import { fillPlainResponse, findPlainAnswer, type PlainAnswer } from "./plain-answer.ts";

export interface DirectParts {
  readonly runId: string;
  /** The tenant that owns the response. */
  readonly owner: string;
  readonly id: string;
  readonly asked: AskedResponse;
  /** As the record names it. */
  readonly model: string;
  /** The response's own settings: the echo is the response itself, before it was answered. */
  readonly settings: ResponseSettings & { readonly echo: EmittedResponse };
  readonly request: ModelRequest;
  readonly provider: Provider;
  readonly clock: Clock;
  /** Books what it has used; undefined if it is not counted. */
  readonly charge: ((used: UsedAmounts) => Promise<void>) | undefined;
  /** Undefined where the price is not known; an answer that says what it cost needs none. */
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
  /** Watches the beginning and the end of the response. */
  readonly observe: ((logged: LoggedEvent) => void) | undefined;
}

export interface UsedAmounts {
  readonly tokens: number;
  readonly usd: number;
  /** The number of these tokens whose price is not known. */
  readonly unpriced: number;
}

/** Leaving the response's events early closes the connection to the model. A failure is one of their endings. */
export function createDirectResponse(parts: DirectParts): LiveResponse {
  return new DirectResponse(parts);
}

/** The signal of a caller that passes none: it waits to the end. */
const NEVER = new AbortController().signal;

type Told = Omit<Notice, "type">;

class DirectResponse implements LiveResponse {
  readonly id: string;
  readonly asked: AskedResponse;
  readonly #parts: DirectParts;
  readonly #beganMs: number;
  #failure: Failure | undefined;

  constructor(parts: DirectParts) {
    this.id = parts.id;
    this.asked = parts.asked;
    this.#parts = parts;
    this.#beganMs = parts.clock.now();
  }

  /** No agent waits in it: it ends with its calls. */
  injected(): readonly PlacedItem[] {
    return [];
  }

  failure(): Failure | undefined {
    return this.#failure;
  }

  events(signal: AbortSignal = NEVER): Events {
    this.#observeStart();
    return this.#tell(signal);
  }

  /** An answer as nearly all are is put together at once; whatever else there is goes the way of events. */
  async response(signal: AbortSignal = NEVER): Promise<EmittedResponse> {
    const { provider, request, charge } = this.#parts;
    this.#observeStart();
    if (!provider.answer) return await this.#readLast(this.#tell(signal));
    const notices: Told[] = [];
    const meter = createCallMeter();
    const call = this.#toCall(signal, (said) => notices.push(said), meter);
    let answer: WholeAnswer;
    try {
      answer = await provider.answer(request, call);
    } catch (thrown) {
      const failure = toCutFailure(thrown, signal);
      const used = meter.toUsage(request, { isLeft: signal.aborted, thrown });
      if (used) await charge?.(this.#toUsed(used, undefined, meter.deployment()));
      const said = { ...NOTHING_SAID, usage: used ?? NO_USAGE };
      this.#observeEnd(toEnd(toFailedEnding(failure), said, this.#parts.clock.now()));
      throw failure;
    }
    const plain = findPlainAnswer(answer, this.#parts.settings);
    if (plain) {
      if (charge) await charge(this.#toUsed(plain.usage, plain.costUsd, plain.by?.deployment));
      return this.#finish(plain, notices);
    }
    return await this.#readLast(this.#tell(signal, { answer, meter, notices }));
  }

  #finish(plain: PlainAnswer, notices: readonly Told[]): EmittedResponse {
    const { runId, settings, clock } = this.#parts;
    const { reason, usage, by, stop } = plain;
    const ending = { ending: ENDINGS[reason], error: null, message: "" };
    const end = toEnd(ending, { usage, turns: 1, by, end: { stop } }, clock.now());
    this.#observeEnd(end);
    const dropped = notices.flatMap(({ code, params = [] }) => (code === "dropped" ? params : []));
    const ignored = dropped.length > 0 ? [...settings.ignored, ...dropped] : settings.ignored;
    const response = settings.echo;
    fillPlainResponse(response, plain, { runId, beganMs: this.#beganMs, end, ignored });
    return response;
  }

  /** Never rejects: a failure is an ending. The first turn may have its answer already. */
  async *#tell(signal: AbortSignal, known?: KnownAnswer): Events {
    const { request, clock } = this.#parts;
    const writer = createEventWriter();
    const state: State = {
      items: [...request.items],
      ...NOTHING_SAID,
      said: false,
      asked: undefined,
    };
    yield writer.write(this.#toStart());
    const notice = (said: Told): void => void writer.write({ type: "notice", ...said });
    known?.notices.forEach(notice);
    let ending: Ended | undefined;
    let thrown: unknown;
    try {
      do {
        writer.write({ type: "turn_start", turn: ++state.turns, at_ms: 0 });
        const first = state.turns === 1 ? known : undefined;
        const asked = beginTurn(state, request, first?.meter);
        const call = this.#toCall(signal, notice, asked.meter);
        for await (const batch of this.#ask(asked.request, call, first)) {
          asked.meter.read(batch);
          const events = readBatch(batch, state, writer);
          if (events.length > 0) yield events;
        }
      } while (this.#endTurn(state) === "pause");
      ending = { ending: ENDINGS[state.end?.reason ?? "stop"], error: null, message: "" };
    } catch (cause) {
      thrown = cause;
      const failure = toCutFailure(thrown, signal);
      if (!state.said) this.#failure = failure;
      ending = toFailedEnding(failure);
    } finally {
      // A client that leaves between two events gets no ending, and pays for what there was.
      this.#endBroken(state, { isLeft: signal.aborted || ending === undefined, thrown });
      await this.#parts.charge?.(state.used);
    }
    const end = toEnd(ending, state, clock.now());
    this.#observeEnd(end);
    yield writer.write(end);
  }

  #ask(
    request: ModelRequest,
    call: ModelCall,
    known: KnownAnswer | undefined,
  ): AsyncIterable<readonly ModelEvent[]> {
    return known ? tellAnswer(known.answer) : this.#parts.provider.stream(request, call);
  }

  #endTurn(state: State): EndReason {
    const { end } = state;
    if (!end) {
      throw new Failure("provider_broke_protocol", "The provider stopped without an ending.");
    }
    this.#add(state, end.usage, end);
    return end.reason;
  }

  /** Counts the turn that broke off, if one did. */
  #endBroken(state: State, broken: Broken): void {
    const { asked, end } = state;
    const usage = asked && (end?.usage ?? asked.meter.toUsage(asked.request, broken));
    if (usage) this.#add(state, usage, end);
  }

  #add(state: State, usage: Usage, end: ModelEnd | undefined): void {
    const deployment = end?.by?.deployment ?? state.asked?.meter.deployment();
    const { tokens, usd, unpriced } = this.#toUsed(usage, end?.cost_usd, deployment);
    const { used } = state;
    state.used = {
      tokens: used.tokens + tokens,
      usd: used.usd + usd,
      unpriced: used.unpriced + unpriced,
    };
    state.usage = addUsage(state.usage, usage);
    state.asked = undefined;
  }

  /** The usage in money: the vendor's own figure if there is one. A price that is not known takes no money. */
  #toUsed(usage: Usage, told: number | undefined, deployment: string | undefined): UsedAmounts {
    const { total_tokens: tokens } = usage;
    // Tokens are paid for also where a vendor's own tools have no known price.
    const { native_calls: _, ...counted } = usage;
    const { costOf } = this.#parts;
    const usd = told ?? costOf(usage, deployment) ?? costOf(counted, deployment);
    return { tokens, usd: usd ?? 0, unpriced: usd === undefined ? tokens : 0 };
  }

  async #readLast(events: Events): Promise<EmittedResponse> {
    let response: EmittedResponse | undefined;
    for await (const batch of events) {
      for (const event of batch) if ("response" in event) response = event.response;
    }
    if (this.#failure) throw this.#failure;
    if (response) return response;
    throw new Failure("internal", `Response ${this.id} has no beginning.`);
  }

  #toCall(signal: AbortSignal, notice: ModelCall["notice"], meter: CallMeter): ModelCall {
    const { runId: run, owner } = this.#parts;
    return { signal, run, owner, notice, ...meter.call };
  }

  #observeStart(): void {
    const { observe, runId } = this.#parts;
    observe?.({ run_id: runId, seq: 0, event: this.#toStart() });
  }

  #observeEnd(event: RunEnd): void {
    const { observe, runId } = this.#parts;
    observe?.({ run_id: runId, seq: 1, event });
  }

  #toStart(): RunStart {
    const { runId, model, settings, request } = this.#parts;
    return {
      type: "run_start",
      run_id: runId,
      parent_id: null,
      path: "/root",
      created_at_ms: this.#beganMs,
      settings: { model, response: encodeResponseSettings(settings), ...SETTINGS },
      input: request.items,
    };
  }
}

/** An answer that came whole, with what was told and counted while it was waited for. */
interface KnownAnswer {
  readonly answer: WholeAnswer;
  readonly meter: CallMeter;
  readonly notices: readonly Told[];
}

async function* tellAnswer({
  events,
  failure,
}: WholeAnswer): AsyncGenerator<readonly ModelEvent[], void> {
  yield events;
  if (failure) throw failure;
}

interface State {
  readonly items: Item[];
  usage: Usage;
  /** The tokens of `usage` and their cost. */
  used: UsedAmounts;
  turns: number;
  /** True once anything was sent to the client. */
  said: boolean;
  /** The end of the turn that was read last. */
  end: ModelEnd | undefined;
  /** The deployment that answered last, if the model's name stands for several. */
  by: AnsweredBy | undefined;
  /** The question whose answer is not in `usage` yet. */
  asked: AskedTurn | undefined;
}

interface AskedTurn {
  readonly request: ModelRequest;
  readonly meter: CallMeter;
}

const NOTHING_USED: UsedAmounts = { tokens: 0, usd: 0, unpriced: 0 };
const NOTHING_SAID = {
  usage: NO_USAGE,
  used: NOTHING_USED,
  turns: 0,
  by: undefined,
  end: undefined,
};

function readBatch(
  batch: readonly ModelEvent[],
  state: State,
  writer: EventWriter,
): EmittedEvent[] {
  const events: EmittedEvent[] = [];
  for (const event of batch) readEvent(event, state, writer, events);
  return events;
}

function readEvent(
  event: ModelEvent,
  state: State,
  writer: EventWriter,
  events: EmittedEvent[],
): void {
  if (event.type === "end") {
    state.end = event;
    state.by = event.by ?? state.by;
    return;
  }
  writer.write(event, events);
  if (event.type === "item_start") state.said = true;
  if (event.type === "item_end") state.items.push(event.item);
}

function beginTurn(
  state: State,
  request: ModelRequest,
  meter: CallMeter = createCallMeter(),
): AskedTurn {
  state.end = undefined;
  const deployment = state.by?.deployment;
  state.asked = {
    request: { ...request, items: [...state.items], deployment },
    meter,
  };
  return state.asked;
}

type Ended = Pick<RunEnd, "ending" | "error" | "message">;

const ENDINGS: Readonly<Record<EndReason, Ending>> = {
  stop: "completed",
  tool_calls: "completed",
  pause: "completed",
  length: "budget",
  refusal: "refused",
};

function toCutFailure(thrown: unknown, signal: AbortSignal): Failure {
  return signal.aborted ? toAbortFailure(signal) : toFailure(thrown);
}

function toFailedEnding({ code, message }: Failure): Ended {
  return { ending: code === "cancelled" ? code : "failed", error: { code, message }, message };
}

/** Settings of a log that is never read. What is shown of the request is its echo. */
const SETTINGS: Omit<RunStart["settings"], "model"> = {
  instructions: null,
  format: { type: "text" },
  model_reason: "",
  tools: [],
  max_turns: 1,
  temperature: null,
  max_output_tokens: null,
  think: false,
  approve: "deny",
  sandbox: "process",
  grant: [],
  limits: {},
  label: null,
  depth: 0,
};

interface EndedWith extends Pick<State, "usage" | "turns" | "by"> {
  readonly end: Pick<ModelEnd, "stop"> | undefined;
}

function toEnd(end: Ended, { usage, turns, by, end: last }: EndedWith, nowMs: number): RunEnd {
  const event: RunEnd = {
    type: "run_end",
    ending: end.ending,
    error: end.error,
    message: end.message,
    output_text: "",
    output_json: undefined,
    turns,
    tool_calls: 0,
    usage,
    cost_usd: null,
    spent: {},
    at_ms: nowMs,
  };
  if (!by && !last?.stop) return event;
  return { ...event, ...(by ? { by } : {}), ...(last?.stop ? { stop: last.stop } : {}) };
}
