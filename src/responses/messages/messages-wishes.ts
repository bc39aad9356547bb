/**
 * The parameters of a Messages request besides its conversation and its tools, in the names of the Responses API.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { THINKING_BUDGETS } from "../../protocol/messages-blocks.ts";
import {
  type CreateResponse,
  EFFORTS,
  type Effort,
  type ServiceTier,
} from "../../protocol/request.ts";
import type { AppliedEdit } from "./context-edits.ts";
import { markOf } from "./messages-content.ts";
import { MessagesRequest, type TextParam } from "./messages-request.ts";

/** Facts about the model that a name stands for, known before the model is asked. */
export interface UpstreamFacts {
  /**
   * True if its server is Anthropic's, or uses the same API: the vendor's own fields are passed on to it.
   */
  readonly isVendor: boolean;
  /** True if it may think unasked, and can be told not to. */
  readonly canStopThinking: boolean;
  readonly maxOutputTokens: number | undefined;
  readonly contextTokens: number | undefined;
}

export interface MessagesOrigin extends Pick<MessagesAnswerOptions, "summaryOf"> {
  readonly upstreamOf: (model: string | null | undefined) => UpstreamFacts;
  /** The client's own session, by which its runs are grouped. */
  readonly session?: string | undefined;
}

/** The form of the client's answer. */
export interface MessagesAnswerOptions {
  /** The requested name; the model's own if none was given. */
  readonly model: string | undefined;
  /** `hidden` shows no thoughts; `omitted` shows that there were some. */
  readonly thinking: "shown" | "omitted" | "hidden";
  readonly applied: readonly AppliedEdit[];
  /** Ids of calls in the conversation: ids of new calls must differ. */
  readonly takenIds: ReadonlySet<string>;
  /** The client's names of tools that the model knows under other names. */
  readonly clientNames: ReadonlyMap<string, string>;
  /** Fields of the request that were left out. */
  readonly ignored: readonly string[];
  /** The stop sequences. */
  readonly stops: readonly string[];
  /** The size of the model's window in tokens; undefined if it is not known. */
  readonly contextTokens: number | undefined;
  /** True if the summary of the conversation is the whole answer. */
  readonly isCompaction?: boolean | undefined;
  /** Opens a summary that this server has sealed. When left out, none can be read. */
  readonly summaryOf?: ((sealed: string) => string | undefined) | undefined;
}

/**
 * Claude Code begins with a line that tells its vendor whom to bill. Its value changes, which would invalidate every
 * cache of the prompt after it, and it has no meaning for other vendors.
 */
const ATTRIBUTION = /^x-anthropic-billing-header:/;

interface System {
  readonly instructions: string;
  /** The blocks after the first, for the vendor: each block may end a cached prefix. */
  readonly items: readonly Item[];
  /** Blocks that are not text. */
  readonly ignored: readonly string[];
}

export function toSystem(system: MessagesRequest["system"], isVendor: boolean): System {
  if (typeof system === "string" || !system) {
    return { instructions: system ?? "", items: [], ignored: [] };
  }
  const ignored = system.flatMap(({ type }, at) =>
    type === "text" ? [] : [`system[${at}] (${type})`],
  );
  const texts = system.filter(({ type }) => type === "text");
  if (isVendor) {
    const said = texts.filter(({ text }) => text.trim() !== "");
    // Instructions cannot have a mark.
    if (said[0]?.cache_control) return { instructions: "", items: said.map(toSystemItem), ignored };
    const [first, ...rest] = said;
    return { instructions: first?.text ?? "", items: rest.map(toSystemItem), ignored };
  }
  const told = texts.filter(({ text }) => !ATTRIBUTION.test(text) && text !== "");
  return { instructions: told.map(({ text }) => text).join("\n\n"), items: [], ignored };
}

function toSystemItem(block: TextParam): Item {
  const { text } = block;
  const content = [{ type: "input_text" as const, text, ...markOf(block) }];
  return { type: "message", role: "system", content };
}

export function toSampling(given: MessagesRequest, upstream: UpstreamFacts): CreateResponse {
  const { max_tokens, temperature, top_p, top_k, stop_sequences, stream } = given;
  const isNumber = (value: number | null | undefined): value is number => typeof value === "number";
  return {
    ...(isNumber(max_tokens) ? { max_output_tokens: clamp(max_tokens, upstream) } : {}),
    ...(isNumber(temperature) ? { temperature } : {}),
    ...(isNumber(top_p) ? { top_p } : {}),
    ...(isNumber(top_k) ? { top_k } : {}),
    ...(stop_sequences?.length ? { stop: stop_sequences } : {}),
    ...(stream ? { stream } : {}),
  };
}

/** The metadata key for a client's session. */
const SESSION_KEY = "client_session";
const MAX_SESSION_CHARS = 128;

