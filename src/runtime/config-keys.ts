/**
 * Every setting, one row each: its type and range, its default, the flag of `run` that sets it, and
 * whether a project's file may set it unasked. Docs, checks and TypeScript types are made from here.
 */

import type { JsonObject } from "../base/json.ts";

export type ConfigRow = {
  readonly summary: string;
  /** The flag of `offshoot run` that sets it; one that begins with `no-` switches it off. */
  readonly flag?: string;
  /** A project's file may set it only when trusted: it decides where data, money or leave goes. */
  readonly guarded?: true;
  /** Every layer adds to it, where of other settings the last layer wins. */
  readonly joined?: true;
} & (
  | { readonly type: "string"; readonly form?: "path" | "variable"; readonly default?: string }
  | ({ readonly type: "number" | "integer"; readonly default?: number } & Range)
  | { readonly type: "boolean"; readonly default?: boolean }
  | { readonly type: "list"; readonly form?: "rules"; readonly default?: readonly string[] }
  | { readonly type: "enum"; readonly values: readonly string[]; readonly default?: string }
  | { readonly type: "map"; readonly default?: JsonObject }
);

export interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** A day: nothing that is still silent then will answer. */
const MAX_WAIT_MS = 86_400_000;

export const CONFIG_KEYS = {
  model: { type: "string", flag: "model", summary: "The model to ask, as vendor/model" },
  provider: {
    type: "string",
    flag: "provider",
    guarded: true,
    summary: "The API to speak, in place of the vendor's own",
  },
  url: {
    type: "string",
    flag: "url",
    guarded: true,
    summary: "The server's base URL, in place of the vendor's",
  },
  api_key_name: {
    type: "string",
    form: "variable",
    flag: "api-key-name",
    guarded: true,
    summary: "The environment variable that holds the key",
  },
  system: { type: "string", flag: "system", summary: "Instructions for the model" },
  tools: { type: "list", flag: "tools", summary: "Tools it may use; `none` for none" },
  approve: {
    type: "enum",
    values: ["ask", "auto", "deny"],
    default: "ask",
    flag: "approve",
    guarded: true,
    summary: "What is done about tool calls that are to be asked about",
  },
  allow: {
    type: "list",
    form: "rules",
    default: [],
    flag: "allow",
    guarded: true,
    joined: true,
    summary: "Rules for tool calls that need no question: `shell(git *)`, `write(docs/**)`",
  },
  ask: {
    type: "list",
    form: "rules",
    default: [],
    flag: "ask",
    joined: true,
    summary: "Rules for tool calls that are asked about, whatever allows them",
  },
  deny: {
    type: "list",
    form: "rules",
    default: [],
    flag: "deny",
    joined: true,
    summary: "Rules for tool calls that are refused: `command(rm *)`, `path(secrets/**)`",
  },
  sandbox: {
    type: "enum",
    values: ["none", "process", "sandbox"],
    default: "process",
    flag: "sandbox",
    guarded: true,
    summary: "What holds the commands that tools run",
  },
  sandbox_network: {
    type: "boolean",
    default: false,
    guarded: true,
    summary: "Whether commands in the sandbox reach the network",
  },
  command_env: {
    type: "list",
    default: [],
    guarded: true,
    summary: "Variables that commands get beside PATH, LANG and the like",
  },
  max_tool_calls: {
    type: "integer",
    min: 0,
    flag: "max-tool-calls",
    summary: "Most tool calls of a run",
  },
  tool_timeout: {
    type: "number",
    min: 0.1,
    max: 86_400,
    default: 120,
    summary: "Most seconds of a tool call, where the tool has no limit of its own",
  },
  tool_output_limit: {
    type: "integer",
    min: 1000,
    default: 200_000,
    summary: "Most characters of a tool's result",
  },
  hard_links: {
    type: "boolean",
    default: false,
    guarded: true,
    summary: "Let tools read files that have a second name, which may lie outside the workspace",
  },
  max_cost: {
    type: "number",
    min: 0,
    flag: "max-cost",
    summary: "Most US dollars of a run and all its subagents",
  },
  "agent.subagent.max_depth": {
    type: "integer",
    min: 1,
    max: 10,
    default: 3,
    summary: "How deep subagents may nest",
  },
  "agent.subagent.default_max_turns": {
    type: "integer",
    min: 1,
    max: 100,
    default: 10,
    summary: "Most model calls of a subagent whose call names no `max_turns`",
  },
  "agent.subagent.output_max_size": {
    type: "integer",
    min: 1024,
    default: 4096,
    summary: "Most bytes of a subagent's output that its parent's model is told",
  },
  "agent.subagent.telemetry_enabled": {
    type: "boolean",
    default: true,
    summary: "Whether what happens to subagents is logged (`OFFSHOOT_LOG`) and traced",
  },
  "agent.subagent.persistence_enabled": {
    type: "boolean",
    default: false,
    summary: "Whether subagents' conversations are written to the data folder, failed ones too",
  },
  "agent.subagent.max_executions": {
    type: "integer",
    min: 0,
    summary: "Most subagents of a run, at any depth",
  },
  "agent.subagent.max_total_tokens": {
    type: "integer",
    min: 1,
    flag: "max-total-tokens",
    summary: "Most tokens of a run and all its subagents",
  },
  "agent.subagent.max_total_time": {
    type: "number",
    min: 1,
    max: 604_800,
    summary: "Most seconds of a run and all its subagents",
  },
  "agent.subagent.executor": {
    type: "enum",
    values: ["in_process", "child_process"],
    default: "in_process",
    summary: "Where subagents run",
  },
  "agent.subagent.timeout": {
    type: "number",
    min: 1,
    max: 604_800,
    default: 1800,
    summary: "Most seconds of a subagent",
  },
  own_tools: {
    type: "map",
    guarded: true,
    joined: true,
    summary: "Programs as tools, by name: command, description, parameters",
  },
  mcp_servers: {
    type: "map",
    guarded: true,
    joined: true,
    summary: "MCP servers, by name: command and args, or url; see `offshoot mcp add`",
  },
  python: {
    type: "enum",
    values: ["wasm", "host"],
    default: "wasm",
    guarded: true,
    summary: "Where `python_execute` runs: in WebAssembly, or the machine's python3 in the sandbox",
  },
  python_wheels: {
    type: "string",
    form: "path",
    guarded: true,
    summary: "A folder with wheels for the WebAssembly Python",
  },
  python_index: {
    type: "string",
    guarded: true,
    summary: "A copy of Pyodide's distribution with its packages: a folder or a URL",
  },
  python_mounts: {
    type: "list",
    default: [],
    guarded: true,
    summary: "Files and folders of the workspace that Python gets copies of",
  },
  search_provider: {
    type: "enum",
    values: ["brave", "tavily", "searxng", "exa", "google", "duckduckgo"],
    guarded: true,
    summary: "Who searches the web; else the first whose key is set, else one without a key",
  },
  search_url: {
    type: "string",
    guarded: true,
    summary: "The address of your own SearXNG",
  },
  web_private_hosts: {
    type: "list",
    default: [],
    guarded: true,
    summary: "Hosts that web tools may reach although their addresses are private",
  },
  web_robots: {
    type: "boolean",
    default: true,
    guarded: true,
    summary: "Whether web tools obey robots.txt",
  },
  web_proxy: {
    type: "boolean",
    default: false,
    guarded: true,
    summary:
      "Whether web tools go through the proxy of the environment, which resolves names itself",
  },
  think: { type: "boolean", default: false, flag: "think", summary: "Ask the model to reason" },
  temperature: {
    type: "number",
    min: 0,
    max: 2,
    flag: "temperature",
    summary: "How far the model may stray from its likeliest words",
  },
  max_tokens: {
    type: "integer",
    min: 1,
    flag: "max-tokens",
    summary: "Most tokens of one answer",
  },
  max_turns: {
    type: "integer",
    min: 1,
    max: 1000,
    default: 50,
    flag: "max-turns",
    summary: "Most model calls of a run",
  },
  timeout: {
    type: "number",
    min: 0.1,
    max: 604_800,
    flag: "timeout",
    summary: "Most seconds of a run",
  },
  output: {
    type: "enum",
    values: ["text", "json", "jsonl", "sse"],
    default: "text",
    flag: "output",
    summary: "The form of standard output",
  },
  brief: {
    type: "boolean",
    default: false,
    flag: "brief",
    summary: "Hide tool calls and their results",
  },
  quiet: {
    type: "boolean",
    default: false,
    flag: "quiet",
    summary: "Nothing on standard error but errors",
  },
  store: { type: "boolean", default: true, flag: "no-store", summary: "Keep a record of runs" },
  store_path: {
    type: "string",
    form: "path",
    guarded: true,
    summary: "The file that keeps the record of runs, in place of the data folder's `runs.db`",
  },
  connect_timeout_ms: {
    type: "integer",
    min: 1,
    max: MAX_WAIT_MS,
    default: 10_000,
    summary: "Most time to reach a model's server",
  },
  first_byte_timeout_ms: {
    type: "integer",
    min: 1,
    max: MAX_WAIT_MS,
    default: 300_000,
    summary: "Most time until its answer begins",
  },
  idle_timeout_ms: {
    type: "integer",
    min: 1,
    max: MAX_WAIT_MS,
    default: 300_000,
    summary: "Most silence in the middle of an answer",
  },
  max_retries: {
    type: "integer",
    min: 0,
    max: 20,
    default: 3,
    summary: "How often a request that failed is sent again",
  },
  continuation: {
    type: "enum",
    values: ["auto", "chain", "replay"],
    default: "auto",
    summary: "How the next turn is sent: by the last answer's id, or as the whole conversation",
  },
  ollama_keep_alive: {
    type: "string",
    summary:
      "How long Ollama keeps the model in memory behind an answer: `10m`, `0`, `-1` for ever",
  },
  ollama_num_ctx: {
    type: "integer",
    min: 1,
    summary: "The context Ollama loads the model with; its own default is a few thousand tokens",
  },
  models: {
    type: "map",
    guarded: true,
    summary: "What to believe of a model in place of the model table, by vendor/model",
  },
  probe_local: {
    type: "boolean",
    default: true,
    summary: "Look for a model server on this machine when no model was chosen and no key is set",
  },
} as const satisfies Readonly<Record<string, ConfigRow>>;

