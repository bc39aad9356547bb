/** A child's order as the runner reads it: its task, its signed limits, its place in the record. */

import { asJson, type Json, type JsonObject } from "../../base/json.ts";
import type { ChildOrder } from "../child.ts";
import type { DelegationSettings } from "../settings.ts";
import { signGrant } from "../signed-grant.ts";

export interface PayloadParts {
  /** The run that delegates. */
  readonly parent: { readonly id: string; readonly path: string };
  /** The record's file; undefined if the record is in memory, and the child keeps its own. */
  readonly storePath: string | undefined;
  /** The settings for all tool calls: rules, limits of time and output, the environment of commands. */
  readonly safety: JsonObject;
  readonly settings: DelegationSettings;
  /** True if the child's questions to a person are accepted here. */
  readonly asks?: boolean | undefined;
  /** The provider that a task's model is asked through, named or not; null if it has none. */
  providerOf?(task: ChildOrder["task"]): string | null;
}

/** Extra validity of the signature for the child's start, beyond the time that it may run. */
const START_MS = 60_000;

export function toPayload(
  { key: place, task, account, timeoutMs }: ChildOrder,
  { parent, storePath, safety, settings, asks = false, providerOf }: PayloadParts,
  { key, nowMs }: { readonly key: Uint8Array; readonly nowMs: number },
): JsonObject {
  const id = `${parent.id}/${place}`;
  const payload: JsonObject = {
    model: task.model,
    ...(task.fell_back ? { fell_back: true } : {}),
    provider: task.provider ?? providerOf?.(task) ?? null,
    url: task.url,
    api_key_name: task.api_key_name,
    prompt: promptOf(task.items),
    ...(task.items.length > 1 ? { items: task.items as readonly Json[] } : {}),
    system_prompt: task.instructions,
    ...(task.told ? { told: asJson(task.told) } : {}),
    tool_subset: task.tools,
    think: task.think,
    ...(task.effort === undefined ? {} : { effort: task.effort }),
    options: task.options,
    temperature: task.temperature,
    max_tokens: task.max_output_tokens,
    label: task.label,
    depth: task.depth,
    max_turns: task.max_turns,
    timeout_ms: timeoutMs,
    limits: { ...account.limits },
    ceiling: { ...account.ceiling },
    summary_prompt: task.summary_prompt,
    ...(task.report_along ? { report_along: true } : {}),
    schema: task.format.type === "json_schema" ? (task.format.schema as JsonObject) : null,
    ...(task.format.type === "json_object" ? { output_mode: "json_object" } : {}),
    on_throw: task.on_throw,
    compact: task.compact ?? null,
    approve: task.approve,
    sandbox: task.sandbox,
    root: task.root,
    grant: task.grant as readonly JsonObject[],
    expires_at_ms: nowMs + timeoutMs + START_MS,
    safety,
    asks,
    delegation: { ...settings },
    run:
      storePath === undefined
        ? null
        : {
            id,
            parent_id: parent.id,
            path: `${parent.path}/${place}`,
            ...(task.can_ask ? { can_ask: true } : {}),
          },
    store_path: storePath ?? null,
    brief: true,
    report: true,
    lifeline: true,
  };
  return { ...payload, signature: signGrant(payload, key) };
}

/** The child's prompt in words: the last message, if it continues another child. */
function promptOf(items: ChildOrder["task"]["items"]): string {
  const item = items.at(-1);
  return item?.type === "message" && typeof item.content === "string" ? item.content : "";
}
