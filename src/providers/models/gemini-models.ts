/**
 * Gemini, from AI Studio and on Vertex AI, under the same names at the same price
 * (https://ai.google.dev/gemini-api/docs/pricing). The wire decides how much a model thinks
 * (`gemini/family.ts`). Flash from 3.6 on and Argon have a temporary price, so none is given.
 */

import {
  type ModelRow,
  NO_SAMPLING,
  type Price,
  price,
  type Rows,
  TALKS,
  THINKS,
} from "./facts.ts";

// The API cannot limit a model to one call at a time.
const THINKING: ModelRow = { ...THINKS, refuses: ["parallel_tool_calls"] };
const MODEL: ModelRow = { ...THINKING, contextTokens: 1_048_576, maxOutputTokens: 65_536 };

export const GEMINI: Rows = {
  // This model ignores both, so they are left out with a notice. Its longer answers come in several requests.
  "gemini-4-argon": { ...MODEL, refuses: [...MODEL.refuses, ...NO_SAMPLING] },
  "gemini-3.8-flash": MODEL,
  "gemini-3.7-flash": MODEL,
  "gemini-3.6-flash": MODEL,
  "gemini-3.5-flash": { ...MODEL, price: price(1.5, 0.15, 9) },
  "gemini-3.5-flash-lite": { ...MODEL, price: price(0.3, 0.03, 2.5) },
  "gemini-3.1-pro-preview": { ...MODEL, price: priceLong(2, 0.2, 12) },
  "gemini-3.1-pro-preview-customtools": { ...MODEL, price: priceLong(2, 0.2, 12) },
  "gemini-3.1-flash-lite": { ...MODEL, price: price(0.25, 0.025, 1.5) },
  "gemini-3-flash-preview": { ...MODEL, price: price(0.5, 0.05, 3) },
  "gemini-2.5-pro": { ...MODEL, price: priceLong(1.25, 0.125, 10) },
  "gemini-2.5-flash": { ...MODEL, price: price(0.3, 0.03, 2.5) },
  "gemini-2.5-flash-lite": { ...MODEL, price: price(0.1, 0.01, 0.4) },
  "gemini-*": THINKING,
  "gemini-4*": { ...THINKING, refuses: [...THINKING.refuses, ...NO_SAMPLING] },
  "gemini-2.0*": { ...TALKS, refuses: [...TALKS.refuses, ...THINKING.refuses] },
};

/** All of a request above 200,000 tokens costs more. */
function priceLong(input: number, cached: number, output: number): Price {
  const long = { aboveTokens: 200_000, inputFactor: 2, outputFactor: 1.5 };
  return { ...price(input, cached, output), long };
}
