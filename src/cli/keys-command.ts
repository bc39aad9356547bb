/** The row of `offshoot keys` in the table of commands. */

import type { Command } from "./command.ts";

export const KEYS_COMMAND: Command = {
  summary: "The keys that clients of `offshoot serve` must show",
  usage: "[list | create NAME | revoke ID]",
  options: {
    json: { type: "boolean", only: ["list", "create"], summary: "JSON instead of text" },
    tenant: {
      type: "string",
      value: "NAME",
      only: ["create"],
      summary: "whose things it sees and makes (default)",
    },
    scopes: {
      type: "string",
      value: "LIST",
      only: ["create"],
      summary: "responses,files,models,metrics (all but metrics)",
    },
    models: {
      type: "string",
      value: "GLOBS",
      only: ["create"],
      summary: "models it may ask (all)",
    },
    tools: {
      type: "string",
      value: "GLOBS",
      only: ["create"],
      summary: "tools and hosted kinds it may use (all); `none` for none",
    },
    "requests-per-minute": {
      type: "string",
      value: "N",
      only: ["create"],
      summary: "most requests",
    },
    "tokens-per-minute": { type: "string", value: "N", only: ["create"], summary: "most tokens" },
    "requests-per-day": { type: "string", value: "N", only: ["create"], summary: "most requests" },
    "tokens-per-day": { type: "string", value: "N", only: ["create"], summary: "most tokens" },
    "usd-per-day": { type: "string", value: "USD", only: ["create"], summary: "most dollars" },
    "usd-total": { type: "string", value: "USD", only: ["create"], summary: "most dollars, ever" },
    concurrent: { type: "string", value: "N", only: ["create"], summary: "most requests at once" },
    "storage-bytes": {
      type: "string",
      value: "N",
      only: ["create"],
      summary: "most bytes its tenant keeps",
    },
    "max-cost": {
      type: "string",
      value: "USD",
      only: ["create"],
      summary: "most dollars of a response",
    },
    "max-total-tokens": {
      type: "string",
      value: "N",
      only: ["create"],
      summary: "most tokens of a response",
    },
    "max-tool-calls": {
      type: "string",
      value: "N",
      only: ["create"],
      summary: "most tool calls of a response",
    },
    "max-turns": {
      type: "string",
      value: "N",
      only: ["create"],
      summary: "most model calls of a response",
    },
    expires: {
      type: "string",
      value: "TIME",
      only: ["create"],
      summary: "when it ends: `12h`, `30d`, `2030-12-31` (never)",
    },
  },
  subcommands: {
    list: "Every key, what it may do and when it was used last",
    create: "Make a key and print it, this once",
    revoke: "End a key; servers that run know it within seconds",
  },
  examples: [
    "offshoot keys create laptop",
    "offshoot keys create ci --models 'gpt-*' --usd-per-day 5 --expires 30d",
    "offshoot keys revoke ID",
  ],
  load: () => import("./commands/keys.ts"),
};
