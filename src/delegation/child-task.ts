/**
 * Makes a child's task from its parent's task and a wish. Everything that limits the child is its parent's, narrowed:
 * tools, grant, approval, sandbox, depth, budget. Pure.
 */

import { type Limits, mapKinds } from "../agent/limits.ts";
import { toOutputFormat } from "../agent/output-mode.ts";
import type { AgentTask } from "../agent/task.ts";
import { toChildPrompt } from "../agent/told-parts.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import { joinOptions } from "../protocol/own-options.ts";
import { REPORT_WISH } from "../protocol/report-wish.ts";
import type { ChildWish } from "./child.ts";
import type { DelegationSettings, SummaryMode } from "./settings.ts";
import { isDelegating, withCompanions } from "./tools/names.ts";

export interface ChildBounds {
  readonly tools: readonly string[];
  readonly maxTurns: number;
  readonly limits: Limits;
  /** The most that it may have in all, if it asks its parent for more by messages. */
  readonly ceiling?: Limits | undefined;
  readonly summary: SummaryMode;
  /** True if it runs where its parent can be asked. */
  readonly canAsk?: boolean | undefined;
}

export function toChildTask(parent: AgentTask, wish: ChildWish, bounds: ChildBounds): AgentTask {
  const { tools, maxTurns, limits, ceiling } = bounds;
  const canAsk = mayAsk(wish, bounds);
  const isOtherModel = wish.model !== undefined && wish.model !== parent.model;
  // The child has a conversation of its own, which belongs to no session.
  const { can_ask: _, fell_back: __, ceiling: ___, session: ____, ...above } = parent;
  return {
    ...above,
    ...toAddress(parent, wish),
    deployments: toDeployments(parent, wish),
    model: wish.model ?? parent.model,
    // Options of one vendor mean nothing to another: a child with another model starts with none.
    options: joinOptions(isOtherModel ? undefined : parent.options, wish.options) ?? null,
    model_reason: wish.model ? "asked for by its parent" : "its parent's",
    ...(hasFallenBack(parent, wish) && { fell_back: true }),
    ...toChildPrompt(parent, {
      tools,
      mayDelegate: tools.some(isDelegating),
      instructions: wish.instructions,
      source: wish.agent === undefined ? "its parent" : `agent ${wish.agent}`,
    }),
    items: wish.items ?? [{ type: "message", role: "user", content: wish.prompt }],
    tools,
    tool_choice: "auto",
    max_turns: maxTurns,
    format: toOutputFormat(
      {
        output_mode: wish.isJson ? "json_object" : null,
        output_schema: wish.schema as JsonObject | undefined,
      },
      "report",
    ),
    on_throw: "tell_model",
    // Tools of a request get new names for each run: the request says what it may call.
    grant: wish.response
      ? parent.grant
      : [...parent.grant, { tools: withCompanions(tools, canAsk) }],
    limits,
    ...(ceiling ? { ceiling } : {}),
    label: wish.label,
    agent: wish.agent ?? null,
    ...(canAsk ? { can_ask: true } : {}),
    depth: parent.depth + 1,
    ...toReportWish(wish, bounds.summary),
    response: wish.response ?? null,
  };
}

/** A list of tools is a whitelist: a child that has one cannot ask, unless the list says so. */
function mayAsk({ tools: named, canAsk, response }: ChildWish, bounds: ChildBounds): boolean {
  if (bounds.canAsk !== true || response !== undefined) return false;
  // A child without tools may have a model that does not know tools.
  return bounds.tools.length > 0 && (named === undefined || canAsk === true);
}

function toDeployments(parent: AgentTask, wish: ChildWish): AgentTask["deployments"] {
  if (wish.sameAddress) return wish.sameAddress.deployments;
  return wish.model === undefined ? parent.deployments : undefined;
}

