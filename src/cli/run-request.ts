/** What a run takes from the settings, for every command that starts runs. */

import { EMBEDDED } from "../providers/models/model-ref.ts";
import type { Config } from "../runtime/config/config.ts";
import type { InnerRunRequest, RunRequest } from "../runtime/run-request.ts";
import { toLimits } from "../runtime/settings.ts";
import type { LoadedSkills } from "../tools/skills/load-skills.ts";
import type { Io } from "./io.ts";
import { openSkills } from "./open-skills.ts";
import type { PickedModel } from "./pick-model.ts";

/** The part of a request that comes from the settings. */
export function toRunRequest(config: Config, choice: PickedModel): Omit<InnerRunRequest, "input"> {
  const provider = config.get("provider");
  const timeout = config.get("timeout");
  return {
    model: choice.ref,
    model_reason: choice.reason,
    ...(choice.source === "embedded" && { fell_back: true }),
    provider: provider === undefined || provider === EMBEDDED ? null : provider,
    url: choice.baseUrl ?? null,
    api_key_name: choice.apiKeyName ?? null,
    max_turns: config.get("max_turns"),
    temperature: config.get("temperature") ?? null,
    max_output_tokens: config.get("max_tokens") ?? null,
    ...toThinking(config),
    options: config.get("options") ?? null,
    compact: config.get("compact"),
    approve: config.get("approve"),
    sandbox: config.get("sandbox"),
    limits: toLimits(config),
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  };
}

/** A level alone asks the model to think. */
export function toThinking(config: Config): Pick<RunRequest, "think" | "effort"> {
  const effort = config.get("effort");
  if (effort === undefined) return { think: config.get("think") };
  return { think: true, effort };
}

/** Looks for skills only if the run may load one. */
export async function findSkills(
  config: Config,
  io: Io,
): Promise<Pick<LoadedSkills, "skills" | "warnings">> {
  if (!config.get("skills") || config.get("bare")) return { skills: [], warnings: [] };
  return await openSkills(io);
}
