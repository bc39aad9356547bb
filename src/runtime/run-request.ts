/** Checks what a program asks of a run, and makes it a task. An invalid field is refused by its name. */

import { KINDS, type Limits, NO_LIMITS } from "../agent/limits.ts";
import { type OutputOptions, toOutputFormat } from "../agent/output-mode.ts";
import {
  type AgentTask,
  COMPACT_MODES,
  DEFAULT_MAX_TURNS,
  SAFEGUARDS,
  THINKING_EFFORTS,
} from "../agent/task.ts";
import { Failure } from "../base/failure.ts";
import { clip, nearest } from "../base/text.ts";
import type { RunPlace } from "../delegation/runner/payload.ts";
import type { QueuedPlace } from "../engine/engine.ts";
import type { Item } from "../protocol/items.ts";
import { findOptionsProblem } from "../protocol/own-options.ts";
import type { OutputFormat } from "../providers/provider.ts";
import type { SessionWish } from "./sessions/session.ts";

/** Fields that the command line, the server and delegation set, and programs do not. */
const INNER = {
  model_reason: true,
  response: true,
  agent: true,
  depth: true,
  summary_prompt: true,
  report_along: true,
  on_throw: true,
  place: true,
  queue: true,
  rules: true,
  fell_back: true,
  told: true,
  approval_wait_ms: true,
  mcp_depth: true,
} as const;

export type InnerField = keyof typeof INNER;

export const INNER_FIELDS: readonly string[] = Object.keys(INNER);

/** The request for a run; everything except the model and the input is optional. */
export interface RunRequest
  extends Partial<
      Omit<AgentTask, "items" | "model" | "limits" | "ceiling" | "can_ask" | "session" | InnerField>
    >,
    OutputOptions {
  readonly model: string;
  /** The user's words, or a whole conversation. */
  readonly input: string | readonly Item[];
  /** The limits of the run with everything below it; kinds that are left out have no limit. */
  readonly limits?: Partial<Limits> | undefined;
  readonly timeoutMs?: number | undefined;
  /** The session that it begins or continues; none when left out. */
  readonly session?: SessionWish | undefined;
}

/** Adds the fields that only parts of this project set. */
export interface InnerRunRequest
  extends RunRequest,
    Partial<Pick<AgentTask, Exclude<InnerField, "place" | "queue">>> {
  /** The run's place in a tree that another process began; it is found again there. */
  readonly place?: RunPlace | undefined;
  /** The queue in which it waits for its turn; it begins at once when left out. */
  readonly queue?: QueuedPlace | undefined;
}

/** All fields, so that a mistyped one is refused and not silently ignored. */
const FIELDS: Readonly<Record<keyof RunRequest, true>> = {
  model: true,
  provider: true,
  url: true,
  api_key_name: true,
  instructions: true,
  input: true,
  tools: true,
  tool_choice: true,
  max_turns: true,
  temperature: true,
  max_output_tokens: true,
  think: true,
  effort: true,
  format: true,
  root: true,
  approve: true,
  sandbox: true,
  grant: true,
  limits: true,
  label: true,
  deployments: true,
  options: true,
  output_mode: true,
  output_schema: true,
  compact: true,
  timeoutMs: true,
  session: true,
};

export const RUN_FIELDS: readonly string[] = Object.keys(FIELDS);

export function toTask(asked: InnerRunRequest): AgentTask {
  checkFields(asked);
  checkOptions(asked);
  const { input, limits, timeoutMs: _, session: __, place, queue: ___, ...rest } = asked;
  const { output_mode: ____, output_schema: _____, ...request } = rest;
  const items = itemsOf(input);
  if (items.length === 0 || lastWords(items).trim() === "") {
    throw refuse("input", "The prompt is empty.");
  }
  return {
    model_reason: "asked for",
    provider: null,
    url: null,
    api_key_name: null,
    instructions: null,
    tools: [],
    tool_choice: "auto",
    max_turns: DEFAULT_MAX_TURNS,
    temperature: null,
    max_output_tokens: null,
    think: asked.effort !== undefined,
    root: process.cwd(),
    on_throw: "tell_model",
    compact: "auto",
    ...SAFEGUARDS,
    ...request,
    format: formatOf(asked),
    limits: { ...NO_LIMITS, ...limits },
    ...(place?.can_ask ? { can_ask: true } : {}),
    items,
  };
}

/**
 * Text is one user message, and a message may leave its type out. No schema library, because loading it costs time at
 * the start.
 */
function itemsOf(input: RunRequest["input"]): readonly Item[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return input.map((item) => ("type" in item ? item : Object.assign({ type: "message" }, item)));
}

