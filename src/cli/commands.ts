/** Every command and flag, as data; most rows are in files by what they manage (`server-commands.ts`). The code of a command is loaded when it is called. */

import { PAYLOAD_FIELDS } from "../delegation/runner/payload-fields.ts";
import { CHAT_COMMAND } from "./chat-command.ts";
import type { CliCommand } from "./command.ts";
import {
  AGENTS_COMMAND,
  SKILLS_COMMAND,
  TEMPLATE_OPTIONS,
  TEMPLATES_COMMAND,
} from "./file-commands.ts";
import { AUDIT_COMMAND, KEYS_COMMAND } from "./key-commands.ts";
import { AUTH_COMMAND, MODELS_COMMAND, SETUP_COMMAND } from "./model-commands.ts";
import { MODEL_OPTIONS } from "./model-options.ts";
import { ACP_COMMAND, MCP_COMMAND } from "./protocol-commands.ts";
import { SESSIONS_COMMAND, STORE_COMMAND, UNDO_COMMAND } from "./record-commands.ts";
import { RUNS_COMMAND } from "./runs-command.ts";
import { SERVE_COMMAND, UI_COMMAND, WEBHOOKS_COMMAND, WORKER_COMMAND } from "./server-commands.ts";
import { PROMPT_OPTIONS, SESSION_OPTIONS } from "./session-options.ts";
import { ENGINE_OPTION, STORE_OPTION } from "./store-option.ts";
import { APPROVE_OPTION, RULE_OPTIONS } from "./tool-options.ts";

