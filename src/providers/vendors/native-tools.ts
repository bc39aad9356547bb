/**
 * The tools that vendors run themselves, one row for each vendor that has any. Which tools of a request
 * go to the vendor, how they are spelled there, what they cost, and the table in docs/providers.md are
 * all read from here.
 */

import type { JsonObject } from "../../base/json.ts";
import type { WireName } from "../wires.ts";
import type { VendorName } from "./catalog.ts";

/** Kinds of the Responses API that this package runs itself where the vendor does not. */
export type RunKind = "web_search" | "code_interpreter";

export interface NativeRun {
  /** The type of the vendor's own tool that stands for the kind. */
  readonly as: string;
  /** Fields of the request's entry that the vendor's tool has. An entry with any other is not the vendor's. */
  readonly takes: readonly string[];
  /** Fields that are only advice: left out, and named. */
  readonly hints?: readonly string[];
  /** The models that have it; all of the vendor's where it is left out. */
  readonly models?: RegExp;
  /** The models that run it beside functions; all of them where it is left out. */
  readonly mixing?: RegExp;
  /** Values of `include` that the vendor's answer can fill. */
  readonly shows: readonly string[];
}

/** The price of calls, where it is published. The first row that fits counts. */
export interface NativePrice {
  /** As `Usage.native_calls` names it. */
  readonly tool: string;
  readonly models?: RegExp;
  readonly usdPerThousand: number;
}

export interface NativeRow {
  /** The API of the vendor that has them. */
  readonly wire: WireName;
  /** Types of tools that go to it as they stand. A `*` at the end stands for the rest of a name. */
  readonly types: readonly string[];
  /** Those of them whose calls the client of the model makes. */
  readonly clients: readonly string[];
  /** Types of items that it alone reads, in the same form. They go back to it as they came. */
  readonly items: readonly string[];
  /** The field of an item of a published kind that holds what the vendor wants back of it. */
  readonly mark?: string;
  readonly runs: Readonly<Partial<Record<RunKind, NativeRun>>>;
  readonly prices: readonly NativePrice[];
  /** Types of tools whose price nobody publishes, or that are billed by the hour. In the form of `types`. */
  readonly unpriced: readonly string[];
  /** Types of tools that read what the account keeps with the vendor, whoever asks. In the form of `types`. */
  readonly stores?: readonly string[];
}

/** What OpenAI runs itself, or hands to clients in words of its own. Files and containers are kept here. */
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
  // Programs are billed by the hour, and not at all beside a search.
  prices: [
    { tool: "web_search", usdPerThousand: 10 },
    { tool: "web_fetch", usdPerThousand: 0 },
    { tool: "tool_search", usdPerThousand: 0 },
  ],
  unpriced: ["code_execution_2*", "advisor_2*"],
};

/** The generations that refuse functions beside tools of their own. */
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
      ...{ as: "google_search", takes: [], hints: ["search_context_size", "user_location"] },
      ...{ mixing: MIXING_GEMINI, shows: SOURCES },
    },
    code_interpreter: { as: "code_execution", takes: [], mixing: MIXING_GEMINI, shows: OUTPUTS },
  },
  // Older generations are billed for a prompt, however often it searches. What is free of it is not known here.
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
  // What calls cost there is not known.
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
    // Its prices differ from those of AI Studio.
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
    // Grounding is there in regions of the United States alone.
    runs: {
      web_search: {
        ...{ as: "nova_grounding", takes: [], hints: ["search_context_size", "user_location"] },
        ...{ models: /^us\.amazon\.nova-(2|premier)/, shows: SOURCES },
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
        ...{ as: "browser_search", takes: [], hints: ["search_context_size", "user_location"] },
        ...{ models: /gpt-oss/, mixing: /^(?!)/, shows: SOURCES },
      },
      code_interpreter: {
        ...{ as: "code_interpreter", takes: [], models: /gpt-oss/, mixing: /^(?!)/ },
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
        ...{ as: "web_search", takes: ["filters"], shows: SOURCES },
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

/** Whether an item holds the words of another vendor than the one with this mark. */
export function isOthers(item: object, mark: string | undefined): boolean {
  return MARKS.some((other) => other !== mark && Object.hasOwn(item, other));
}

/** The fields without what a vendor wants back. */
export function withoutMark(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !MARKS.includes(name)));
}

/** Whether a type is one of a list, whose entries may end in `*`. */
export function isListed(type: string, list: readonly string[]): boolean {
  return list.some((entry) =>
    entry.endsWith("*") ? type.startsWith(entry.slice(0, -1)) : entry === type,
  );
}

/** The kind of the Responses API that a type spells, in whichever of its spellings. */
export function runKindOf(type: string): RunKind | undefined {
  if (type === "code_interpreter") return type;
  return /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/.test(type) ? "web_search" : undefined;
}

/**
 * A tool in the vendor's own words, where its API is shared with others: under the vendor's type and with
 * the fields that it takes. Undefined for a tool that is none of the vendor's.
 */
export function toOwnTool(row: NativeRow, tool: { readonly type: string }): JsonObject | undefined {
  const kind = runKindOf(tool.type);
  const run = kind && row.runs[kind];
  const given = tool as unknown as JsonObject;
  if (!run) return isListed(tool.type, row.types) ? given : undefined;
  const fields = run.takes.flatMap((name) => (given[name] ? [[name, given[name]]] : []));
  return { type: run.as, ...Object.fromEntries(fields) };
}

/** US dollars for the calls of an answer; undefined where a price is not known. */
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

/** US dollars for a thousand calls of a tool, as usage names it. */
function findNativePrice(vendor: string, model: string, tool: string): number | undefined {
  const { prices = [] } = nativeRowOf(vendor) ?? {};
  const fits = (price: NativePrice): boolean =>
    price.tool === tool && (price.models?.test(model) ?? true);
  return prices.find(fits)?.usdPerThousand;
}

/** The row of a vendor, unless it is spoken to over another API. */
export function nativeRowOf(vendor: string, wire?: string): NativeRow | undefined {
  const row = Object.hasOwn(NATIVE_TOOLS, vendor) ? NATIVE_TOOLS[vendor as VendorName] : undefined;
  return wire === undefined || row?.wire === wire ? row : undefined;
}
