/**
 * The tools that `offshoot serve` runs for clients, and what they need; a part of `SERVER_KEYS`.
 */

import type { ConfigRow } from "./config-row.ts";

export const HOSTED_KEYS = {
  "server.code_interpreter": {
    type: "boolean",
    default: true,
    guarded: true,
    summary: "Run `code_interpreter` here, in WebAssembly; if off, the tool is left out",
  },
  "server.shell": {
    type: "enum",
    values: ["sandbox", "process", "off"],
    default: "sandbox",
    guarded: true,
    summary: "What confines commands of a hosted `shell`; `process` lets clients run as this user",
  },
  "server.apply_patch": {
    type: "enum",
    values: ["client", "server"],
    default: "client",
    guarded: true,
    summary: "Which files `apply_patch` changes: the client's, or those of `server.root`",
  },
  "server.image_model": {
    type: "string",
    guarded: true,
    summary: "The model that draws for `image_generation`; without it the tool is left out",
  },
  "server.image_url": {
    type: "string",
    default: "https://api.openai.com/v1",
    guarded: true,
    summary: "The base URL of the images API",
  },
  "server.image_api_key_name": {
    type: "string",
    form: "variable",
    empty: true,
    default: "OPENAI_API_KEY",
    guarded: true,
    summary: "The variable that holds its key; empty for a server without one",
  },
  "server.embeddings_model": {
    type: "string",
    guarded: true,
    summary: "The model that makes vectors for `file_search`; without it only words are searched",
  },
  "server.embeddings_url": {
    type: "string",
    default: "https://api.openai.com/v1",
    guarded: true,
    summary: "The embeddings API's base URL",
  },
  "server.embeddings_api_key_name": {
    type: "string",
    form: "variable",
    empty: true,
    default: "OPENAI_API_KEY",
    guarded: true,
    summary: "The variable that holds its key; empty for a server without one",
  },
  "server.embeddings_dimensions": {
    type: "integer",
    min: 1,
    guarded: true,
    summary: "The length of vectors, if the model can make shorter ones",
  },
  "server.backing": {
    type: "map",
    guarded: true,
    joined: true,
    summary: "MCP tools that replace the server's own: `web_search: search/query`",
  },
  "server.native_tools": {
    type: "list",
    default: ["*"],
    guarded: true,
    summary:
      "Hosted tools that a model's vendor runs if it has them, by kind or pattern; `none` for none",
  },
} as const satisfies Readonly<Record<string, ConfigRow>>;