export function toService(
  { metadata, service_tier, store }: MessagesRequest,
  { session }: MessagesOrigin,
  { isVendor }: UpstreamFacts,
): CreateResponse {
  const user = metadata?.user_id;
  const kept = store ?? (session === undefined ? false : undefined);
  return {
    ...(kept === undefined ? {} : { store: kept }),
    // The user's id is only passed to the vendor for which the client set it.
    ...(isVendor && user ? { user } : {}),
    ...(isVendor && service_tier ? { service_tier: service_tier as ServiceTier } : {}),
    ...(session === undefined
      ? {}
      : { metadata: { [SESSION_KEY]: session.slice(0, MAX_SESSION_CHARS) } }),
  };
}

/** `output_format` is the older name. */
export function toFormat({ output_config, output_format }: MessagesRequest): CreateResponse {
  const format = output_config?.format ?? output_format;
  if (format?.type !== "json_schema" || !format.schema) return {};
  return {
    text: { format: { type: "json_schema", name: "answer", schema: format.schema, strict: true } },
  };
}

interface AskedThinking {
  readonly fields: Pick<CreateResponse, "reasoning">;
  readonly shows: MessagesAnswerOptions["thinking"];
  readonly ignored: readonly string[];
}

/** The effort that the published API assumes for a request that only says that it thinks. */
const USUAL_EFFORT = "high";

/** A request without the field does not ask for thinking. */
export function toThinking(
  { thinking, output_config }: MessagesRequest,
  { canStopThinking }: UpstreamFacts,
): AskedThinking {
  const given = output_config?.effort ?? undefined;
  const effort = isEffort(given) ? given : undefined;
  const isOff = !thinking || thinking.type === "disabled";
  if (isOff) {
    const ignored = given === undefined ? [] : ["output_config.effort"];
    const fields = canStopThinking ? { reasoning: { effort: "none" as const } } : {};
    return { fields, shows: "hidden", ignored };
  }
  const budget = thinking.budget_tokens ?? undefined;
  const wanted = effort ?? (budget === undefined ? USUAL_EFFORT : toEffort(budget));
  const shows = thinking.display === "omitted" ? "omitted" : "shown";
  const summary =
    shows === "shown" ? { summary: "auto" as const } : { display: "omitted" as const };
  const ignored = given === effort ? [] : ["output_config.effort"];
  return { fields: { reasoning: { effort: wanted, ...summary } }, shows, ignored };
}

/** Clients learn new words before servers do. */
function isEffort(word: string | undefined): word is Effort {
  return EFFORTS.some((known) => known === word);
}

/** The effort whose budget is nearest; the weaker one of two that are equally near. */
function toEffort(budget: number): Effort {
  const rows = Object.entries(THINKING_BUDGETS) as [Effort, number][];
  const distance = ([, tokens]: readonly [Effort, number]): number => Math.abs(tokens - budget);
  return rows.reduce((best, row) => (distance(row) < distance(best) ? row : best))[0];
}

const SEAL = "reasoning.encrypted_content";
const FOUND = ["web_search_call.results", "web_search_call.action.sources"];

/**
 * Thoughts come back with the next request. For a request with tools they always do: vendors want them with calls.
 */
export function toInclude(
  { tools }: MessagesRequest,
  shows: MessagesAnswerOptions["thinking"],
  hasTools: boolean,
): Pick<CreateResponse, "include"> {
  const seals = shows !== "hidden" || hasTools ? [SEAL] : [];
  const found = tools?.some(({ type }) => /^web_/.test(type ?? "")) ? FOUND : [];
  const include = [...seals, ...found];
  return include.length > 0 ? { include: include as CreateResponse["include"] } : {};
}

/**
 * Fields that only the vendor knows. They are sent if the key may set them (`providers/carried-fields.ts`); for other
 * models they are reported as left out.
 */
export const VENDOR_FIELDS: readonly string[] = [
  "container",
  "inference_geo",
  "speed",
  "fallbacks",
];

/** Fields of the request that are read somewhere. Any other field is left out, and named. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(MessagesRequest.shape),
  ...VENDOR_FIELDS,
  ...["thread", "compaction"],
]);

export function pickFields(given: MessagesRequest, names: readonly string[]): JsonObject {
  const fields = given as unknown as JsonObject;
  const present = names.filter((name) => isGiven(given, name));
  return Object.fromEntries(present.map((name) => [name, fields[name]]));
}

function isGiven(given: object, name: string): boolean {
  const value = (given as JsonObject)[name];
  return value !== undefined && value !== null;
}

export function leftOut(given: MessagesRequest): string[] {
  const format = given.output_config?.format ?? given.output_format;
  const { task_budget } = (given.output_config ?? {}) as { task_budget?: unknown };
  const { compaction } = given as { compaction?: unknown };
  return [
    ...Object.keys(given).filter((name) => isGiven(given, name) && !KNOWN.has(name)),
    ...(format && format.type !== "json_schema" ? ["output_config.format"] : []),
    ...(task_budget ? ["output_config.task_budget"] : []),
    ...(isJsonObject(compaction) && compaction["instructions"] ? ["compaction.instructions"] : []),
  ];
}

/** A client's usual limit may be more than the model allows. */
export function clamp(tokens: number, { maxOutputTokens }: UpstreamFacts): number {
  return maxOutputTokens === undefined ? tokens : Math.min(tokens, maxOutputTokens);
}
