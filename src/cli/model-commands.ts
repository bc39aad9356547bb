/** The rows of the commands for models and their keys, in the table of commands. */

import type { CliCommand } from "./command.ts";

export const SETUP_COMMAND: CliCommand = {
  summary: "Set a key and a default model, step by step; `offshoot` alone begins with it",
  usage: "",
  options: {},
  examples: ["offshoot setup"],
  keys: true,
  load: () => import("./commands/setup.ts"),
};

export const MODELS_COMMAND: CliCommand = {
  summary: "List the available models, or download one",
  usage: "[list | pull NAME]",
  options: {
    all: { type: "boolean", only: ["list"], summary: "also models that need a key" },
    json: { type: "boolean", only: ["list"], summary: "one JSON document" },
    sha256: {
      type: "string",
      value: "HEX",
      only: ["pull"],
      summary: "the checksum that a pulled file must have",
    },
  },
  subcommands: {
    list: "List the models that can be reached now, and how",
    pull: "Download a small open model (GGUF) by name or URL",
  },
  examples: ["offshoot models", "offshoot models --all", "offshoot models pull NAME"],
  keys: true,
  load: () => import("./commands/models.ts"),
};

export const AUTH_COMMAND: CliCommand = {
  summary: "Store the keys of model vendors; for clients of the server see `offshoot keys`",
  usage: "[list | set VENDOR | test VENDOR | remove VENDOR]",
  options: {
    json: { type: "boolean", only: ["list"], summary: "JSON instead of text" },
    model: {
      type: "string",
      short: "m",
      value: "VENDOR/MODEL",
      complete: "models",
      only: ["test"],
      summary: "the model to ask (the vendor's default)",
    },
  },
  subcommands: {
    list: "List stored keys and keys in the environment, and which is used",
    set: "Store a key: type it without echo, or pipe it in; never as an argument",
    test: "Make one short call with the key that a run would use",
    remove: "Remove a stored key",
  },
  examples: [
    "offshoot auth set openai",
    "pass show openai | offshoot auth set openai",
    "offshoot auth test openai",
  ],
  operands: { kind: "vendors", notFor: ["list"] },
  keys: true,
  load: () => import("./commands/auth.ts"),
};
