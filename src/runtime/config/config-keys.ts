/**
 * Every setting, one row each: its type and range, its default, the flag of `run` that sets it, and
 * whether a project's file may set it without trust. Docs, checks and TypeScript types are made
 * from this table.
 */

import { COMPACT_MODES, THINKING_EFFORTS } from "../../agent/task.ts";
import type { JsonObject } from "../../base/json.ts";
import { MODEL_RETRY } from "../../base/retry.ts";
import { ENGINES } from "../../engine/engines.ts";
import { KEY_STORES } from "../auth/key-store-names.ts";
import type { ConfigRow } from "./config-row.ts";
import { SERVER_KEYS } from "./config-server-keys.ts";
import { SAFETY_KEYS, SUBAGENT_KEYS, TOOL_KEYS } from "./config-tool-keys.ts";

/** A day: a server that is still silent then will not answer. */
const MAX_WAIT_MS = 86_400_000;

export const CONFIG_KEYS = {
  model: {
    type: "string",
    flag: "model",
    guarded: true,
    summary: "The model to ask, as vendor/model",
  },
  provider: {
    type: "string",
    flag: "provider",
    guarded: true,
    summary: "The API to use, if it is not the vendor's own",
  },
  url: {
    type: "string",
    flag: "url",
    guarded: true,
    summary: "The server's base URL, if it is not the vendor's",
  },
  api_key_name: {
    type: "string",
    form: "variable",
    flag: "api-key-name",
    guarded: true,
    summary: "The environment variable that holds the key",
  },
  key_store: {
    type: "enum",
    values: KEY_STORES,
    default: "auto",
    guarded: true,
    summary:
      "Where `offshoot auth set` puts a key: `keyring` (the system's), `file` (mode 600), or `auto`: the keyring if one answers, else a file",
  },
  system: { type: "string", flag: "system", guarded: true, summary: "Instructions for the model" },
  system_file: {
    type: "string",
    form: "path",
    flag: "system-file",
    guarded: true,
    summary: "A file that replaces the base prompt ([sessions.md](sessions.md))",
  },
  bare: {
    type: "boolean",
    default: false,
    flag: "bare",
    guarded: true,
    summary: "Send the model only `system`: no base prompt, AGENTS.md or skills",
  },
  project_notes: {
    type: "boolean",
    default: true,
    flag: "no-project-notes",
    guarded: true,
    summary: "Send the model AGENTS.md, or CLAUDE.md if there is no AGENTS.md",
  },
  skills: {
    type: "boolean",
    default: true,
    flag: "no-skills",
    guarded: true,
    summary: "Offer the skills of the user and of the project ([skills.md](skills.md))",
  },
  tools: {
    type: "list",
    flag: "tools",
    narrows: true,
    summary: "Tools it may use, `native:TYPE` for the vendor's own; `none` for none",
  },
  ...SAFETY_KEYS,
  ...SUBAGENT_KEYS,
  ...TOOL_KEYS,
  think: {
    type: "boolean",
    default: false,
    flag: "think",
    guarded: true,
    summary: "Ask the model to reason",
  },
  effort: {
    type: "enum",
    values: THINKING_EFFORTS,
    flag: "effort",
    guarded: true,
    summary:
      "Reasoning effort. Setting it turns reasoning on; `high` with `think` alone. A model that knows fewer levels takes the nearest one",
  },
  temperature: {
    type: "number",
    min: 0,
    max: 2,
    flag: "temperature",
    summary: "Sampling temperature: higher values give more varied answers",
  },
  max_tokens: {
    type: "integer",
    min: 1,
    flag: "max-tokens",
    narrows: true,
    summary: "Maximum tokens of one answer",
  },
  max_turns: {
    type: "integer",
    min: 1,
    max: 1000,
    default: 50,
    flag: "max-turns",
    narrows: true,
    summary: "Maximum model calls of a run",
  },
  compact: {
    type: "enum",
    values: COMPACT_MODES,
    default: "auto",
    flag: "compact",
    guarded: true,
    summary:
      "What to do when a conversation nears the model's window: `auto` continues with a summary of it, `off` ends the run ([long-runs.md](long-runs.md))",
  },
  timeout: {
    type: "number",
    min: 0.1,
    max: 604_800,
    flag: "timeout",
    narrows: true,
    summary: "Time limit of a run, in seconds",
  },
  output: {
    type: "enum",
    guarded: true,
    values: ["text", "json", "jsonl", "sse"],
    default: "text",
    flag: "output",
    summary: "The form of standard output",
  },
  output_mode: {
    type: "enum",
    guarded: true,
    values: ["text", "json_object", "json_schema"],
    summary: "Form of an answer: text, a JSON object, or JSON that fits `output_schema`",
  },
  output_schema: {
    type: "string",
    form: "path",
    guarded: true,
    summary: "A file with the JSON schema that an answer must fit, like `--schema`",
  },
  done_marker: {
    type: "boolean",
    default: false,
    flag: "done-marker",
    guarded: true,
    summary: "End the text form with `=== [ DONE ] ===`",
  },
  brief: {
    type: "boolean",
    default: false,
    flag: "brief",
    guarded: true,
    summary: "Hide tool calls and their results",
  },
  quiet: {
    type: "boolean",
    default: false,
    flag: "quiet",
    guarded: true,
    summary: "Write only errors to standard error, and the model if it was chosen automatically",
  },
  store: {
    type: "record",
    default: true,
    flag: "no-store",
    textFlag: "store",
    guarded: true,
    summary:
      "Where runs are recorded: `true` for the file of `store_path`, `false` for no record, a file, or a Postgres database ([scaling.md](scaling.md))",
  },
  engine: {
    type: "enum",
    values: ENGINES,
    default: "own",
    flag: "engine",
    guarded: true,
    summary:
      "The engine of a Postgres record: `own`, or `dbos` for DBOS Transact ([scaling.md](scaling.md#dbos-as-the-engine))",
  },
  store_path: {
    type: "string",
    form: "path",
    guarded: true,
    summary: "The file of the record of runs, if it is not the data folder's `runs.db`",
  },
  connect_timeout_ms: {
    type: "integer",
    min: 1,
    max: MAX_WAIT_MS,
    default: 10_000,
    narrows: true,
    summary: "Time limit for connecting to a model's server",
  },
  first_byte_timeout_ms: {
    type: "integer",
    min: 1,
    max: MAX_WAIT_MS,
    default: 120_000,
    narrows: true,
    summary: "Time limit until an answer begins; 600000 for a server on this machine",
  },
  idle_timeout_ms: {
    type: "integer",
    min: 1,
    max: MAX_WAIT_MS,
    default: 120_000,
    narrows: true,
    summary: "The longest silence in the middle of an answer; 300000 for a server on this machine",
  },
  max_answer_bytes: {
    type: "integer",
    min: 1024,
    max: 1024 * 1024 * 1024,
    default: 32 * 1024 * 1024,
    narrows: true,
    summary: "Maximum bytes of one answer of a model; a larger one fails and keeps its beginning",
  },
  max_retries: {
    type: "integer",
    min: 0,
    max: 20,
    default: MODEL_RETRY.attempts - 1,
    narrows: true,
    summary: "Retries of a failed request; 6 of them take 16 seconds on average, 32 at most",
  },
  continuation: {
    type: "enum",
    values: ["auto", "chain", "replay"],
    default: "auto",
    guarded: true,
    summary:
      "How the next turn is sent: `chain` sends the id of the last answer, `replay` the whole conversation",
  },
  ollama_keep_alive: {
    type: "string",
    guarded: true,
    summary: "How long Ollama keeps the model in memory after an answer: `10m`, `0`, `-1` for ever",
  },
  ollama_num_ctx: {
    type: "integer",
    guarded: true,
    min: 1,
    summary:
      "Size of the context with which Ollama loads the model; Ollama's default is a few thousand tokens",
  },
  models: {
    type: "map",
    guarded: true,
    summary:
      "Facts that replace those of the model table, and what to send to a model, by vendor/model",
  },
  aliases: {
    type: "map",
    guarded: true,
    joined: true,
    summary: "Short names of models, for use with `-m`: `fast: openai/gpt-5.1-mini`",
  },
  vendors: {
    type: "map",
    guarded: true,
    joined: true,
    summary:
      "Vendors of your own: `gpu1: {url, provider, like, api_key_name, auth, headers, options, models}` ([providers.md](providers.md#vendors-of-your-own))",
  },
  options: {
    type: "map",
    flag: "options",
    guarded: true,
    summary: "Vendor-specific fields, added to the body of each request, such as `top_k`",
  },
  probe_local: {
    type: "boolean",
    default: true,
    guarded: true,
    summary: "Look for a model server on this machine when no model was chosen and no key is set",
  },
  ...SERVER_KEYS,
} as const satisfies Readonly<Record<string, ConfigRow>>;

export type ConfigName = keyof typeof CONFIG_KEYS;

/** The value of a setting; undefined only if its row has no default. */
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
  readonly record: boolean | string;
  readonly list: readonly string[];
  readonly map: JsonObject;
}

export const CONFIG_NAMES = Object.keys(CONFIG_KEYS) as readonly ConfigName[];

export function isConfigName(name: string): name is ConfigName {
  return Object.hasOwn(CONFIG_KEYS, name);
}

/** The row as its interface: `CONFIG_KEYS[name]` has the type of the literal row. */
export function rowOf(name: ConfigName): ConfigRow {
  return CONFIG_KEYS[name];
}

/** `max_turns` is `OFFSHOOT_MAX_TURNS`. */
export function variableOf(name: ConfigName): string {
  return `OFFSHOOT_${name.toUpperCase().replaceAll(".", "_")}`;
}
