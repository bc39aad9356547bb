/** A model call of a run, folded from the log up to its end. Pure. */

import { isSummary } from "../../agent/context/expand-compactions.ts";
import { withReportWish } from "../../agent/report.ts";
import { toRepairRequest } from "../../agent/structured-output.ts";
import type { AgentTask } from "../../agent/task.ts";
import { asJson, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import type {
  LoggedEvent,
  Notice,
  RunEvent,
  RunStart,
  TurnEnd,
} from "../../protocol/run-events.ts";
import { toRunItems } from "../../responses/conversations/run-items.ts";
import { readResponseSettings } from "../../responses/request/response-settings.ts";
import type { TurnStep } from "./step-views.ts";

/** The context of a run that its log does not contain. */
export interface AskedRun {
  readonly task: AgentTask;
  /** The items of its session or chain before it; undefined if they are deleted. */
  readonly before: readonly Item[] | undefined;
  /** The tools that it named, as this program knows them. */
  readonly tools: readonly JsonObject[];
}

/** `log` without deltas, from its beginning to the end of the call or later. */
export function toTurnStep(log: readonly LoggedEvent[], seq: number, run: AskedRun): TurnStep {
  const at = log.findIndex((logged) => logged.seq === seq);
  const own = takeOwn(log.slice(at + 1));
  const start = log[at];
  const [first] = log;
  if (start?.event.type !== "turn_start" || first?.event.type !== "run_start") {
    throw new RangeError("The log has no turn there.");
  }
  const end = own.find((event): event is TurnEnd => event.type === "turn_end");
  const notices = own.filter((event): event is Notice => event.type === "notice");
  const before = log.slice(0, at).map(({ event }) => event);
  const input = toInput([...before, ...notices], first.event, run);
  return {
    object: "run.step",
    kind: "turn",
    run_id: start.run_id,
    seq,
    turn: start.event.turn,
    started_at_ms: start.event.at_ms,
    ended_at_ms: end?.at_ms ?? null,
    request: toRequest(first.event, input, run.tools),
    before: run.before === undefined ? "deleted" : run.before.length > 0 ? "included" : "none",
    output: own.flatMap((event) => (event.type === "item_end" ? [event.item] : [])),
    reason: end?.reason ?? null,
    usage: (end?.usage as JsonObject | undefined) ?? null,
    cost_usd: end?.cost_usd ?? null,
    by: (end?.by as JsonObject | undefined) ?? null,
    notices: notices.map(({ code, message }) => ({ code, message })),
    clipped: [],
  };
}

/** Up to the end of the call, or to the event that shows that it was interrupted. */
function takeOwn(events: readonly LoggedEvent[]): RunEvent[] {
  const own: RunEvent[] = [];
  for (const { event } of events) {
    if (["turn_start", "run_resume", "run_end", "compaction"].includes(event.type)) return own;
    own.push(event);
    if (event.type === "turn_end") return own;
  }
  return own;
}

function toInput(
  events: readonly RunEvent[],
  start: RunStart,
  { task, before = [] }: AskedRun,
): readonly Item[] {
  const asked = task.items.length > 0 ? withReportWish(task) : start.input;
  const told = events.map((event): RunEvent => {
    if (event.type === "run_start") return { ...event, input: [...before, ...asked] };
    if (event.type !== "notice" || event.code !== "repair") return event;
    // The model was told what was wrong with its answer: the notice has the same words.
    return { type: "run_input", items: [toPrompt(toRepairRequest(event.message))], at_ms: 0 };
  });
  const items = toRunItems(told);
  const summary = items.findLastIndex(isSummary);
  const since = summary < 0 ? items : [...asked, ...items.slice(summary)];
  return isReport(events, task) ? [...since, toPrompt(task.summary_prompt ?? "")] : since;
}

/** A turn after an answer without calls, with no input in between, is the report. */
function isReport(
  events: readonly RunEvent[],
  { summary_prompt, report_along }: AgentTask,
): boolean {
  const end = events.findLastIndex(({ type }) => type === "turn_end");
  if (end < 0 || !summary_prompt || report_along) return false;
  const begin = events.findLastIndex(({ type }, at) => at < end && type === "turn_start");
  const calls = events
    .slice(begin, end)
    .some((event) => event.type === "item_end" && event.item.type === "function_call");
  const since = events.slice(end + 1);
  const isAsked = since.some(
    (event) => event.type === "run_input" || (event.type === "notice" && event.code === "repair"),
  );
  return !calls && !isAsked;
}

function toPrompt(content: string): Item {
  return { type: "message", role: "user", content };
}

/** Fields of a request that say how a model is to answer. */
const PARAMETERS = [
  ...["tools", "tool_choice", "parallel_tool_calls", "temperature", "top_p", "reasoning"],
  ...["max_output_tokens", "max_tool_calls", "text", "truncation", "service_tier", "user"],
] as const;

function toRequest(
  { settings }: RunStart,
  input: readonly Item[],
  tools: readonly JsonObject[],
): JsonObject {
  const { model, instructions, temperature, max_output_tokens, format, options } = settings;
  const echo = readResponseSettings(settings)?.echo as JsonObject | undefined;
  const asked: JsonObject = echo
    ? Object.fromEntries(PARAMETERS.map((name) => [name, echo[name] ?? null]))
    : {
        tools: tools as readonly Json[] as Json,
        temperature,
        max_output_tokens,
        text: { format },
      };
  const request: JsonObject = {
    model,
    instructions,
    input: asJson(input),
    ...asked,
    ...options,
  };
  return Object.fromEntries(Object.entries(request).filter(([, value]) => !isEmpty(value ?? null)));
}

function isEmpty(value: Json): boolean {
  if (value === null || (Array.isArray(value) && value.length === 0)) return true;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
