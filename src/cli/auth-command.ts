/** `offshoot auth` as data. */

import type { Command } from "./command.ts";

export const AUTH_COMMAND: Command = {
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
    list: "The keys that are stored or in the environment, and which of them is used",
    set: "Store a key: typed unseen, or on standard input; never as a word of the command",
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
