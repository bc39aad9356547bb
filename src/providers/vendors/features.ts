/**
 * The features of each vendor beyond questions and answers, and the parameter that uses each: the table in
 * docs/providers.md. Facts of other tables are read from them; the rest is written here once, for an API or
 * for a vendor.
 */

import type { Quirks, Wire, WireName } from "../wire.ts";
import { type VendorName, vendorOf } from "./catalog.ts";
import { nativeRowOf } from "./native-tools.ts";

/** In the order of the table. */
export const FEATURE_NAMES = [
  ...["native tools", "caching", "thinking", "tiers", "image output", "citations"],
  ...["told cost", "routing", "guardrails", "media", "embeddings"],
] as const;

export type FeatureName = (typeof FEATURE_NAMES)[number];

export interface Feature {
  readonly name: FeatureName;
  /** How to use it, in Markdown. */
  readonly how: string;
}

type Words = Readonly<Partial<Record<FeatureName, string>>>;

const EMBEDDINGS = "`POST /v1/embeddings`";

const CLAUDE: Words = {
  caching:
    'automatic marks; own points with `prompt_cache_breakpoint` on a part; an hour with `prompt_cache_retention: "24h"`',
  thinking: "`reasoning.effort`, `none` for off",
  citations: "`url_citation` and `file_citation`, sent back as they came",
};

const GEMINI: Words = {
  caching: 'automatic; a kept prompt with `options: {cachedContent: "cachedContents/ID"}`',
  thinking: "`reasoning.effort`, `none` for the least",
  "image output": "models named `*-image`: `image_generation_call`",
  citations: "grounding as `url_citation`",
  guardrails: "`options: {safetySettings: [...]}`",
  media: "video and sound as data; `gs://` files and YouTube addresses as `file_url`",
  embeddings: EMBEDDINGS,
};

const OPENAI: Words = {
  caching:
    "automatic; `prompt_cache_key`, `prompt_cache_retention`, `prompt_cache_options`; own points with `prompt_cache_breakpoint` on a part",
  thinking: "`reasoning.effort`, `none` for off",
  "image output": "the tool `image_generation`",
  citations: "`url_citation`",
  embeddings: EMBEDDINGS,
};

/** The features of every vendor with this API. */
const BY_WIRE: Readonly<Partial<Record<WireName, Words>>> = {
  anthropic: CLAUDE,
  "vertexai-anthropic": CLAUDE,
  gemini: GEMINI,
  "vertexai-gemini": GEMINI,
  bedrock: {
    caching:
      'automatic cache points for Claude and Nova; own points with `prompt_cache_breakpoint` on a part; an hour with `prompt_cache_retention: "24h"` (Claude 4.5 and later)',
    thinking: "`reasoning.effort` for Claude, Nova 2 and gpt-oss",
    citations: "sources of Nova's searches as `url_citation`",
    guardrails: "`options: {guardrailConfig: {guardrailIdentifier, guardrailVersion}}`",
    media: "`s3://` files as `file_url`; video as data or from S3 (Nova)",
    embeddings: `${EMBEDDINGS} (Titan and Cohere)`,
  },
  cohere: {
    thinking: "`reasoning.effort`, `none` for off, of models that think",
    citations: "`url_citation` of sources with an address, `file_citation` of others",
    embeddings: EMBEDDINGS,
  },
  ollama: { thinking: "`reasoning.effort`, `none` for off", embeddings: EMBEDDINGS },
  llamacpp: {
    thinking: "`reasoning.effort`, `none` for off: variables of the model's template",
    embeddings: EMBEDDINGS,
  },
};

const BY_VENDOR: Readonly<Partial<Record<VendorName, Words>>> = {
  openai: OPENAI,
  azure: {
    ...OPENAI,
    "image output": "",
    guardrails: "filters of the deployment; a stop is `content_filter`",
  },
  openrouter: {
    caching:
      'automatic; of Claude too: the field that asks for it is sent; own points with `prompt_cache_breakpoint` on a part; an hour with `prompt_cache_retention: "24h"` (Claude)',
    thinking: "`reasoning.effort`, `none` for off where the model can",
    citations: "`url_citation`",
    routing: "`options: {provider: {order, sort, ...}, models: [...], transforms: [...]}`",
  },
  groq: {
    thinking: "`reasoning.effort` of gpt-oss; `none` for off (Qwen)",
    citations: "pages of its searches",
  },
  xai: {
    caching: "automatic",
    thinking: "`reasoning.effort`",
    citations: "`url_citation`",
  },
  mistral: {
    caching: "`prompt_cache_key`",
    thinking: "`reasoning.effort`",
    embeddings: EMBEDDINGS,
  },
  perplexity: {
    citations: "pages of its searches as `url_citation`, at the numbers in the text",
  },
  alibaba: { "native tools": "search of the vendor with `options: {enable_search: true}`" },
};

/** The features of a vendor. `wire` is the vendor's own. Empty for those that it does not have. */
export function featuresOf(vendor: VendorName, wire: Wire): readonly Feature[] {
  const { quirks } = vendorOf(vendor);
  const known: Words = {
    ...BY_WIRE[wire.name as WireName],
    ...toSwitch(quirks),
    ...toTiers(wire, quirks),
    ...toCost(quirks),
    ...BY_VENDOR[vendor],
    ...toTools(vendor, wire),
  };
  return FEATURE_NAMES.flatMap((name) => (known[name] ? [{ name, how: known[name] }] : []));
}

function toTools(vendor: VendorName, { name }: Wire): Words {
  const row = nativeRowOf(vendor);
  if (!row) return {};
  const runs = Object.entries(row.runs).map(([kind, { as, models }]) => {
    const which = models ? ` (${modelsOf(models)})` : "";
    return as === kind ? `\`${kind}\`${which}` : `\`${kind}\` as \`${as}\`${which}`;
  });
  // The API accepts both spellings of a name.
  const types = row.types
    .filter((type) => toSnake(type) === type || !row.types.includes(toSnake(type)))
    .map((type) => `\`${type}\``);
  const over = row.wire === name ? "" : ` over \`${row.wire}\``;
  const more = MORE_TOOLS[vendor] ?? "";
  return { "native tools": `${[...runs, ...types].join(", ")}${over}${more}` };
}

/** The further needs of a tool beside its entry. */
const MORE_TOOLS: Readonly<Partial<Record<VendorName, string>>> = {
  anthropic:
    ". The servers of `mcp_toolset` go into `options: {mcp_servers: [...]}`, skills in `options: {container: {skills: [...]}}` with the header `anthropic-beta: skills-2025-10-02`",
  groq: ". Tools of `groq/compound` with `options: {compound_custom: {tools: {enabled_tools: [...]}}}`",
};

/** Writes a pattern of models for people. */
function modelsOf(models: RegExp): string {
  return models.source.replaceAll("\\", "").replace(/^\^/, "").replaceAll("|", " or ");
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toSwitch({ thinkingOff }: Quirks): Words {
  if (!thinkingOff) return {};
  return { thinking: `\`reasoning.effort: "none"\` is sent as \`${JSON.stringify(thinkingOff)}\`` };
}

function toTiers({ options }: Wire, { refuses = [] }: Quirks): Words {
  const hasTiers = options?.has("service_tier") && !refuses.includes("service_tier");
  return hasTiers ? { tiers: "`service_tier`" } : {};
}

function toCost({ tellsCost }: Quirks): Words {
  return tellsCost
    ? { "told cost": "each answer says it: `--max-cost` and budgets need no price" }
    : {};
}
