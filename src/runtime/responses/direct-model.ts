/**
 * Models for responses that need nothing but a model. Opened once a target and kept, because opening
 * costs more than asking.
 */

import { chooseNative, type NativeChoice } from "../../responses/bridge/native.ts";
import type {
  DirectModel,
  DirectModels,
  ModelTarget,
} from "../../responses/direct/direct-model.ts";
import type { AgentParts } from "../agent-body.ts";

/** Enough for every model that a server is asked for in earnest. */
const MAX_KEPT = 200;

export function createDirectModels(
  { openModel }: Pick<AgentParts, "openModel">,
  choice: NativeChoice,
): DirectModels {
  const kept = new Map<string, DirectModel>();
  return {
    known: (target) => kept.get(toKey(target)),
    async open(target) {
      const model = await openModel({ ...target, think: false });
      const { provider, reasoning, checkInput, costOf } = model;
      const native = chooseNative(model.native, choice);
      const opened = { provider, native, sealed: reasoning.sealed, checkInput, costOf };
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(toKey(target), opened);
      return opened;
    },
  };
}

function toKey(target: ModelTarget): string {
  const { model, provider, url, api_key_name, deployments } = target;
  // Built anew for each request: JSON costs more than all else here.
  if (!deployments) return `${model} ${provider} ${url} ${api_key_name}`;
  return deployments.map((one) => `${toKey(one)} ${one.weight} ${one.fallback}`).join("\n");
}
