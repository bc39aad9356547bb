/**
 * The tools that vendors run themselves, one row for each vendor that has some. This table says which tools
 * of a request go to the vendor, how they are spelled there and what they cost; the table in
 * docs/providers.md is made from it.
 */

import { asJsonObject, type JsonObject } from "../../base/json.ts";
import type { NativePrice, NativeRow, NativeRun, RunKind } from "../wire.ts";
import type { VendorName } from "./catalog.ts";

/**
 * Tools that OpenAI runs itself, or passes to clients in a form of its own. Files and containers are kept
 * here.
 */
const OPENAI_TOOLS = [
  "custom",
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
  "image_generation",
  "computer",
  "computer_use_preview",
  "local_shell",
  "apply_patch",
  "namespace",
  "tool_search",
  "programmatic_tool_calling",
];

const OPENAI_ITEMS = [
  "custom_tool_call",
  "custom_tool_call_output",
  "web_search_call",
  "image_generation_call",
  "computer_call",
  "computer_call_output",
  "local_shell_call",
  "local_shell_call_output",
  "apply_patch_call",
  "apply_patch_call_output",
  "tool_search_call",
  "tool_search_output",
  "program",
  "program_output",
  "compaction",
];

const SOURCES = ["web_search_call.action.sources"];
const OUTPUTS = ["code_interpreter_call.outputs"];

const CLAUDE_SEARCH: NativeRun = {
  as: "web_search_20250305",
  takes: ["filters", "user_location"],
  hints: ["search_context_size"],
  shows: SOURCES,
};

const CLAUDE_CLIENT_TOOLS = ["bash_2*", "text_editor_2*", "memory_2*", "computer_2*"];

const CLAUDE: NativeRow = {
  wire: "anthropic",
  types: [
    ...["web_search_2*", "web_fetch_2*", "code_execution_2*", "advisor_2*"],
    ...["tool_search_tool_*", "mcp_toolset", ...CLAUDE_CLIENT_TOOLS],
  ],
  clients: CLAUDE_CLIENT_TOOLS,
  items: ["anthropic:*"],
  mark: "anthropic",
  runs: {
    web_search: CLAUDE_SEARCH,
    code_interpreter: { as: "code_execution_20250825", takes: [], shows: OUTPUTS },
  },
  // Programs are billed by the hour, and are free beside a search.
  prices: [
    { tool: "web_search", usdPerThousand: 10 },
    { tool: "web_fetch", usdPerThousand: 0 },
    { tool: "tool_search", usdPerThousand: 0 },
  ],
  unpriced: ["code_execution_2*", "advisor_2*"],
};

/** Excludes the generations that refuse functions beside their own tools. */
const MIXING_GEMINI = /^(?!(.*\/)?(gemini-[12]\b|gemma))/;

const GEMINI: NativeRow = {
  wire: "gemini",
  types: [
    ...["google_search", "googleSearch", "url_context", "urlContext"],
    ...["code_execution", "codeExecution", "google_maps", "googleMaps", "fileSearch"],
    ...["computerUse", "googleSearchRetrieval"],
  ],
  clients: ["computerUse"],
  items: [
    ...["google:executableCode", "google:codeExecutionResult", "google:toolCall"],
    ...["google:toolResponse", "google:inlineData"],
  ],
  mark: "google",
  runs: {
    web_search: {
      as: "google_search",
      takes: [],
      hints: ["search_context_size", "user_location"],
      mixing: MIXING_GEMINI,
      shows: SOURCES,
    },
    code_interpreter: { as: "code_execution", takes: [], mixing: MIXING_GEMINI, shows: OUTPUTS },
  },
  // Older generations are billed for each prompt, however often it searches. The free part is not known
  // here.
  prices: [
    { tool: "google_search", models: /^(.*\/)?gemini-[12]\b/, usdPerThousand: 35 },
    { tool: "google_search", usdPerThousand: 14 },
    { tool: "code_execution", usdPerThousand: 0 },
  ],
  unpriced: ["google_maps", "googleMaps", "googleSearchRetrieval"],
  stores: ["fileSearch"],
};

const XAI_CALLS = ["web_search", "x_search", "code_interpreter", "code_execution"];