export const COMMANDS: Readonly<Record<string, CliCommand>> = {
  run: {
    summary: "Run one prompt through an agent and print its answer",
    usage: "[PROMPT]",
    options: {
      agent: {
        type: "string",
        value: "AGENT",
        complete: "agents",
        summary: "Run this agent's file; flags win over what it says",
      },
      ...MODEL_OPTIONS,
      system: {
        type: "string",
        short: "s",
        value: "TEXT",
        summary: "Instructions for the model, or @FILE",
      },
      ...TEMPLATE_OPTIONS,
      ...PROMPT_OPTIONS,
      ...SESSION_OPTIONS,
      tools: {
        type: "string",
        value: "LIST",
        summary: "Tools it may use; `native:TYPE` for the vendor's own, `none` for none",
      },
      ...APPROVE_OPTION,
      "approval-wait": {
        type: "string",
        value: "SECONDS",
        summary: "How long a question waits, for `runs approve` too (a day)",
      },
      ...RULE_OPTIONS,
      "max-cost": { type: "string", value: "USD", summary: "Limit in dollars, subagents included" },
      "max-total-tokens": {
        type: "string",
        value: "N",
        summary: "Limit in tokens, subagents included",
      },
      "max-tool-calls": { type: "string", value: "N", summary: "Limit on tool calls of the run" },
      "max-parallel-calls": {
        type: "string",
        value: "N",
        summary: "Limit on tool calls at the same time (8)",
      },
      think: { type: "boolean", summary: "Ask the model to reason, and show it" },
      effort: {
        type: "string",
        value: "LEVEL",
        choices: ["minimal", "low", "medium", "high", "xhigh", "max"],
        summary: "Reasoning effort (high)",
      },
      temperature: { type: "string", value: "N", summary: "0 to 2" },
      options: { type: "string", value: "JSON", summary: "Vendor-specific fields: `top_k`" },
      "max-tokens": {
        type: "string",
        value: "N",
        summary: "Limit on tokens of one answer; for the run: --max-total-tokens",
      },
      "max-turns": { type: "string", value: "N", summary: "Limit on model calls of the run (50)" },
      compact: {
        type: "string",
        value: "MODE",
        choices: ["auto", "off"],
        summary: "Summarise a conversation that is too long (auto)",
      },
      timeout: { type: "string", value: "SECONDS", summary: "Time limit of the run" },
      schema: {
        type: "string",
        value: "FILE",
        summary: "Answer with JSON that fits this JSON schema",
      },
      "json-object": { type: "boolean", summary: "Answer with a JSON object" },
      output: {
        type: "string",
        short: "o",
        value: "FORMAT",
        choices: ["text", "json", "jsonl", "sse"],
        summary: "The form of standard output",
      },
      sse: { type: "boolean", summary: "The same as --output sse" },
      "done-marker": { type: "boolean", summary: "End the text form with `=== [ DONE ] ===`" },
      brief: { type: "boolean", short: "b", summary: "Hide tool calls and their results" },
      verbose: { type: "boolean", summary: "Show the complete output of tools, on a pipe too" },
      file: {
        type: "string",
        short: "f",
        value: "FILE",
        multiple: true,
        summary: "Attach a file: text, image or PDF",
      },
      plan: {
        type: "boolean",
        summary: "Show agents, tools and budget of the run; send nothing",
      },
      ...STORE_OPTION,
      ...ENGINE_OPTION,
      "no-store": { type: "boolean", summary: "Keep no record of the run" },
      quiet: {
        type: "boolean",
        short: "q",
        summary: "Only errors on standard error, and the model if you chose none",
      },
    },
    examples: [
      'offshoot run "List the TypeScript files here"',
      'git diff | offshoot run -m openai/gpt-5.1 "Write a commit message"',
      'offshoot run --schema city.json "Where is the Eiffel Tower?" | jq .city',
      'offshoot run "What is on this page?" -f scan.png',
      'offshoot run --agent reviewer "Review the last commit"',
      'offshoot run -c "And now the tests"',
    ],
    keys: true,
    load: () => import("./commands/run.ts"),
  },
  chat: CHAT_COMMAND,
  setup: SETUP_COMMAND,
  acp: ACP_COMMAND,
  serve: SERVE_COMMAND,
  ui: UI_COMMAND,
  worker: WORKER_COMMAND,
  subagent: {
    summary: "Run one JSON payload from standard input, print SSE: the runner of child processes",
    usage: "",
    options: {},
    input: PAYLOAD_FIELDS,
    examples: [
      `echo '{"model": "embedded", "prompt": "Hello"}' | offshoot subagent`,
      `echo '{"model": "embedded", "prompt": "…", "tool_subset": ["read"]}' | offshoot subagent`,
      "offshoot subagent < payload.json",
    ],
    keys: true,
    load: () => import("./commands/subagent.ts"),
  },
  models: MODELS_COMMAND,
  runs: RUNS_COMMAND,
  sessions: SESSIONS_COMMAND,
  undo: UNDO_COMMAND,
  store: STORE_COMMAND,
  agents: AGENTS_COMMAND,
  skills: SKILLS_COMMAND,
  templates: TEMPLATES_COMMAND,
  mcp: MCP_COMMAND,
  auth: AUTH_COMMAND,
  keys: KEYS_COMMAND,
  audit: AUDIT_COMMAND,
  webhooks: WEBHOOKS_COMMAND,
  config: {
    summary: "Show the settings and where each comes from",
    usage: "[show | get KEY | set KEY VALUE | path | trust [DIR] | untrust [DIR]]",
    options: {
      json: { type: "boolean", only: ["show", "get", "path"], summary: "JSON instead of text" },
      project: {
        type: "boolean",
        only: ["set"],
        summary: "write the project's file, not the user's",
      },
    },
    subcommands: {
      show: "Show every setting, its value and its source",
      get: "Print the value of one setting",
      set: "Write a setting to the user's file",
      path: "Print where the files are",
      trust: "Trust this folder's file to set URLs, keys and commands",
      untrust: "Remove that trust",
    },
    examples: ["offshoot config", "offshoot config set model openai/gpt-5.1"],
    load: () => import("./commands/config.ts"),
  },
  doctor: {
    summary: "Check this installation and suggest fixes",
    usage: "",
    options: { json: { type: "boolean", summary: "JSON instead of text" } },
    examples: ["offshoot doctor"],
    keys: true,
    load: () => import("./commands/doctor.ts"),
  },
  env: {
    summary: "Print what a client needs to use this server in place of its vendor",
    usage: "claude | codex | openai",
    options: {
      url: {
        type: "string",
        value: "URL",
        summary: "The server's address (from the settings)",
      },
      model: {
        type: "string",
        short: "m",
        value: "NAME",
        complete: "models",
        summary: "The model to ask for (the setting `model`)",
      },
    },
    subcommands: {
      claude: "Variables for Claude Code and Anthropic's SDKs",
      codex: "Lines for `~/.codex/config.toml`",
      openai: "Variables for clients of OpenAI's API",
    },
    examples: ['eval "$(offshoot env claude --model openai/gpt-5.1)" && claude'],
    load: () => import("./commands/env.ts"),
  },
  completions: {
    summary: "Print the completions of a shell",
    usage: "bash | zsh | fish | words KIND",
    options: {},
    subcommands: {
      bash: "For bash",
      zsh: "For zsh",
      fish: "For fish",
      words: "Print all words of one kind (models, runs, sessions, agents, …)",
    },
    examples: ["source <(offshoot completions bash)"],
    load: () => import("./commands/completions.ts"),
  },
};
