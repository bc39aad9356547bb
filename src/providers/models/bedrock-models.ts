/**
 * Models on Amazon Bedrock, under every id that an inference profile gives them: `global.`, a group of
 * regions (`us.`, `eu.`), or none, which is one region.
 *
 * Claude costs its maker's price in the global profile and a tenth more in a group of regions. Prices of
 * single regions, and of foreign groups for other makers' models, are left out because they vary
 * (https://aws.amazon.com/bedrock/pricing/).
 */

import { CLAUDE, CLAUDE_DATES, type ClaudeName } from "./claude-models.ts";
import {
  type ModelRow,
  NO_SAMPLING,
  type Price,
  price,
  type RefusedParameter,
  type Rows,
  TALKS,
  THINKS,
} from "./facts.ts";

/** The groups of regions that have the model. Every model is in the global profile. */
const CLAUDE_GROUPS = {
  "claude-fable-5-1": ["us"],
  "claude-fable-5": ["us"],
  "claude-opus-5-5": ["us", "eu", "jp", "au"],
  "claude-opus-5": ["us", "eu", "jp", "au"],
  "claude-opus-4-8": ["us", "eu", "jp", "au"],
  "claude-opus-4-7": ["us", "eu", "jp"],
  "claude-opus-4-6": ["us", "eu"],
  "claude-opus-4-5": ["us", "eu"],
  "claude-sonnet-5-5": ["us"],
  "claude-sonnet-5": ["us", "jp"],
  "claude-sonnet-4-6": ["us", "eu", "jp"],
  "claude-sonnet-4-5": ["us", "eu", "jp", "au"],
  "claude-haiku-5-5": ["us", "eu", "jp", "au"],
  "claude-haiku-4-5": ["us", "eu", "jp", "au"],
} as const satisfies Record<ClaudeName, readonly string[]>;

/** Models that refuse Converse's only way to turn thinking off. */
const ALWAYS_THINKS: ReadonlySet<ClaudeName> = new Set([
  "claude-fable-5-1",
  "claude-fable-5",
  "claude-opus-5-5",
  "claude-sonnet-5-5",
]);

const ALL_GROUPS = ["", "global.", "us.", "eu.", "jp.", "au.", "apac."] as const;

// Only Claude can be limited to one call at a time.
const MANY_CALLS: readonly RefusedParameter[] = ["parallel_tool_calls"];
const THINKING: ModelRow = { ...THINKS, refuses: MANY_CALLS };
const TALKING: ModelRow = { ...TALKS, refuses: [...TALKS.refuses, ...MANY_CALLS] };

const NOVA: ModelRow = { ...TALKING, contextTokens: 300_000, maxOutputTokens: 10_000 };
const NOVA_2: ModelRow = { ...THINKING, contextTokens: 1_000_000, maxOutputTokens: 64_000 };
const LLAMA_4: ModelRow = { ...TALKING, maxOutputTokens: 16_384, structured: false };
const GPT_OSS: ModelRow = {
  ...THINKING,
  contextTokens: 128_000,
  vision: false,
  refuses: [...MANY_CALLS, "effort:none"],
};

