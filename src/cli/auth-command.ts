/** The row of `offshoot auth` in the table of commands. */

import type { CliCommand } from "./command.ts";

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
    set: "Store a key, typed unseen or from standard input; never as an argument",
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
