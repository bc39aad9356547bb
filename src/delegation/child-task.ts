/**
 * What a child is asked to do, made of its parent's task and of a wish. Everything that bounds it is
 * its parent's, narrowed: tools, grant, approval, sandbox, depth, budget. Pure.
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
  /** What it may have in all, where it asks its parent for more by messages. */
  readonly ceiling?: Limits | undefined;
  readonly summary: SummaryMode;
  /** Whether it is where its parent can be asked. */
  readonly canAsk?: boolean | undefined;
}

export function toChildTask(parent: AgentTask, wish: ChildWish, bounds: ChildBounds): AgentTask {
  const { tools, maxTurns, limits, ceiling } = bounds;
  const canAsk = mayAsk(wish, bounds);
  const isOtherModel = wish.model !== undefined && wish.model !== parent.model;
  // Its conversation is its own: it is in no session.
  const { can_ask: _, fell_back: __, ceiling: ___, session: ____, ...above } = parent;
  return {
    ...above,
    ...toAddress(parent, wish),
    deployments: toDeployments(parent, wish),
    model: wish.model ?? parent.model,
    // What is one vendor's word is not another's: another model begins with none.
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
    // Tools of a request have names that are made anew for each run: what it may call is in the request.
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
  // One without tools may have a model that knows none.
  return bounds.tools.length > 0 && (named === undefined || canAsk === true);
}

function toDeployments(parent: AgentTask, wish: ChildWish): AgentTask["deployments"] {
  if (wish.sameAddress) return wish.sameAddress.deployments;
  return wish.model === undefined ? parent.deployments : undefined;
}

/** Whether nobody chose its model: a wish that names one has, and so has an agent's file. */
function hasFallenBack(parent: AgentTask, { model, sameAddress }: ChildWish): boolean {
  if (sameAddress) return sameAddress.fell_back === true;
  return model === undefined && parent.fell_back === true;
}

/**
 * Where a child's model is asked. The server and the key that a person named are those of that vendor
 * alone. A server of the agent's file gets the key that the file names or the vendor's own, never the
 * parent's; a key of the file goes to no server of the parent's.
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
 * How a child is told to report. As usual the wish goes along with its task and its last answer is the
 * report; a wish of its own is a turn of its own, after the task.
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

/** A tool that delegates is never named: a child gets its own where it may have one. */
export function checkTools(wanted: readonly string[], known: readonly string[]): void {
  const unknown = wanted.filter((name) => !known.includes(name)).sort();
  if (unknown.length === 0) return;
  throw new Failure("invalid_request", `Unknown tool names: ${unknown.join(", ")}`);
}

/** Of any child, whatever the settings say. */
const MAX_TURNS = 50;

export function toMaxTurns(
  { maxTurns }: Pick<ChildWish, "maxTurns">,
  { defaultMaxTurns }: Pick<DelegationSettings, "defaultMaxTurns">,
): number {
  return Math.min(maxTurns ?? defaultMaxTurns, MAX_TURNS);
}

/** Most that a child may ever have. One that cannot delegate needs no children of its own. */
export function toChildCeiling(
  parent: Limits,
  { limits = {}, response }: Pick<ChildWish, "limits" | "response">,
  { task, maxDepth }: { readonly task: AgentTask; readonly maxDepth: number },
): Limits {
  // Agents of a request delegate by tools that are not the run's.
  const hasTool = response !== undefined || task.tools.some(isDelegating);
  const canDelegate = hasTool && task.depth < maxDepth;
  const own = toCeiling(parent, limits);
  return canDelegate ? own : { ...own, children: 0 };
}

/** Most that a child may have in all: what its wish names, and never more than its parent. */
export function toCeiling(parent: Limits, wish: Partial<Limits>): Limits {
  return mapKinds((kind) => {
    const [own, above] = [wish[kind] ?? null, parent[kind]];
    return own === null || above === null ? (own ?? above) : Math.min(own, above);
  });
}
