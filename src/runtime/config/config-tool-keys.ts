/** The settings of tools and of delegation; a part of `CONFIG_KEYS`. */

import { EXECUTORS } from "../../delegation/settings.ts";
import { UNDO_MODES } from "../../protocol/file-changes.ts";
import type { ConfigRow } from "./config-row.ts";

type Rows = Readonly<Record<string, ConfigRow>>;

/** Limits on what tools may do. */
export const SAFETY_KEYS = {
  approve: {
    type: "enum",
    values: ["ask", "auto", "deny"],
    default: "ask",
    flag: "approve",
    guarded: true,
    summary: "What happens to tool calls that need approval",
  },
  approval_wait: {
    type: "number",
    min: 1,
    max: 604_800,
    flag: "approval-wait",
    guarded: true,
    summary:
      "How many seconds an approval question waits for an answer, also from another terminal (`runs approve`). If not set, it is denied at once without a terminal, and after a day with one",
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
    summary: "Rules for tool calls that need approval, even if another rule allows them",
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
    summary: "How the commands of tools are isolated",
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
    summary: "Environment variables that commands get in addition to PATH, LANG and similar ones",
  },
  git_hooks: {
    type: "boolean",
    default: false,
    guarded: true,
    summary: "Let git commands of tools run hooks, and reach repositories by path",
  },
  max_tool_calls: {
    type: "integer",
    min: 0,
    flag: "max-tool-calls",
    narrows: true,
    summary: "Maximum tool calls of a run",
  },
  max_parallel_calls: {
    type: "integer",
    min: 1,
    max: 1000,
    default: 8,
    flag: "max-parallel-calls",
    narrows: true,
    summary:
      "Maximum tool calls of one turn that run at once; calls that wait for subagents are not counted",
  },
  tool_timeout: {
    type: "number",
    min: 0.1,
    max: 86_400,
    default: 120,
    narrows: true,
    summary: "Time limit of a tool call, in seconds, if the tool has no limit of its own",
  },
  tool_output_limit: {
    type: "integer",
    min: 1000,
    default: 200_000,
    narrows: true,
    summary: "Maximum characters of a tool's result",
  },
  hooks: {
    type: "map",
    guarded: true,
    own: true,
    joined: true,
    summary:
      "Programs that run before and after tool calls and runs, by name: `on`, `match`, `command`, `timeout`, `on_error` ([hooks.md](hooks.md)). A project's file never sets it",
  },
  undo: {
    type: "enum",
    values: UNDO_MODES,
    default: "all",
    guarded: true,
    summary:
      "Which changes to files are kept for `offshoot undo`: `all`, `files` (of the tools for files, not of commands), `off` ([undo.md](undo.md))",
  },
  hard_links: {
    type: "boolean",
    default: false,
    guarded: true,
    summary: "Let tools read files that have a second name, which may lie outside the workspace",
  },
} as const satisfies Rows;

/** Limits on what trees of runs may do and spend. */
export const SUBAGENT_KEYS = {
  max_cost: {
    type: "number",
    min: 0,
    flag: "max-cost",
    narrows: true,
    summary: "Maximum cost of a run and all its subagents, in US dollars",
  },
  max_total_tokens: {
    type: "integer",
    min: 1,
    flag: "max-total-tokens",
    narrows: true,
    summary: "Maximum tokens of a run and all its subagents",
  },
  plan_threshold_usd: {
    type: "number",
    min: 0,
    narrows: true,
    summary: "Ask before delegation that may cost more US dollars than this",
  },
  "agent.subagent.max_depth": {
    type: "integer",
    min: 1,
    max: 10,
    default: 3,
    narrows: true,
    summary: "How deep subagents may nest",
  },
  "agent.subagent.default_max_turns": {
    type: "integer",
    min: 1,
    max: 50,
    default: 10,
    narrows: true,
    summary: "Maximum model calls of a subagent whose call sets no `max_turns`",
  },
  "agent.subagent.output_max_size": {
    type: "integer",
    min: 1024,
    default: 4096,
    narrows: true,
    summary: "Maximum bytes of a subagent's output that its parent's model gets",
  },
  "agent.subagent.telemetry_enabled": {
    type: "boolean",
    default: true,
    guarded: true,
    summary: "Log (`OFFSHOOT_LOG`) and trace what happens to subagents",
  },
  "agent.subagent.persistence_enabled": {
    type: "boolean",
    default: false,
    guarded: true,
    summary: "Write subagents' conversations to the data folder, failed ones too",
  },
  "agent.subagent.summary": {
    guarded: true,
    type: "enum",
    values: ["auto", "always", "never"],
    default: "auto",
    summary:
      "When a subagent is asked for its report in a turn of its own: if its call has a `summary_prompt`, `always`, `never`",
  },
  "agent.subagent.max_parallel": {
    type: "integer",
    min: 1,
    max: 1000,
    default: 100,
    narrows: true,
    summary: "Maximum subagents of one run that work at once; the others wait",
  },
  "agent.subagent.max_processes": {
    type: "integer",
    min: 1,
    max: 1000,
    narrows: true,
    summary:
      "Maximum child processes working at once in a tree. Default: computed from cores and free memory",
  },
  "agent.subagent.max_executions": {
    type: "integer",
    min: 0,
    narrows: true,
    summary: "Maximum subagents of a run, at any depth",
  },
  "agent.subagent.max_total_tokens": {
    type: "integer",
    min: 1,
    narrows: true,
    summary: "Maximum tokens of all subagents of a run together",
  },
  "agent.subagent.max_total_time": {
    type: "number",
    min: 1,
    max: 604_800,
    narrows: true,
    summary: "Total seconds in which at least one subagent of a run works",
  },
  "agent.subagent.executor": {
    guarded: true,
    type: "enum",
    values: EXECUTORS,
    default: "in_process",
    summary: "Where subagents run; `anywhere` is for servers that share a record",
  },
  "agent.subagent.timeout": {
    type: "number",
    min: 1,
    max: 604_800,
    default: 1800,
    narrows: true,
    summary: "Time limit of a subagent, in seconds",
  },
  "agent.subagent.ask_timeout": {
    type: "number",
    min: 1,
    max: 604_800,
    default: 300,
    narrows: true,
    summary:
      "How many seconds a subagent waits for its parent's answer; this time does not count against its own limit",
  },
} as const satisfies Rows;

export const TOOL_KEYS = {
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
    summary:
      "The web search service. Default: the first whose key is set, or one that needs no key",
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
    summary:
      "Hosts that web tools may reach although their addresses are private, and buckets whose files clients with a key may name",
  },
  web_robots: {
    type: "boolean",
    default: true,
    guarded: true,
    summary: "Let web tools obey robots.txt",
  },
  web_proxy: {
    type: "boolean",
    default: false,
    guarded: true,
    summary: "Let web tools use the proxy of the environment, which resolves names itself",
  },
} as const satisfies Rows;
