/**
 * Claude, from its maker and on Vertex AI. The wire decides how a request turns on reasoning
 * (`messages/claude-models.ts`), so no row refuses an effort.
 *
 * Cache writes have the price of five minutes. Vertex charges the same at its global address, our default,
 * and a tenth more in a region (https://platform.claude.com/docs/en/about-claude/pricing).
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

const LARGE: ModelRow = {
  ...THINKS,
  contextTokens: 1_000_000,
  maxOutputTokens: 128_000,
  refuses: NO_SAMPLING,
};
const SMALL: ModelRow = { ...THINKS, contextTokens: 200_000, maxOutputTokens: 64_000 };
const CLAUDE_41: ModelRow = {
  ...SMALL,
  maxOutputTokens: 32_000,
  price: claudePrice(15, 1.5, 75),
};

/** Models that every platform has, by the maker's names. */
export const CLAUDE = {
  "claude-fable-5-1": { ...LARGE, price: claudePrice(10, 0.25, 50) },
  "claude-fable-5": { ...LARGE, price: claudePrice(10, 1, 50) },
  "claude-opus-5-5": { ...LARGE, price: claudePrice(4, 0.2, 20) },
  "claude-opus-5": { ...LARGE, price: claudePrice(5, 0.5, 25) },
  "claude-opus-4-8": { ...LARGE, price: claudePrice(5, 0.5, 25) },
  "claude-opus-4-7": { ...LARGE, price: claudePrice(5, 0.5, 25) },
  "claude-opus-4-6": { ...LARGE, price: claudePrice(5, 0.5, 25), refuses: [] },
  "claude-opus-4-5": { ...SMALL, price: claudePrice(5, 0.5, 25) },
  "claude-sonnet-5-5": { ...LARGE, price: claudePrice(2, 0.1, 10) },
  "claude-sonnet-5": { ...LARGE, price: claudePrice(2, 0.2, 10) },
  "claude-sonnet-4-6": { ...SMALL, contextTokens: 1_000_000, price: claudePrice(3, 0.3, 15) },
  "claude-sonnet-4-5": { ...SMALL, price: claudePrice(3, 0.3, 15) },
  "claude-haiku-5-5": {
    ...LARGE,
    price: {
      ...claudePrice(0.1, 0.01, 0.5),
      long: { aboveTokens: 100_000, inputFactor: 5, outputFactor: 5 },
    },
  },
  "claude-haiku-4-5": { ...SMALL, price: claudePrice(1, 0.1, 5) },
} as const satisfies Rows;

export type ClaudeName = keyof typeof CLAUDE;

/** Models before 4.6 are pinned by a date; later names always mean the same model. */
export const CLAUDE_DATES: Partial<Readonly<Record<ClaudeName, string>>> = {
  "claude-opus-4-5": "20251101",
  "claude-sonnet-4-5": "20250929",
  "claude-haiku-4-5": "20251001",
};

/** Rules for unknown names: models up to 4.6 accept a temperature, and those before 3.7 do not think. */
const FAMILIES: Rows = {
  "claude-*": { ...THINKS, refuses: NO_SAMPLING },
  "claude-opus-4*": THINKS,
  "claude-sonnet-4*": THINKS,
  "claude-haiku-4*": THINKS,
  "claude-3*": { ...TALKS, structured: false },
  "claude-3-7*": { ...THINKS, structured: false },
};

export const ANTHROPIC: Rows = {
  ...pinnedBy((name, date) => (date ? `${name}-${date}` : name)),
  "claude-mythos-5-1": CLAUDE["claude-fable-5-1"],
  "claude-mythos-5": CLAUDE["claude-fable-5"],
  ...FAMILIES,
};

export const VERTEXAI: Rows = {
  ...pinnedBy((name, date = "default") => `${name}@${date}`),
  "claude-opus-4-1@20250805": CLAUDE_41,
  "claude-opus-4@20250514": { ...CLAUDE_41, structured: false },
  ...FAMILIES,
};

function pinnedBy(pin: (name: string, date: string | undefined) => string): Rows {
  const names = Object.keys(CLAUDE) as ClaudeName[];
  return Object.fromEntries(
    names.flatMap((name) => {
      const pinned = pin(name, CLAUDE_DATES[name]);
      return [
        [name, CLAUDE[name]],
        [pinned, CLAUDE[name]],
      ];
    }),
  );
}

function claudePrice(input: number, cached: number, output: number): Price {
  return { ...price(input, cached, output), cacheWrite: 1.25 * input };
}