function checkFields(asked: RunRequest): void {
  const { model, input, max_turns = 1, limits = {} } = asked;
  refuseUnknown("A run has no field", asked, [...RUN_FIELDS, ...INNER_FIELDS]);
  if (typeof model !== "string" || model.trim() === "") {
    throw refuse("model", "`model` is missing. Use VENDOR/MODEL, for example openai/gpt-5.1.");
  }
  if (typeof input !== "string" && !Array.isArray(input)) {
    throw refuse("input", "`input` is missing. Give the prompt as text, or a list of items.");
  }
  if (!Number.isInteger(max_turns) || max_turns < 1) {
    throw refuse("max_turns", `\`max_turns\` must be a whole number from 1, not ${max_turns}.`);
  }
  checkLimits(limits);
  checkCompact(asked);
  checkEffort(asked);
  checkSession(asked);
}

function checkSession({ session }: RunRequest): void {
  const name = typeof session === "object" ? session.id : (session ?? "new");
  if (typeof name === "string" && name.trim() !== "") return;
  const message = "`session` must name one: `new`, `last`, or an id as `conv_01k…`.";
  throw refuse("session", message);
}

function checkEffort({ effort }: RunRequest): void {
  if (effort === undefined || THINKING_EFFORTS.includes(effort)) return;
  const words = THINKING_EFFORTS.join(", ");
  const given = clip(JSON.stringify(effort) ?? String(effort), 60);
  throw refuse("effort", `\`effort\` must be one of ${words}, not ${given}.`);
}

function checkCompact({ compact = "auto" }: RunRequest): void {
  if (COMPACT_MODES.includes(compact)) return;
  const words = COMPACT_MODES.map((word) => `\`${word}\``).join(" or ");
  throw refuse(
    "compact",
    `\`compact\` must be ${words}, not ${clip(JSON.stringify(compact), 60)}.`,
  );
}

/** A mistyped limit would be no limit at all. */
function checkLimits(limits: Partial<Limits>): void {
  const unknown = Object.keys(limits).find((name) => !(KINDS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const name = clip(unknown, 60);
    const near = nearest(unknown, KINDS);
    const hint = near === undefined ? `Limits: ${KINDS.join(", ")}.` : `Did you mean \`${near}\`?`;
    const message = `Unknown limit \`${name}\`. ${hint}`;
    throw refuse(`limits.${name}`, message);
  }
  for (const [kind, most] of Object.entries(limits)) {
    if (most === null || most === undefined || (typeof most === "number" && most >= 0)) continue;
    const message = `\`limits.${kind}\` must be a number from 0, or null for no limit, not \`${clip(JSON.stringify(most) ?? String(most), 60)}\`.`;
    throw refuse(`limits.${kind}`, message);
  }
}

/** Refuses mistyped fields. `within` is the field that contains them. */
export function refuseUnknown(
  what: string,
  given: object,
  known: readonly string[],
  within?: string,
): void {
  const name = Object.keys(given).find((one) => !known.includes(one));
  if (name === undefined) return;
  const near = nearest(name, known);
  const hint = near === undefined ? "" : ` Did you mean \`${near}\`?`;
  const param = within === undefined ? clip(name, 60) : `${within}.${clip(name, 60)}`;
  throw refuse(param, `${what} \`${clip(name, 60)}\`.${hint}`);
}

function checkOptions({ options }: RunRequest): void {
  const problem = options && findOptionsProblem(options);
  if (problem) throw refuse("options", `\`options\` ${problem}.`);
}

/** The form of the answer, from any of the fields that set it. */
function formatOf(
  request: OutputOptions & { readonly format?: OutputFormat | undefined },
): OutputFormat {
  const { format, output_mode, output_schema } = request;
  if (format === undefined) return toOutputFormat(request);
  if ((output_mode ?? output_schema ?? null) === null) return format;
  const message = "Give either `format`, or `output_mode` and `output_schema`, not both.";
  throw new Failure("invalid_request", message, { param: "output_mode" });
}

function refuse(param: string, message: string): Failure {
  return new Failure("invalid_request", message, { param });
}

/** The user's last words, for a title. An item without text counts by its kind. */
export function lastWords(items: readonly Item[]): string {
  const message = items.findLast((item) => item.type === "message" && item.role === "user");
  if (message?.type !== "message") return items.at(-1)?.type ?? "";
  if (typeof message.content === "string") return message.content;
  return message.content
    .map((part) => (part.type === "input_text" ? part.text : `[${part.type}]`))
    .join(" ");
}
