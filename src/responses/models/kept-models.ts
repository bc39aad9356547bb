/** Models of a server's requests, opened once and kept: opening costs more than asking. */

import type { AgentParts } from "../../runtime/agent-body.ts";
import type { ModelTarget } from "../direct/direct-model.ts";

/** Enough for every model that a server is asked for in earnest. */
export const MAX_KEPT = 200;

type OpenModel = AgentParts["openModel"];

export function withKeptModels(parts: AgentParts): AgentParts {
  return { ...parts, openModel: keepModels(parts.openModel) };
}

/** Nothing of a run is in an opened model, so that runs can share it. What fails is tried again. */
function keepModels(open: OpenModel): OpenModel {
  const kept = new Map<string, ReturnType<OpenModel>>();
  return (wish) => {
    const key = `${toModelKey(wish)} ${wish.think}`;
    const known = kept.get(key);
    if (known) return known;
    if (kept.size >= MAX_KEPT) kept.clear();
    const opened = open(wish);
    kept.set(key, opened);
    opened.catch(() => kept.delete(key));
    return opened;
  };
}

export function toModelKey(target: ModelTarget): string {
  const { model, provider, url, api_key_name, deployments, fell_back = false } = target;
  // Built again for each request: JSON costs more than all else here.
  if (!deployments) return `${model} ${provider} ${url} ${api_key_name} ${fell_back}`;
  return deployments.map((one) => `${toModelKey(one)} ${one.weight} ${one.fallback}`).join("\n");
}
