/** The row of `offshoot ui` in the table of commands. */

import type { CliCommand } from "./command.ts";
import { SERVED_MODEL_OPTIONS } from "./served-model-options.ts";
import { STORE_OPTION } from "./store-option.ts";

export const UI_COMMAND: CliCommand = {
  summary: "Open the console: runs, costs and approvals in the browser",
  usage: "",
  options: {
    port: {
      type: "string",
      short: "p",
      value: "N",
      summary: "Port to listen on; 0 for any free one (0)",
    },
    "no-open": {
      type: "boolean",
      summary: "Only print the address; it works once, for a minute",
    },
    server: {
      type: "string",
      value: "URL",
      summary: "Sign in to a server, with a typed key or `OFFSHOOT_SERVER_KEY`",
    },
    ...SERVED_MODEL_OPTIONS,
    ...STORE_OPTION,
  },
  examples: [
    "offshoot ui",
    "offshoot ui --no-open --port 8500",
    "offshoot ui --server https://llm.example.com",
  ],
  load: () => import("./commands/ui.ts"),
};
