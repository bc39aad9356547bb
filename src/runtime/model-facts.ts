/** The facts of a model, for people: its window and its price, from the table and the user's settings. */

import { Failure } from "../base/failure.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../providers/models/model-ref.ts";
import { findModel } from "../providers/models/models.ts";
import { CATALOG } from "../providers/vendors/catalog.ts";
import type { ModelFacts } from "./about-views.ts";
import type { ModelParts } from "./open-sign.ts";

/** Undefined for a name that is not a model's. */
export function toModelFacts(
  ref: string,
  url: string | null,
  { overrides, catalog = CATALOG }: Pick<ModelParts, "overrides" | "catalog">,
): ModelFacts | undefined {
  try {
    const { vendor, model: name } = parseModelRef(ref, url ? "custom" : undefined, catalog);
    if (vendor === EMBEDDED || vendor === GGUF) return FREE;
    const found = findModel(vendor, name, overrides, catalog.of(vendor).like);
    const { contextTokens, maxOutputTokens, price } = found;
    return {
      context_tokens: contextTokens ?? null,
      max_output_tokens: maxOutputTokens ?? null,
      price: price ? { input: price.input, output: price.output } : null,
    };
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined;
    throw thrown;
  }
}

const FREE: ModelFacts = {
  context_tokens: null,
  max_output_tokens: null,
  price: { input: 0, output: 0 },
};
