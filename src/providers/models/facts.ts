/** What rows of the model table share, whichever vendor's they are. */

import type { Model, Price, Refusal } from "./models.ts";

export type Facts = Omit<Model, "vendor" | "name">;
/** A vendor's models by name. */
export type Rows = Readonly<Record<string, Facts>>;

/** What most models share, so that a row says only what is its own. */
export const THINKS: Facts = {
  contextTokens: undefined,
  maxOutputTokens: undefined,
  price: undefined,
  reasoning: true,
  vision: true,
  pdf: true,
  tools: true,
  structured: true,
  refuses: [],
};
export const TALKS: Facts = { ...THINKS, reasoning: false, refuses: ["reasoning"] };

export const NO_SAMPLING: readonly Refusal[] = ["temperature", "top_p"];

/** USD per million tokens: input, input from the cache, output. */
export function price(input: number, cached: number | undefined, output: number): Price {
  return { input, cached, output };
}
