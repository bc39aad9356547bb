/**
 * Models for responses that need nothing but a model. Opened once a target and kept, because opening
 * costs more than asking.
 */

import { chooseNative, type NativeChoice } from "../bridge/native.ts";
import { MAX_KEPT, toModelKey } from "../models/kept-models.ts";
import type { OpenModel } from "../models/response-model.ts";
import type { DirectModel, DirectModels } from "./direct-model.ts";

export function createDirectModels(openModel: OpenModel, choice: NativeChoice): DirectModels {
  const kept = new Map<string, DirectModel>();
  return {
    known: (target) => kept.get(toModelKey(target)),
    async open(target) {
      const model = await openModel({ ...target, think: false });
      const { provider, reasoning, checkInput, costOf, contextTokens, own } = model;
      const native = chooseNative(model.native, choice);
      const known = { provider, checkInput, costOf, contextTokens, own };
      const opened = { ...known, native, sealed: reasoning.sealed };
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(toModelKey(target), opened);
      return opened;
    },
  };
}
