/** Counts what runs do from their events: responses, tokens, dollars, failures of upstreams. */

import type { FailureCode } from "../../base/failure.ts";
import type { AnsweredBy } from "../../protocol/model-events.ts";
import type { LoggedEvent, RunEnd, RunStart } from "../../protocol/run-events.ts";
import { toUsage, type Usage } from "../../protocol/usage.ts";
import { toResponseId } from "../../responses/fold/response-object.ts";
import { readResponseSettings } from "../../responses/request/response-settings.ts";
import type { Metric, Registry, Sample } from "./metrics.ts";

export interface RunMetrics {
  /** For `engine.watch`, and for responses that have no run. */
  observe(logged: LoggedEvent): void;
  /** Counts the usage of a request without a run, and keeps it for the request's log line. */
  note(id: string, facts: RunFacts): void;
  /** Another process continues the run, or it waits in a queue: it is not counted here. */
  leave(runId: string): void;
  /** Returns the usage of a response that has just ended, once. */
  take(responseId: string): RunFacts | undefined;
}

export interface RunFacts {
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
  /** The deployment that gave the last answer, and its number of tries, if a name has several. */
  readonly deployment?: string | undefined;
  readonly tries?: number | undefined;
}

interface OpenRun {
  readonly model: string;
  /** True for the response of a request, false for a subagent. */
  readonly isResponse: boolean;
  /** True if its tokens were counted turn by turn. */
  isCounted: boolean;
}

const RESPONSES = "offshoot_responses";
/**
 * The log lines of requests read them as soon as they are answered; for background responses they are never read.
 */
const MAX_KEPT = 1000;

export function createRunMetrics(registry: Registry): RunMetrics {
  const open = new Map<string, OpenRun>();
  const ended = new Map<string, RunFacts>();
  const { endings, errors, countRetry, count, countAnswer } = createCounters(registry);
  registry.gauge(RESPONSES, "Responses in progress, by state.", () => {
    const running = [...open.values()].filter(({ isResponse }) => isResponse);
    return [{ labels: { state: "running" }, value: running.length }];
  });

  function keep(id: string, facts: RunFacts): void {
    const [oldest] = ended.keys();
    if (ended.size >= MAX_KEPT && oldest !== undefined) ended.delete(oldest);
    ended.set(id, facts);
  }

  function end(id: string, { model, isResponse, isCounted }: OpenRun, event: RunEnd): void {
    const code = event.error?.code;
    if (code !== undefined && isUpstream(code)) errors.add({ code });
    // A response that is not stored reports only its beginning and its end.
    if (!isCounted) {
      count(event.by?.model ?? model, event.usage, event.cost_usd);
      countAnswer(event.by);
    }
    if (!isResponse) return;
    endings.add({ ending: event.ending });
    const { input_tokens, output_tokens } = event.usage;
    const { deployment, tries } = event.by ?? {};
    const used = { input_tokens, output_tokens, cost_usd: event.cost_usd };
    keep(toResponseId(id), { model: event.by?.model ?? model, ...used, deployment, tries });
  }

  return {
    observe({ run_id, event }) {
      if (event.type === "run_start") {
        open.set(run_id, toOpenRun(event));
        return;
      }
      const run = open.get(run_id);
      if (!run) return;
      switch (event.type) {
        case "turn_end":
          run.isCounted = true;
          count(event.by?.model ?? run.model, event.usage, event.cost_usd);
          countAnswer(event.by);
          break;
        case "compaction":
          run.isCounted = true;
          count(run.model, event.usage, event.cost_usd);
          break;
        case "notice":
          if (event.code === "retry" || event.code === "fallback") countRetry(run.model);
          break;
        case "run_end":
          open.delete(run_id);
          end(run_id, run, event);
          break;
      }
    },
    note(id, facts) {
      const { model, input_tokens, output_tokens, cost_usd } = facts;
      count(model, toUsage({ input: input_tokens, output: output_tokens }), cost_usd);
      keep(id, facts);
    },
    leave: (runId) => void open.delete(runId),
    take(responseId) {
      const facts = ended.get(responseId);
      ended.delete(responseId);
      return facts;
    },
  };
}

/** Adds the runs that wait in the record, which belong to no process. */
export function addQueued(metrics: readonly Metric[], queued: number): Metric[] {
  const sample: Sample = { labels: { state: "queued" }, value: queued };
  return metrics.map((metric) =>
    metric.name === RESPONSES ? { ...metric, samples: [...metric.samples, sample] } : metric,
  );
}

type Counter = ReturnType<Registry["counter"]>;

interface Counters {
  readonly endings: Counter;
  readonly errors: Counter;
  countRetry(model: string): void;
  /** Counts the usage of model calls. */
  count(model: string, usage: Usage, costUsd: number | null): void;
  /** Counts an answer of a name with several deployments. */
  countAnswer(by: AnsweredBy | undefined): void;
}

function createCounters({ counter }: Registry): Counters {
  const tokens = counter("offshoot_tokens_total", "Tokens of model calls, by model.");
  const cost = counter("offshoot_cost_usd_total", "US dollars of model calls, by model.");
  const retries = counter(
    "offshoot_upstream_retries_total",
    "Requests to models that were sent again.",
  );
  const answers = counter(
    "offshoot_deployment_answers_total",
    "Answers of names with several deployments, by deployment.",
  );
  const tries = counter(
    "offshoot_deployment_tries_total",
    "Tries that these answers took, failed ones at other deployments included.",
  );
  const names = createNames();
  return {
    endings: counter("offshoot_responses_ended_total", "Responses, by how they ended."),
    errors: counter(
      "offshoot_upstream_errors_total",
      "Runs that a model's server failed, by code.",
    ),
    // A name that has not answered yet may be invented.
    countRetry: (name) => retries.add({ model: names.has(name) ? name : OTHER_MODELS }),
    count(name, usage, costUsd) {
      // An unknown model costs nothing, and must not appear beside known ones.
      if (usage.total_tokens === 0 && !costUsd) return;
      const model = names.take(name);
      tokens.add({ model, direction: "input" }, usage.input_tokens);
      tokens.add({ model, direction: "output" }, usage.output_tokens);
      cost.add({ model }, costUsd ?? 0);
    },
    countAnswer(by) {
      if (!by) return;
      answers.add({ deployment: by.deployment });
      tries.add({ deployment: by.deployment }, by.tries);
    },
  };
}

/** Further models are counted as one: clients may invent names that the server accepts. */
const MAX_MODELS = 500;
const OTHER_MODELS = "other";

function createNames(): { has(name: string): boolean; take(name: string): string } {
  const known = new Set<string>();
  return {
    has: (name) => known.has(name),
    take(name) {
      if (known.size >= MAX_MODELS && !known.has(name)) return OTHER_MODELS;
      known.add(name);
      return name;
    },
  };
}

function toOpenRun({ settings }: RunStart): OpenRun {
  const response = readResponseSettings(settings);
  return { model: settings.model, isResponse: response !== undefined, isCounted: false };
}

/** Other failures of a deployment (`deployments/failure-rules.ts`). */
const OTHER_UPSTREAM: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "host_unknown",
  "context_exceeded",
  "model_not_found",
  "broken_answer",
  "empty_answer",
  "answer_too_large",
]);

function isUpstream(code: FailureCode): boolean {
  return code.startsWith("provider_") || OTHER_UPSTREAM.has(code);
}
