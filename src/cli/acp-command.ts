/** The row of `offshoot acp` in the table of commands. */

import type { CliCommand } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

export const ACP_COMMAND: CliCommand = {
  summary: "Serve agents to an editor over the Agent Client Protocol",
  usage: "",
  options: {
    model: {
      type: "string",
      short: "m",
      value: "VENDOR/MODEL",
      complete: "models",
      summary: "The model to ask",
    },
    tools: { type: "string", value: "LIST", summary: "Tools it may use; `none` for none" },
    approve: {
      type: "string",
      value: "MODE",
      summary: "How calls are approved at first: ask, auto, deny",
    },
    sandbox: { type: "string", value: "LEVEL", summary: "How commands are isolated" },
    allow: { type: "string", value: "RULE", multiple: true, summary: "As for `run`" },
    deny: { type: "string", value: "RULE", multiple: true, summary: "As for `run`" },
    setup: {
      type: "boolean",
      summary: "Set up a model on this terminal instead, as `offshoot setup` does",
    },
    "max-cost": { type: "string", value: "USD", summary: "Limit in dollars for one prompt" },
    ...STORE_OPTION,
  },
  examples: ["offshoot acp", "offshoot acp -m anthropic/claude-sonnet-5-5 --sandbox sandbox"],
  keys: true,
  load: () => import("./commands/acp.ts"),
};
