/** The facts of a model for a plan: its window and its price, from the table and the user's settings. */

import type { PlannedModel } from "../delegation/plan-cost.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../providers/models/model-ref.ts";
import { costOf, findModel } from "../providers/models/models.ts";
import { CATALOG } from "../providers/vendors/catalog.ts";
import type { ModelParts } from "./open-sign.ts";

const FREE: PlannedModel = {
  contextTokens: undefined,
  maxOutputTokens: undefined,
  costOf: () => 0,
};

/** Throws for a name that is not a model's. */
export function toPlannedModel(
  ref: string,
  url: string | null,
  { overrides, catalog = CATALOG }: Pick<ModelParts, "overrides" | "catalog">,
): PlannedModel {
  const { vendor, model: name } = parseModelRef(ref, url ? "custom" : undefined, catalog);
  if (vendor === EMBEDDED || vendor === GGUF) return FREE;
  const { local, own, like } = catalog.of(vendor);
  const model = findModel(vendor, name, overrides, like);
  const { contextTokens, maxOutputTokens } = model;
  const isFree = local && !own;
  return {
    contextTokens,
    maxOutputTokens,
    costOf: (usage) => (isFree ? 0 : costOf(model, usage)),
  };
}
