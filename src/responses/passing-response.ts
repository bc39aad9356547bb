/**
 * A response that is not stored and in which the server makes no calls: one question to a model, its
 * events folded as they come. There is no log, no journal and no engine, because nobody could read them;
 * what a client sees is what the same request would show if it were stored (`test/server/passing.test.ts`).
 */

import type { AgentTask } from "../agent/task.ts";
import { toAbortFailure } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import { Failure, toFailure } from "../base/failure.ts";
import type { EmittedEvent, EmittedResponse } from "../protocol/emitted.ts";
import type { Item } from "../protocol/items.ts";
import type { EndReason, ModelEnd, ModelEvent } from "../protocol/model-events.ts";
import type { Ending, LoggedEvent, RunEnd, RunEvent, RunStart } from "../protocol/run-events.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/usage.ts";
import type { ModelCall, ModelRequest, Provider } from "../providers/provider.ts";
import { createEventWriter } from "./fold/event-writer.ts";
import { encodeResponseSettings } from "./fold/response-settings.ts";
import type { ResponseWish } from "./request/response-wish.ts";

export interface Passing {
  readonly runId: string;
  readonly task: AgentTask;
  readonly wish: ResponseWish;
  readonly provider: Provider;
  readonly sealed: boolean | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told of the failure of a response that had said nothing before. */
  readonly onFailed: (failure: Failure) => void;
  /** Whether nothing is read of it but what it returns: the response. */
  readonly endOnly?: boolean | undefined;
  /** Books what it has used. */
  readonly charge?: ((tokens: number) => Promise<void>) | undefined;
  /** Told of its beginning and its end. */
  readonly observe?: ((logged: LoggedEvent) => void) | undefined;
}

/** Leaving early closes the connection to the model. Never rejects: a failure is an ending. */
export async function* runPassing(
  passing: Passing,
): AsyncGenerator<readonly EmittedEvent[], EmittedResponse | undefined> {
  const { clock, onFailed, endOnly } = passing;
  const writer = createEventWriter({ endOnly });
  const state: State = { items: [...passing.task.items], usage: NO_USAGE, turns: 0, said: false };
  const start = toStart(passing);
  passing.observe?.({ run_id: passing.runId, seq: 0, event: start });
  yield writer.write(start);
  let end: Pick<RunEnd, "ending" | "error" | "message">;
  try {
    const reason = yield* ask(passing, state, writer.write);
    end = { ending: ENDINGS[reason], error: null, message: "" };
  } catch (thrown) {
    const failure = passing.signal.aborted ? toAbortFailure(passing.signal) : toFailure(thrown);
    if (!state.said) onFailed(failure);
    const { code, message } = failure;
    end = { ending: code === "cancelled" ? code : "failed", error: { code, message }, message };
  }
  await passing.charge?.(state.usage.total_tokens);
  const ended = toEnd(end, state, clock.now());
  passing.observe?.({ run_id: passing.runId, seq: 1, event: ended });
  yield writer.write(ended);
  return writer.response();
}

interface State {
  readonly items: Item[];
  usage: Usage;
  turns: number;
  /** Whether anything was given on. */
  said: boolean;
}

type Write = (event: RunEvent) => EmittedEvent[];

/** Once, and again as long as the vendor pauses and wants the same conversation sent again. */
async function* ask(
  passing: Passing,
  state: State,
  write: Write,
): AsyncGenerator<readonly EmittedEvent[], EndReason> {
  for (;;) {
    write({ type: "turn_start", turn: ++state.turns, at_ms: 0 });
    const end = yield* askOnce(passing, state, write);
    state.usage = addUsage(state.usage, end.usage);
    if (end.reason !== "pause") return end.reason;
  }
}

async function* askOnce(
  passing: Passing,
  state: State,
  write: Write,
): AsyncGenerator<readonly EmittedEvent[], ModelEnd> {
  const { provider, signal, runId } = passing;
  const notice: ModelCall["notice"] = (said) => {
    write({ type: "notice", ...said });
  };
  const call = { signal, run: runId, notice };
  let end: ModelEnd | undefined;
  for await (const batch of provider.stream(toRequest(passing, state.items), call)) {
    const events: EmittedEvent[] = [];
    for (const event of batch) {
      if (event.type === "end") end = event;
      else tell(event, state, { write, events });
    }
    if (events.length > 0) yield events;
  }
  if (end) return end;
  throw new Failure("provider_broke_protocol", "The provider stopped without an ending.");
}

function tell(
  event: Exclude<ModelEvent, ModelEnd>,
  state: State,
  { write, events }: { readonly write: Write; readonly events: EmittedEvent[] },
): void {
  for (const written of write(event)) events.push(written);
  if (event.type === "item_start") state.said = true;
  if (event.type === "item_end") state.items.push(event.item);
}

const ENDINGS: Readonly<Record<EndReason, Ending>> = {
  stop: "completed",
  tool_calls: "completed",
  pause: "completed",
  length: "budget",
  refusal: "refused",
};

function toRequest({ task, wish, sealed }: Passing, items: readonly Item[]): ModelRequest {
  const { model } = task;
  return {
    model: model.slice(model.indexOf("/") + 1),
    instructions: task.instructions ?? undefined,
    items,
    tools: wish.tools,
    toolChoice: task.tool_choice,
    parallelToolCalls: wish.parallel_tool_calls ?? undefined,
    temperature: task.temperature ?? undefined,
    topP: wish.top_p ?? undefined,
    maxOutputTokens: task.max_output_tokens ?? undefined,
    reasoning: { ...wish.reasoning, sealed },
    format: task.format,
    previous: undefined,
    options: wish.options,
    whole: wish.whole,
  };
}

function toStart({ runId, task, wish, clock }: Passing): RunStart {
  const { echo, include, ignored } = wish;
  return {
    type: "run_start",
    run_id: runId,
    parent_id: null,
    path: "/root",
    created_at_ms: clock.now(),
    settings: {
      ...SETTINGS,
      model: task.model,
      instructions: task.instructions,
      format: task.format,
      response: encodeResponseSettings({ echo, include, ignored }),
    },
    input: task.items,
  };
}

/** Of no meaning to an answer: nobody reads this log. */
const SETTINGS: Omit<RunStart["settings"], "model" | "instructions" | "format"> = {
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

function toEnd(
  end: Pick<RunEnd, "ending" | "error" | "message">,
  { usage, turns }: State,
  nowMs: number,
): RunEnd {
  return {
    type: "run_end",
    ...end,
    output_text: "",
    output_json: undefined,
    turns,
    tool_calls: 0,
    usage,
    cost_usd: null,
    spent: {},
    at_ms: nowMs,
  };
}