export type ConfigName = keyof typeof CONFIG_KEYS;

/** What a setting holds; undefined only where its row has no default. */
export type ConfigValue<Name extends ConfigName> = (typeof CONFIG_KEYS)[Name] extends {
  readonly default: unknown;
}
  ? ValueOf<(typeof CONFIG_KEYS)[Name]>
  : ValueOf<(typeof CONFIG_KEYS)[Name]> | undefined;

type ValueOf<Row> = Row extends { readonly type: "enum"; readonly values: readonly (infer Word)[] }
  ? Word
  : Row extends { readonly type: infer Type extends keyof Types }
    ? Types[Type]
    : never;

interface Types {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly list: readonly string[];
  readonly map: JsonObject;
}

export const CONFIG_NAMES = Object.keys(CONFIG_KEYS) as readonly ConfigName[];

export function isConfigName(name: string): name is ConfigName {
  return Object.hasOwn(CONFIG_KEYS, name);
}

/** The row as its interface: `CONFIG_KEYS[name]` is typed by the literal row. */
export function rowOf(name: ConfigName): ConfigRow {
  return CONFIG_KEYS[name];
}

/** `max_turns` is `OFFSHOOT_MAX_TURNS`. */
export function variableOf(name: ConfigName): string {
  return `OFFSHOOT_${name.toUpperCase().replaceAll(".", "_")}`;
}
