/** Every command and flag, as data. The code of a command is loaded when it is called. */

import type { Command } from "./command.ts";

export const COMMANDS: Readonly<Record<string, Command>> = {
  run: {
    summary: "Run one prompt through an agent and print its answer",
    usage: "[PROMPT]",
    options: {
      model: { type: "string", short: "m", value: "VENDOR/MODEL", summary: "The model to ask" },
      provider: {
        type: "string",
        value: "NAME",
        summary: "The API to speak: openai-chat, openai-responses, embedded",
      },
      url: {
        type: "string",
        value: "URL",
        summary: "The server's base URL, in place of the vendor's",
      },
      "api-key-name": {
        type: "string",
        value: "VARIABLE",
        summary: "The environment variable that holds the key",
      },
      system: {
        type: "string",
        short: "s",
        value: "TEXT",
        summary: "Instructions for the model, or @FILE",
      },
      tools: {
        type: "string",
        value: "LIST",
        summary: "Tools it may use, by name or pattern; `none` for none",
      },
      think: { type: "boolean", summary: "Ask the model to reason, and show it" },
      temperature: { type: "string", value: "N", summary: "0 to 2" },
      "max-tokens": { type: "string", value: "N", summary: "Most tokens of one answer" },
      "max-turns": { type: "string", value: "N", summary: "Most model calls of the run (50)" },
      timeout: { type: "string", value: "SECONDS", summary: "Most time of the run" },
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
      file: {
        type: "string",
        short: "f",
        value: "FILE",
        multiple: true,
        summary: "Put a file before the prompt: text, image or PDF",
      },
      "no-store": { type: "boolean", summary: "Keep no record of the run" },
      quiet: { type: "boolean", short: "q", summary: "Nothing on standard error but errors" },
    },
    examples: [
      'offshoot run "List the TypeScript files here"',
      'git diff | offshoot run -m openai/gpt-5.1 "Write a commit message"',
      'offshoot run --schema city.json "Where is the Eiffel Tower?" | jq .city',
      'offshoot run "What is on this page?" -f scan.png',
    ],
    load: () => import("./commands/run.ts"),
  },
  models: {
    summary: "List the models that can be reached now, or get one",
    usage: "[list | pull NAME]",
    options: {
      json: { type: "boolean", summary: "One JSON document" },
      sha256: {
        type: "string",
        value: "HEX",
        summary: "The checksum that a pulled file must have",
      },
    },
    subcommands: {
      list: "What is reachable now, and from where",
      pull: "Get a small open model (GGUF) by name or URL",
    },
    examples: ["offshoot models", "offshoot models pull NAME"],
    load: () => import("./commands/models.ts"),
  },
  runs: {
    summary: "Look at the record of runs, or go on with one that was cut",
    usage: "list | show ID | resume ID | delete ID",
    options: {
      json: { type: "boolean", summary: "JSON instead of text" },
      limit: { type: "string", short: "n", value: "N", summary: "How many runs to list (20)" },
      output: {
        type: "string",
        short: "o",
        value: "FORMAT",
        choices: ["text", "json", "jsonl", "sse"],
        summary: "resume: the form of standard output",
      },
    },
    subcommands: {
      list: "The newest runs, one a line",
      show: "One run: settings, turns, tool calls, ending",
      resume: "Go on with a run whose process died",
      delete: "Remove a run and all its records",
    },
    examples: [
      "offshoot runs list",
      "offshoot runs show run_01k…",
      "offshoot runs resume run_01k…",
    ],
    load: () => import("./commands/runs.ts"),
  },
  config: {
    summary: "Show the settings and where each comes from",
    usage: "[show | get KEY | set KEY VALUE | path | trust [DIR] | untrust [DIR]]",
    options: {
      json: { type: "boolean", summary: "JSON instead of text" },
      project: { type: "boolean", summary: "set: write the project's file, not the user's" },
    },
    subcommands: {
      show: "Every setting, its value and its source",
      get: "One setting's value",
      set: "Write a setting to the user's file",
      path: "Where the files are",
      trust: "Let this folder's file set URLs, keys and commands",
      untrust: "Take that back",
    },
    examples: ["offshoot config", "offshoot config set model openai/gpt-5.1"],
    load: () => import("./commands/config.ts"),
  },
  doctor: {
    summary: "Say what was found here, and what to do about what was not",
    usage: "",
    options: { json: { type: "boolean", summary: "JSON instead of text" } },
    examples: ["offshoot doctor"],
    load: () => import("./commands/doctor.ts"),
  },
  completions: {
    summary: "Print the completions of a shell",
    usage: "bash | zsh | fish",
    options: {},
    subcommands: { bash: "For bash", zsh: "For zsh", fish: "For fish" },
    examples: ["source <(offshoot completions bash)"],
    load: () => import("./commands/completions.ts"),
  },
};
