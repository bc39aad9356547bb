/** The rows of `keys` and `audit` in the table of commands: who may use the server, and who did. */

import type { CliCommand } from "./command.ts";
import { STORE_OPTION } from "./store-option.ts";

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
