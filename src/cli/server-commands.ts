/** The rows of the commands that run a server or manage its clients, in the table of commands. */

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

/** Subcommands whose flags set the rights of a key. */
const SETS = ["create", "update"];

export const KEYS_COMMAND: CliCommand = {
  summary: "Manage API keys for clients of `offshoot serve`",
  usage: "[list | create NAME | SUBCOMMAND NAME|ID]",
  options: {
    ...STORE_OPTION,
    json: { type: "boolean", summary: "JSON instead of text" },
    tenant: {
      type: "string",
      value: "NAME",
      only: ["create"],
      summary: "the tenant whose data it uses (default)",
    },
    scopes: {
      type: "string",
      value: "LIST",
      only: SETS,
      summary: "responses,files,models,metrics (all but metrics)",
    },
    models: {
      type: "string",
      value: "GLOBS",
      only: SETS,
      summary: "models it may ask (all)",
    },
    tools: {
      type: "string",
      value: "GLOBS",
      only: SETS,
      summary: "tools and hosted kinds it may use (all), or `none`",
    },
    options: {
      type: "string",
      value: "GLOBS",
      only: SETS,
      summary: "vendors' fields it sets (sampling), `all` or `none`",
    },
    "requests-per-minute": {
      type: "string",
      value: "N",
      only: SETS,
      summary: "most requests",
    },
    "tokens-per-minute": { type: "string", value: "N", only: SETS, summary: "most tokens" },
    "requests-per-day": { type: "string", value: "N", only: SETS, summary: "most requests" },
    "tokens-per-day": { type: "string", value: "N", only: SETS, summary: "most tokens" },
    "usd-per-day": { type: "string", value: "USD", only: SETS, summary: "most dollars" },
    "usd-total": { type: "string", value: "USD", only: SETS, summary: "most dollars, ever" },
    concurrent: { type: "string", value: "N", only: SETS, summary: "most requests at once" },
    "storage-bytes": {
      type: "string",
      value: "N",
      only: SETS,
      summary: "most bytes its tenant keeps",
    },
    "max-cost": {
      type: "string",
      value: "USD",
      only: SETS,
      summary: "most dollars of a response",
    },
    "max-total-tokens": {
      type: "string",
      value: "N",
      only: SETS,
      summary: "most tokens of a response",
    },
    "max-tool-calls": {
      type: "string",
      value: "N",
      only: SETS,
      summary: "most tool calls of a response",
    },
    "max-turns": {
      type: "string",
      value: "N",
      only: SETS,
      summary: "most model calls of a response",
    },
    expires: {
      type: "string",
      value: "TIME",
      only: SETS,
      summary: "when it ends: `12h`, `30d`, `2030-12-31` (never)",
    },
    "keep-old": {
      type: "string",
      value: "TIME",
      only: ["rotate"],
      summary: "how long the old secret still works: `30m`, `1h`, `7d` (0)",
    },
  },
  subcommands: {
    list: "List keys: what each may do, what it has used, and when",
    create: "Make a key and print it once",
    show: "Show all about one key except its secret",
    update: "Change a key; `none` removes a limit, `all` a restriction, the rest stays",
    rotate: "Give a key a new secret and print it once; its id and usage stay",
    revoke: "Revoke a key; running servers notice within seconds",
  },
  examples: [
    "offshoot keys create laptop",
    "offshoot keys create ci --models 'gpt-*' --usd-per-day 5 --expires 30d",
    "offshoot keys show laptop",
    "offshoot keys update ci --usd-per-day none --models all",
    "offshoot keys rotate ci --keep-old 1h",
    "offshoot keys revoke ID",
  ],
  load: () => import("./commands/keys.ts"),
};

export const AUDIT_COMMAND: CliCommand = {
  summary: "Show which key changed what on a server, and which requests were refused",
  usage: "[list]",
  options: {
    ...STORE_OPTION,
    key: { type: "string", value: "NAME|ID", summary: "requests of this key" },
    tenant: { type: "string", value: "NAME", summary: "requests of this tenant" },
    day: {
      type: "string",
      value: "DAY",
      summary: "requests of a day (UTC): `today` or `2030-12-31`",
    },
    route: {
      type: "string",
      value: "TEXT",
      summary: "requests whose route contains this text: `/v1/files`",
    },
    status: {
      type: "string",
      value: "STATUS",
      summary: "requests answered with `429`, or any `4xx`",
    },
    limit: { type: "string", short: "n", value: "N", summary: "how many entries (50)" },
    before: { type: "string", value: "ID", summary: "entries older than the one with this id" },
    json: { type: "boolean", summary: "JSON instead of text" },
  },
  subcommands: { list: "List the newest entries, one on each line" },
  examples: [
    "offshoot audit list",
    "offshoot audit list --key laptop --day today",
    "offshoot audit list --status 4xx --json",
  ],
  load: () => import("./commands/audit.ts"),
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