const OTHERS: Rows = {
  ...inGroups("amazon.nova-2-lite-v1:0", { ...NOVA_2, price: price(0.33, 0.0825, 2.75) }, [
    "us.",
    "eu.",
    "jp.",
  ]),
  ...inGroups("amazon.nova-2-lite-v1:0", { ...NOVA_2, price: price(0.3, 0.075, 2.5) }, [
    "",
    "global.",
  ]),
  ...inGroups(
    "amazon.nova-premier-v1:0",
    { ...NOVA, contextTokens: 1_000_000, price: price(2.5, undefined, 12.5) },
    ["us."],
  ),
  ...nova("amazon.nova-pro-v1:0", { ...NOVA, price: price(0.8, undefined, 3.2) }),
  ...nova("amazon.nova-lite-v1:0", { ...NOVA, price: price(0.06, undefined, 0.24) }),
  ...nova("amazon.nova-micro-v1:0", {
    ...NOVA,
    contextTokens: 128_000,
    price: price(0.035, undefined, 0.14),
    vision: false,
    pdf: false,
  }),
  ...inGroups(
    "meta.llama4-maverick-17b-instruct-v1:0",
    { ...LLAMA_4, contextTokens: 1_000_000, price: price(0.24, undefined, 0.97) },
    ["", "us."],
  ),
  ...inGroups(
    "meta.llama4-scout-17b-instruct-v1:0",
    { ...LLAMA_4, contextTokens: 3_500_000, price: price(0.17, undefined, 0.66) },
    ["", "us."],
  ),
  ...inGroups(
    "meta.llama3-3-70b-instruct-v1:0",
    {
      ...LLAMA_4,
      contextTokens: 128_000,
      maxOutputTokens: 4_096,
      price: price(0.72, undefined, 0.72),
      vision: false,
    },
    ["", "us."],
  ),
  ...inGroups(
    "deepseek.r1-v1:0",
    {
      ...THINKING,
      contextTokens: 128_000,
      maxOutputTokens: 32_768,
      price: price(1.35, undefined, 5.4),
      vision: false,
      structured: false,
    },
    ["", "us."],
  ),
  "openai.gpt-oss-120b-1:0": GPT_OSS,
  "openai.gpt-oss-20b-1:0": {
    ...GPT_OSS,
    maxOutputTokens: 128_000,
    price: price(0.07, undefined, 0.3),
  },
};

/** Rules for unknown names. */
const FAMILIES: Rows = {
  ...inGroups("anthropic.claude-*", { ...THINKS, refuses: [...NO_SAMPLING, "effort:none"] }),
  ...inGroups("anthropic.claude-opus-4*", THINKS),
  ...inGroups("anthropic.claude-sonnet-4*", THINKS),
  ...inGroups("anthropic.claude-haiku-4*", THINKS),
  ...inGroups("anthropic.claude-3*", { ...TALKS, structured: false }),
  ...inGroups("anthropic.claude-3-7*", { ...THINKS, structured: false }),
  ...inGroups("amazon.nova-*", TALKING),
  ...inGroups("amazon.nova-2*", THINKING),
  ...inGroups("meta.llama*", { ...TALKING, structured: false }),
};

export const BEDROCK: Rows = {
  ...Object.assign({}, ...(Object.keys(CLAUDE) as ClaudeName[]).map(claudeRows)),
  ...OTHERS,
  ...FAMILIES,
};

function claudeRows(name: ClaudeName): Rows {
  const id = claudeId(name);
  const { price: list, refuses, ...rest } = CLAUDE[name];
  const facts = {
    ...rest,
    refuses: ALWAYS_THINKS.has(name) ? [...refuses, "effort:none" as const] : refuses,
  };
  const groups = CLAUDE_GROUPS[name].map((group) => `${group}.`);
  return {
    [`global.${id}`]: { ...facts, price: list },
    ...inGroups(id, { ...facts, price: tenthMore(list) }, groups),
    [id]: { ...facts, price: undefined },
  };
}

/** The id of a Claude model. Ids before 4.6 contain a date; 4.6 is the last with a revision. */
function claudeId(name: ClaudeName): string {
  const date = CLAUDE_DATES[name];
  if (date !== undefined) return `anthropic.${name}-${date}-v1:0`;
  return name === "claude-opus-4-6" ? `anthropic.${name}-v1` : `anthropic.${name}`;
}

function tenthMore({ input, cached, cacheWrite, output, ...rest }: Price): Price {
  return {
    ...rest,
    input: more(input),
    cached: cached && more(cached),
    ...(cacheWrite !== undefined && { cacheWrite: more(cacheWrite) }),
    output: more(output),
  };
}

/** Rounded, since 0.2 × 1.1 is not 0.22 in binary. */
function more(usd: number): number {
  return Math.round(usd * 1.1e6) / 1e6;
}

/** Prices are those of the United States; other groups have prices of their own. */
function nova(id: string, facts: ModelRow): Rows {
  return {
    ...inGroups(id, facts, ["", "us."]),
    ...inGroups(id, { ...facts, price: undefined }, ["eu.", "apac."]),
  };
}

function inGroups(id: string, facts: ModelRow, groups: readonly string[] = ALL_GROUPS): Rows {
  return Object.fromEntries(groups.map((group) => [`${group}${id}`, facts]));
}
