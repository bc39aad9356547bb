/** The rows of the commands that run a server, its console and its webhooks, in the table of commands. */

import type { CliCommand } from "./command.ts";
import { SERVED_MODEL_OPTIONS } from "./model-options.ts";
import { ENGINE_OPTION, STORE_OPTION } from "./store-option.ts";

export const SERVE_COMMAND: CliCommand = {
  summary: "Serve the Responses API over HTTP, on any model",
  usage: "",
  options: {
    host: { type: "string", value: "ADDRESS", summary: "Address to listen on (127.0.0.1)" },
    port: {
      type: "string",
      short: "p",
      value: "N",
      summary: "Port to listen on; 0 for any free one (8484)",
    },
    ...SERVED_MODEL_OPTIONS,
    workers: { type: "string", value: "N", summary: "Number of processes (1)" },
    "no-auth": { type: "boolean", summary: "Accept requests without a key" },
    ...STORE_OPTION,
    ...ENGINE_OPTION,
    "no-store": { type: "boolean", summary: "Store only responses whose requests say `store`" },
    "tls-cert": { type: "string", value: "FILE", summary: "Serve HTTPS with this certificate" },
    "tls-key": { type: "string", value: "FILE", summary: "The certificate's private key" },
    root: { type: "string", value: "DIR", summary: "The folder that tools work in (this one)" },
    tools: {
      type: "string",
      value: "LIST",
      summary: "The server's own tools that clients may use; `none` for none",
    },
    log: {
      type: "string",
      value: "FORMAT",
      choices: ["text", "json", "off"],
      summary: "A line for each request, on standard error",
    },
  },
  examples: [
    "offshoot serve",
    "offshoot serve -m openai/gpt-5.1 --port 8080 --workers 4",
    "offshoot serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
  ],
  keys: true,
  load: () => import("./commands/serve.ts"),
};

export const WORKER_COMMAND: CliCommand = {
  summary: "Work on the queues of servers, without HTTP",
  usage: "",
  options: {
    ...SERVED_MODEL_OPTIONS,
    ...STORE_OPTION,
    ...ENGINE_OPTION,
    root: { type: "string", value: "DIR", summary: "The folder that tools work in (this one)" },
    log: {
      type: "string",
      value: "FORMAT",
      choices: ["text", "json", "off"],
      summary: "A line for each run taken over, on standard error",
    },
  },
  examples: ["offshoot worker --store postgres://offshoot@db/offshoot"],
  keys: true,
  load: () => import("./commands/worker.ts"),
};

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
