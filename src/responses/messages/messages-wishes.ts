/** What a Messages request asks beside its conversation and its tools, in the words of the Responses API. */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Item } from "../../protocol/items.ts";
import { THINKING_BUDGETS } from "../../protocol/messages-blocks.ts";
import type { CreateResponse, Effort, ServiceTier } from "../../protocol/request.ts";
import { markOf } from "./messages-content.ts";
import type { MessagesRequest, TextParam } from "./messages-request.ts";
import type { Asking, MessagesAnswer, Upstream } from "./parse-messages.ts";

/**
 * Claude Code begins with a line that tells its vendor whom to bill. Its value changes, which would end every
 * cache of the prompt behind it, and it means nothing to anybody else.
 */
const ATTRIBUTION = /^x-anthropic-billing-header:/;

interface System {
  readonly instructions: string;
  /** What follows the first block, for the vendor: each block may end a prefix that is cached. */
  readonly items: readonly Item[];
}

export function toSystem(system: MessagesRequest["system"], isVendor: boolean): System {
  if (typeof system === "string" || !system) return { instructions: system ?? "", items: [] };
  if (isVendor) {
    const said = system.filter(({ text }) => text.trim() !== "");
    // Instructions have no place for a mark.
    if (said[0]?.cache_control) return { instructions: "", items: said.map(toSystemItem) };
    const [first, ...rest] = said;
    return { instructions: first?.text ?? "", items: rest.map(toSystemItem) };
  }
  const told = system.filter(({ text }) => !ATTRIBUTION.test(text) && text !== "");
  return { instructions: told.map(({ text }) => text).join("\n\n"), items: [] };
}

function toSystemItem(block: TextParam): Item {
  const { text } = block;
  const content = [{ type: "input_text" as const, text, ...markOf(block) }];
  return { type: "message", role: "system", content };
}

export function toSampling(given: MessagesRequest, upstream: Upstream): CreateResponse {
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

/** Under which the session of a client stands in the metadata of its responses. */
const SESSION_KEY = "client_session";
const MAX_SESSION_CHARS = 128;

export function toService(
  { metadata, service_tier, store }: MessagesRequest,
  { session }: Asking,
  { isVendor }: Upstream,
): CreateResponse {
  const user = metadata?.user_id;
  const kept = store ?? (session === undefined ? false : undefined);
  return {
    ...(kept === undefined ? {} : { store: kept }),
    // Who it is stays with the vendor that the client means to tell.
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
  readonly shows: MessagesAnswer["thinking"];
  readonly ignored: readonly string[];
}

/** What the published API takes where a request that thinks says no more. */
const USUAL_EFFORT = "high";

/** A request that says nothing of thinking asks for none. */
export function toThinking(
  { thinking, output_config }: MessagesRequest,
  { canStopThinking }: Upstream,
): AskedThinking {
  const effort = output_config?.effort ?? undefined;
  const isOff = !thinking || thinking.type === "disabled";
  if (isOff) {
    const ignored = effort === undefined ? [] : ["output_config.effort"];
    const fields = canStopThinking ? { reasoning: { effort: "none" as const } } : {};
    return { fields, shows: "hidden", ignored };
  }
  const budget = thinking.budget_tokens ?? undefined;
  const wanted = effort ?? (budget === undefined ? USUAL_EFFORT : toEffort(budget));
  const shows = thinking.display === "omitted" ? "omitted" : "shown";
  const summary = shows === "shown" ? { summary: "auto" as const } : {};
  return { fields: { reasoning: { effort: wanted, ...summary } }, shows, ignored: [] };
}

/** The strongest effort whose budget fits. */
function toEffort(budget: number): Effort {
  const fitting = Object.entries(THINKING_BUDGETS).filter(([, tokens]) => tokens <= budget);
  return (fitting.at(-1)?.[0] ?? "minimal") as Effort;
}

const SEAL = "reasoning.encrypted_content";
const FOUND = ["web_search_call.results", "web_search_call.action.sources"];

/** What it thought comes back with the next request, of one with tools in any case: vendors want it with calls. */
export function toInclude(
  { tools }: MessagesRequest,
  shows: MessagesAnswer["thinking"],
  hasTools: boolean,
): Pick<CreateResponse, "include"> {
  const seals = shows !== "hidden" || hasTools ? [SEAL] : [];
  const found = tools?.some(({ type }) => /^web_/.test(type ?? "")) ? FOUND : [];
  const include = [...seals, ...found];
  return include.length > 0 ? { include: include as CreateResponse["include"] } : {};
}

/** What the vendor has alone, and is given where the key may say so (`providers/carried-fields.ts`). Others name it. */
export const VENDOR_FIELDS: readonly string[] = [
  "container",
  "inference_geo",
  "speed",
  "fallbacks",
];

/** Parameters of the API, or of its clients, that ask for what only the vendor could do, and is not asked to. */
const LEFT_OUT: readonly string[] = [
  ...["user_profile_id", "diagnostics", "fallback_credit_token"],
];

export function pickFields(given: MessagesRequest, names: readonly string[]): JsonObject {
  const fields = given as unknown as JsonObject;
  const present = names.filter((name) => fields[name] !== undefined && fields[name] !== null);
  return Object.fromEntries(present.map((name) => [name, fields[name]]));
}

export function leftOut(given: MessagesRequest): string[] {
  const format = given.output_config?.format ?? given.output_format;
  const { task_budget } = (given.output_config ?? {}) as { task_budget?: unknown };
  const { compaction } = given as { compaction?: unknown };
  return [
    ...Object.keys(pickFields(given, LEFT_OUT)),
    ...(format && format.type !== "json_schema" ? ["output_config.format"] : []),
    ...(task_budget ? ["output_config.task_budget"] : []),
    ...(isJsonObject(compaction) && compaction["instructions"] ? ["compaction.instructions"] : []),
  ];
}

/** A client's usual limit may be more than the model behind the name has. */
export function clamp(tokens: number, { maxOutputTokens }: Upstream): number {
  return maxOutputTokens === undefined ? tokens : Math.min(tokens, maxOutputTokens);
}