export const NATIVE_TOOLS: Readonly<Partial<Record<VendorName, NativeRow>>> = {
  openai: {
    wire: "openai-responses",
    types: OPENAI_TOOLS,
    clients: [
      ...["custom", "computer", "computer_use_preview", "local_shell", "apply_patch"],
      ...["namespace", "tool_search", "programmatic_tool_calling"],
    ],
    items: OPENAI_ITEMS,
    runs: {},
    prices: [{ tool: "web_search", usdPerThousand: 10 }],
    // Pictures are billed by tokens of their own, which the answer's usage does not count.
    unpriced: ["image_generation"],
  },
  anthropic: CLAUDE,
  // The price of calls there is not known.
  claudeaws: { ...CLAUDE, prices: [] },
  vertexai: {
    ...CLAUDE,
    wire: "vertexai-anthropic",
    types: ["web_search_2*", "tool_search_tool_*", ...CLAUDE_CLIENT_TOOLS],
    runs: { web_search: CLAUDE_SEARCH },
  },
  gemini: GEMINI,
  vertex: {
    ...GEMINI,
    wire: "vertexai-gemini",
    types: [
      ...GEMINI.types.filter((type) => type !== "fileSearch"),
      ...["enterpriseWebSearch", "retrieval"],
    ],
    // The prices of Vertex AI differ from those of AI Studio.
    prices: [],
    unpriced: ["*"],
    stores: ["retrieval"],
  },
  bedrock: {
    wire: "bedrock",
    types: ["nova_grounding", "nova_code_interpreter"],
    clients: [],
    items: ["bedrock:*"],
    mark: "bedrock",
    // Grounding exists only in regions of the United States.
    runs: {
      web_search: {
        as: "nova_grounding",
        takes: [],
        hints: ["search_context_size", "user_location"],
        models: /^us\.amazon\.nova-(2|premier)/,
        shows: SOURCES,
      },
    },
    prices: [],
    unpriced: ["*"],
  },
  groq: {
    wire: "openai-chat",
    types: ["browser_search"],
    clients: [],
    items: [],
    runs: {
      web_search: {
        as: "browser_search",
        takes: [],
        hints: ["search_context_size", "user_location"],
        models: /gpt-oss/,
        mixing: /^(?!)/,
        shows: SOURCES,
      },
      code_interpreter: {
        as: "code_interpreter",
        takes: [],
        models: /gpt-oss/,
        mixing: /^(?!)/,
        shows: OUTPUTS,
      },
    },
    prices: [],
    unpriced: ["*"],
  },
  openrouter: {
    wire: "openai-chat",
    types: ["openrouter:*"],
    clients: [],
    items: [],
    runs: {},
    prices: [],
    unpriced: ["*"],
  },
  xai: {
    wire: "openai-responses",
    types: ["x_search", "code_execution", "collections_search"],
    clients: [],
    items: [
      ...["web_search_call", "x_search_call", "code_interpreter_call", "code_execution_call"],
      ...["collections_search_call", "xai:*"],
    ],
    mark: "xai",
    runs: {
      web_search: {
        as: "web_search",
        takes: ["filters"],
        shows: SOURCES,
        hints: ["search_context_size", "user_location"],
      },
      code_interpreter: { as: "code_interpreter", takes: [], shows: OUTPUTS },
    },
    prices: [
      ...XAI_CALLS.map((tool) => ({ tool, usdPerThousand: 5 })),
      { tool: "collections_search", usdPerThousand: 2.5 },
      { tool: "file_search", usdPerThousand: 2.5 },
      { tool: "mcp", usdPerThousand: 0 },
    ],
    unpriced: [],
    stores: ["collections_search"],
  },
};

const MARKS = [...new Set(Object.values(NATIVE_TOOLS).flatMap(({ mark }) => mark ?? []))];

/** True if an item is in the form of another vendor than the one with this mark. */
export function isOthers(item: object, mark: string | undefined): boolean {
  return MARKS.some((other) => other !== mark && Object.hasOwn(item, other));
}

/** The fields without what a vendor wants back. */
export function withoutMark(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !MARKS.includes(name)));
}

/** True if a type is in a list, whose entries may end in `*`. */
export function isListed(type: string, list: readonly string[]): boolean {
  return list.some((entry) =>
    entry.endsWith("*") ? type.startsWith(entry.slice(0, -1)) : entry === type,
  );
}

/** The kind of the Responses API that a type means, in any of its spellings. */
export function runKindOf(type: string): RunKind | undefined {
  if (type === "code_interpreter") return type;
  return /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/.test(type) ? "web_search" : undefined;
}

/**
 * A tool under the vendor's own type and with the fields that it takes, for an API that is shared with
 * other vendors. Undefined if it is not one of the vendor's tools.
 */
export function toOwnTool(row: NativeRow, tool: { readonly type: string }): JsonObject | undefined {
  const kind = runKindOf(tool.type);
  const run = kind && row.runs[kind];
  const given = asJsonObject(tool);
  if (!run) return isListed(tool.type, row.types) ? given : undefined;
  const fields = run.takes.flatMap((name) => (given[name] ? [[name, given[name]]] : []));
  return { type: run.as, ...Object.fromEntries(fields) };
}

/** US dollars for the calls of an answer; undefined if a price is not known. */
export function nativeCostOf(
  { vendor, name }: { readonly vendor: string; readonly name: string },
  calls: Readonly<Record<string, number>> | undefined,
): number | undefined {
  if (!calls) return 0;
  let sum = 0;
  for (const [tool, count] of Object.entries(calls)) {
    const price = findNativePrice(vendor, name, tool);
    if (price === undefined) return undefined;
    sum += (count * price) / 1000;
  }
  return sum;
}

/** US dollars for a thousand calls of a tool, by its name in the usage. */
function findNativePrice(vendor: string, model: string, tool: string): number | undefined {
  const { prices = [] } = nativeRowOf(vendor) ?? {};
  const fits = (price: NativePrice): boolean =>
    price.tool === tool && (price.models?.test(model) ?? true);
  return prices.find(fits)?.usdPerThousand;
}

/** The row of a vendor, unless another of its APIs is used. */
export function nativeRowOf(vendor: string, wire?: string): NativeRow | undefined {
  const row = Object.hasOwn(NATIVE_TOOLS, vendor) ? NATIVE_TOOLS[vendor as VendorName] : undefined;
  return wire === undefined || row?.wire === wire ? row : undefined;
}
