/**
 * Cohere's models. Those without a price have none per token: they are free up to a limit, and in
 * production they run on machines that are paid for by the hour.
 */

import { type ModelRow, price, type Rows, TALKS, THINKS } from "./facts.ts";

/** The lacks of the whole family: files are accepted only as text. */
const COMMAND: ModelRow = { ...TALKS, vision: false, pdf: false };
const COMMAND_R: ModelRow = { ...COMMAND, contextTokens: 128_000, maxOutputTokens: 4_000 };

export const COHERE: Rows = {
  "command-a-plus-05-2026": {
    ...THINKS,
    contextTokens: 128_000,
    maxOutputTokens: 64_000,
    pdf: false,
  },
  "command-a-03-2025": {
    ...COMMAND,
    contextTokens: 256_000,
    maxOutputTokens: 8_000,
    price: price(2.5, undefined, 10),
  },
  "command-a-reasoning-08-2025": {
    ...THINKS,
    contextTokens: 256_000,
    maxOutputTokens: 32_000,
    vision: false,
    pdf: false,
  },
  "command-a-vision-07-2025": {
    ...COMMAND,
    contextTokens: 128_000,
    maxOutputTokens: 8_000,
    vision: true,
    tools: false,
  },
  "north-mini-code-1-0": {
    ...THINKS,
    contextTokens: 256_000,
    maxOutputTokens: 64_000,
    vision: false,
    pdf: false,
  },
  "command-r-plus-08-2024": { ...COMMAND_R, price: price(2.5, undefined, 10) },
  "command-r-08-2024": { ...COMMAND_R, price: price(0.15, undefined, 0.6) },
  "command-r7b-12-2024": { ...COMMAND_R, price: price(0.0375, undefined, 0.15) },
};
