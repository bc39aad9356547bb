/**
 * Models for responses that need nothing but a model. Opened once a target and kept, because opening
 * costs more than asking.
 */

import { chooseNative, type NativeChoice } from "../../responses/bridge/native.ts";
import type { DirectModel, DirectModels } from "../../responses/direct/direct-model.ts";
import type { AgentParts } from "../agent-body.ts";
import { MAX_KEPT, toModelKey } from "./kept-models.ts";

export function createDirectModels(
  { openModel }: Pick<AgentParts, "openModel">,
  choice: NativeChoice,
): DirectModels {
  const kept = new Map<string, DirectModel>();
  return {
    known: (target) => kept.get(toModelKey(target)),
    async open(target) {
      const model = await openModel({ ...target, think: false });
      const { provider, reasoning, checkInput, costOf } = model;
      const native = chooseNative(model.native, choice);
      const opened = { provider, native, sealed: reasoning.sealed, checkInput, costOf };
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(toModelKey(target), opened);
      return opened;
    },
  };
}
