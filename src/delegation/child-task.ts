/**
 * What a child is asked to do, made of its parent's task and of a wish. Everything that bounds it is
 * its parent's, narrowed: tools, grant, approval, sandbox, depth, budget. Pure.
 */

import type { Account } from "../agent/account.ts";
import { type Limits, mapKinds } from "../agent/limits.ts";
import type { AgentTask } from "../agent/task.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import { joinOptions } from "../protocol/own-options.ts";
import type { ChildWish } from "./child.ts";

export function toChildTask(
  parent: AgentTask,
  wish: ChildWish,
  bounds: { readonly tools: readonly string[]; readonly maxTurns: number; readonly limits: Limits },
): AgentTask {
  const { tools, maxTurns, limits } = bounds;
  // The server and the key that a person named are those of that vendor alone.
  const isOtherModel = wish.model !== undefined && wish.model !== parent.model;
  const isElsewhere = wish.model !== undefined && vendorIn(wish.model) !== vendorIn(parent.model);
  return {
    ...parent,
    ...(isElsewhere ? { provider: null, url: null, api_key_name: null } : {}),
    deployments: wish.model === undefined ? parent.deployments : undefined,
    model: wish.model ?? parent.model,
    // What is one vendor's word is not another's: another model begins with none.
    options: joinOptions(isOtherModel ? undefined : parent.options, wish.options) ?? null,
    model_reason: wish.model ? "asked for by its parent" : "its parent's",
    instructions: wish.instructions,
    items: wish.items ?? [{ type: "message", role: "user", content: wish.prompt }],
    tools,
    tool_choice: "auto",
    max_turns: maxTurns,
    format:
      wish.schema === undefined
        ? { type: "text" }
        : { type: "json_schema", name: "report", schema: wish.schema as JsonObject, strict: true },
    on_throw: "tell_model",
    // Tools of a request have names that are made anew for each run: what it may call is in the request.
    grant: wish.response ? parent.grant : [...parent.grant, { tools }],
    limits,
    label: wish.label,
    depth: parent.depth + 1,
    summary_prompt: wish.summaryPrompt,
    response: wish.response ?? null,
  };
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

/**
 * The child's limits: what the wish names, or its share of what is left, which leaves as much for the
 * parent and for each sibling of the same turn. Where the parent has no limit, the wish alone counts.
 */
export function toChildLimits(account: Account, wish: Partial<Limits>, siblings: number): Limits {
  const { left, limits } = account;
  return mapKinds((kind) => {
    if (limits[kind] === null) return wish[kind] ?? null;
    const part = left[kind] / (siblings + 1);
    const share = kind === "usd" ? part : Math.floor(part);
    return Math.min(wish[kind] ?? share, left[kind]);
  });
}