/** True if its model was not chosen: a wish that names a model has chosen one, and so has an agent's file. */
function hasFallenBack(parent: AgentTask, { model, sameAddress }: ChildWish): boolean {
  if (sameAddress) return sameAddress.fell_back === true;
  return model === undefined && parent.fell_back === true;
}

/**
 * Where a child's model is asked. The server and the key that a person named are only for that vendor. A server from
 * the agent's file gets the key that the file names, or the vendor's own, never the parent's; a key from the file is
 * not sent to a server of the parent.
 */
function toAddress(
  parent: AgentTask,
  { model, address, sameAddress }: ChildWish,
): Pick<AgentTask, "provider" | "url" | "api_key_name"> {
  if (sameAddress) {
    const { provider, url, api_key_name } = sameAddress;
    return { provider, url, api_key_name };
  }
  const isElsewhere = model !== undefined && vendorIn(model) !== vendorIn(parent.model);
  const { provider, url, api_key_name } = isElsewhere ? NO_ADDRESS : parent;
  if (!address) return { provider, url, api_key_name };
  const isOwn = address.url !== undefined || address.apiKeyName !== undefined;
  const kept = isOwn ? NO_ADDRESS : { provider, url, api_key_name };
  return {
    provider: address.provider ?? kept.provider,
    url: address.url ?? kept.url,
    api_key_name: address.apiKeyName ?? kept.api_key_name,
  };
}

const NO_ADDRESS = { provider: null, url: null, api_key_name: null } as const;

/**
 * How a child is asked to report. By default the prompt is sent with its task and its last answer is the report; a
 * prompt of the wish is a turn of its own, after the task.
 */
function toReportWish(
  { summaryPrompt, schema, isJson }: ChildWish,
  mode: SummaryMode,
): Pick<AgentTask, "summary_prompt" | "report_along"> {
  const isNone = summaryPrompt === null || schema !== undefined || isJson;
  if (isNone || (mode === "never" && summaryPrompt === undefined)) return { summary_prompt: null };
  const isApart = mode === "always" || (mode === "auto" && summaryPrompt !== undefined);
  const summary_prompt = summaryPrompt ?? REPORT_WISH;
  return isApart ? { summary_prompt } : { summary_prompt, report_along: true };
}

function vendorIn(model: string): string {
  return model.slice(0, Math.max(0, model.search(/[/:]/)));
}

/** Tools that delegate are never named: a child gets its own if it may have one. */
export function checkTools(wanted: readonly string[], known: readonly string[]): void {
  const unknown = wanted.filter((name) => !known.includes(name)).sort();
  if (unknown.length === 0) return;
  throw new Failure("invalid_request", `Unknown tool names: ${unknown.join(", ")}`);
}

/** The limit of any child, whatever the settings say. */
const MAX_TURNS = 50;

export function toMaxTurns(
  { maxTurns }: Pick<ChildWish, "maxTurns">,
  { defaultMaxTurns }: Pick<DelegationSettings, "defaultMaxTurns">,
): number {
  return Math.min(maxTurns ?? defaultMaxTurns, MAX_TURNS);
}

/** The most that a child may ever have. A child that cannot delegate needs no children of its own. */
export function toChildCeiling(
  parent: Limits,
  { limits = {}, response }: Pick<ChildWish, "limits" | "response">,
  { task, maxDepth }: { readonly task: AgentTask; readonly maxDepth: number },
): Limits {
  // Agents of a request delegate with tools that are not the run's.
  const hasTool = response !== undefined || task.tools.some(isDelegating);
  const canDelegate = hasTool && task.depth < maxDepth;
  const own = toCeiling(parent, limits);
  return canDelegate ? own : { ...own, children: 0 };
}

/** The most that a child may have in all: what its wish names, and never more than its parent. */
export function toCeiling(parent: Limits, wish: Partial<Limits>): Limits {
  return mapKinds((kind) => {
    const own = wish[kind] ?? null;
    const above = parent[kind];
    return own === null || above === null ? (own ?? above) : Math.min(own, above);
  });
}
