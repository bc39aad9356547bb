/** What a plan knows of a model: its window and its price, from the table and the user's settings. */

import type { PlannedModel } from "../delegation/plan-cost.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../providers/models/model-ref.ts";
import { costOf, findModel, type ModelOverride } from "../providers/models/models.ts";
import { vendorOf } from "../providers/vendors/catalog.ts";

const FREE: PlannedModel = {
  contextTokens: undefined,
  maxOutputTokens: undefined,
  costOf: () => 0,
};

/** Throws for a name that is no model's. */
export function toPlannedModel(
  ref: string,
  url: string | null,
  overrides: readonly ModelOverride[] | undefined,
): PlannedModel {
  const { vendor, model: name } = parseModelRef(ref, url ? "custom" : undefined);
  if (vendor === EMBEDDED || vendor === GGUF) return FREE;
  const model = findModel(vendor, name, overrides);
  const { contextTokens, maxOutputTokens } = model;
  const isFree = vendorOf(vendor).local && vendor !== "custom";
  return {
    ...{ contextTokens, maxOutputTokens },
    costOf: (usage) => (isFree ? 0 : costOf(model, usage)),
  };
}
