/** The row of `offshoot webhooks` in the table of commands. */

import type { CliCommand } from "./command.ts";

export const WEBHOOKS_COMMAND: CliCommand = {
  summary: "Make secrets for webhooks, list the endpoints of `server.webhooks` and try one",
  usage: "secret | list | test NAME",
  options: {
    json: { type: "boolean", summary: "JSON instead of text", only: ["list"] },
  },
  subcommands: {
    secret: "Print a new secret, for the variable that an endpoint names and for its receiver",
    list: "List the endpoints, their events, and if their secrets are set",
    test: "Send one signed event to an endpoint now, and say how it answered",
  },
  examples: [
    'export ORDERS_WEBHOOK_SECRET="$(offshoot webhooks secret)"',
    "offshoot webhooks test orders",
  ],
  keys: true,
  load: () => import("./commands/webhooks.ts"),
};
