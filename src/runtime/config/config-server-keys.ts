/** The settings of `offshoot serve`; a part of `CONFIG_KEYS`. A project's file sets none of them. */

import { HOSTED_KEYS } from "./config-hosted-keys.ts";
import type { ConfigRow } from "./config-row.ts";

type Rows = Readonly<Record<string, ConfigRow>>;

/** Where it listens, and who may connect. */
const LISTENING_KEYS = {
  "server.host": {
    type: "string",
    default: "127.0.0.1",
    flag: "host",
    guarded: true,
    summary: "The address to listen at; `0.0.0.0` or `::` for all addresses of the machine",
  },
  "server.port": {
    type: "integer",
    min: 0,
    max: 65_535,
    default: 8484,
    flag: "port",
    guarded: true,
    summary: "The port to listen at; 0 for any free one",
  },
  "server.workers": {
    type: "integer",
    min: 1,
    max: 256,
    default: 1,
    flag: "workers",
    guarded: true,
    summary: "Number of processes that share one port and one record",
  },
  "server.auth": {
    type: "boolean",
    default: true,
    flag: "no-auth",
    guarded: true,
    summary: "Ask for a key, also from callers on this machine",
  },
  "server.console": {
    type: "enum",
    values: ["auto", "on", "off"],
    default: "auto",
    guarded: true,
    summary:
      "Serve `/console/`; `auto` serves it if only this machine, or HTTPS, reaches the server",
  },
  "server.hosts": {
    type: "list",
    default: [],
    guarded: true,
    summary: "Further host names of the server: `api.example.com`",
  },
  "server.path_prefix": {
    type: "string",
    form: "prefix",
    default: "",
    empty: true,
    guarded: true,
    summary:
      "A path before all addresses (`/keep` for `/keep/v1/models`), for a proxy that does not change paths ([server.md](server.md#behind-a-path))",
  },
  "server.origins": {
    type: "list",
    default: [],
    guarded: true,
    summary: "Origins whose pages may use the server (CORS): `https://app.example.com`",
  },
  "server.tls_cert": {
    type: "string",
    form: "path",
    flag: "tls-cert",
    guarded: true,
    summary: "The certificate to serve HTTPS with, with its chain, as PEM",
  },
  "server.tls_key": {
    type: "string",
    form: "path",
    flag: "tls-key",
    guarded: true,
    summary: "The certificate's private key, as PEM",
  },
  "server.tls_client_ca": {
    type: "string",
    form: "path",
    guarded: true,
    summary: "The authority, as PEM, that clients' certificates must come from; then they need one",
  },
} as const satisfies Rows;

/** The settings of models, tools and storage. */
const ANSWERING_KEYS = {
  "server.models": {
    type: "map",
    guarded: true,
    joined: true,
    summary:
      "Names that clients may ask, and what they mean: `fast: openai/gpt-5.1-mini`, or `fast: {model, provider, url, api_key_name}`, or a list of these with `weight` and `fallback` ([server.md](server.md#several-deployments-of-a-name))",
  },
  "server.cooldown_failures": {
    type: "integer",
    min: 1,
    max: 1000,
    default: 3,
    guarded: true,
    summary:
      "Number of failures in a row after which a deployment of a name cools down ([server.md](server.md#several-deployments-of-a-name))",
  },
  "server.cooldown_seconds": {
    type: "number",
    min: 0.1,
    max: 3600,
    default: 30,
    guarded: true,
    summary:
      "How long a deployment is not asked first after that; twice as long after each trial that fails, 8 times at most",
  },
  "server.root": {
    type: "string",
    form: "path",
    flag: "root",
    guarded: true,
    summary: "The folder that the server's own tools work in; else the one it is started in",
  },
  "server.tools": {
    type: "list",
    default: ["bash_read", "bash_find", "bash_ripgrep", "subagent", "parallel_subagent"],
    guarded: true,
    summary: "The server's own tools that clients may use, by name or pattern; `none` for none",
  },
  "server.mcp_wait_seconds": {
    type: "number",
    min: 0,
    max: 3600,
    default: 45,
    guarded: true,
    summary:
      "How long a call over `/mcp` waits for its run, if the client does not say; then it answers that the run continues ([mcp-serve.md](mcp-serve.md))",
  },
  "server.mcp_approval_seconds": {
    type: "number",
    min: 1,
    max: 604_800,
    guarded: true,
    summary:
      "How long an approval question of a run that came over `/mcp` waits for an answer of the console or `runs approve`. Left out, it is denied at once if the client shows no forms",
  },
  "server.prompts_dir": {
    type: "string",
    form: "path",
    guarded: true,
    summary: "The folder of the prompts that requests may name (`prompt.id`)",
  },
  "server.store": {
    type: "boolean",
    default: true,
    guarded: true,
    summary: "Store responses of requests that do not set `store` (`--no-store` of `serve`)",
  },
  "server.keep_days": {
    type: "number",
    min: 0,
    default: 30,
    guarded: true,
    summary: "How long a stored response is kept; 0 for ever",
  },
  "server.audit_days": {
    type: "number",
    min: 0,
    default: 90,
    guarded: true,
    summary: "How long the audit log is kept; 0 for ever",
  },
  "server.max_background": {
    type: "integer",
    min: 1,
    default: 16,
    guarded: true,
    summary:
      "Background responses that run at once, in all workers together; the others are queued, in turn by tenant",
  },
  "server.max_subagents": {
    type: "integer",
    min: 0,
    default: 16,
    guarded: true,
    summary:
      "Maximum subagents of the executor `anywhere` that this process runs at once, for each depth",
  },
  "server.max_queued": {
    type: "integer",
    min: 0,
    default: 1000,
    guarded: true,
    summary:
      "Background responses of a tenant that may wait, in all workers together; more are refused",
  },
  "server.webhooks": {
    type: "map",
    guarded: true,
    joined: true,
    summary:
      "Webhooks for the end of background responses: `orders: {url, secret_name, events, tenants}` ([webhooks.md](webhooks.md))",
  },
  "server.log": {
    type: "enum",
    values: ["text", "json", "off"],
    flag: "log",
    guarded: true,
    summary:
      "A line for each request on standard error; else `text` on a terminal, `json` elsewhere",
  },
  "server.start_check_bytes": {
    type: "integer",
    min: 0,
    // A start waits for half a second at most: the check reads 300 to 600 MB a second.
    default: 134_217_728,
    guarded: true,
    summary:
      "The largest record that is checked for damage before the server listens; a larger one is checked while it answers",
  },
  "server.drain_seconds": {
    type: "number",
    min: 0,
    max: 86_400,
    default: 30,
    guarded: true,
    summary:
      "How long the server waits for answers, and for model calls of background responses, when it is asked to stop",
  },
} as const satisfies Rows;

/** Limits on what clients may send. */
const BOUND_KEYS = {
  "server.max_body_bytes": {
    type: "integer",
    min: 1024,
    default: 20_000_000,
    guarded: true,
    summary: "Maximum bytes of a request's body; larger data is uploaded as a file",
  },
  "server.max_header_bytes": {
    type: "integer",
    min: 1024,
    max: 1_000_000,
    default: 16_384,
    guarded: true,
    summary: "Maximum bytes of a request's headers",
  },
  "server.max_items": {
    type: "integer",
    min: 1,
    default: 10_000,
    guarded: true,
    summary: "Maximum input items of a request",
  },
  "server.max_tools": {
    type: "integer",
    min: 0,
    default: 1024,
    guarded: true,
    summary: "Maximum tools of a request",
  },
  "server.max_image_bytes": {
    type: "integer",
    min: 1024,
    default: 20_000_000,
    guarded: true,
    summary: "Maximum bytes of an image or file inside a request",
  },
  "server.storage_bytes": {
    type: "integer",
    min: 0,
    guarded: true,
    summary:
      "Maximum bytes that a tenant may store, if its keys set no limit (`--storage-bytes`). If not set, there is no limit",
  },
  "server.max_connections": {
    type: "integer",
    min: 1,
    default: 10_000,
    guarded: true,
    summary: "Maximum open connections of each process; further ones are closed at once",
  },
  "server.headers_seconds": {
    type: "number",
    min: 0.1,
    max: 3600,
    default: 15,
    guarded: true,
    summary: "Time limit for the headers of a request",
  },
  "server.body_seconds": {
    type: "number",
    min: 0.1,
    max: 86_400,
    default: 60,
    guarded: true,
    summary: "Time limit for the body of a request",
  },
  "server.keep_alive_seconds": {
    type: "number",
    min: 0.1,
    max: 86_400,
    default: 65,
    guarded: true,
    summary: "How long an idle connection is kept; set it longer than that of a proxy in front",
  },
  "server.stream_comment_seconds": {
    type: "number",
    min: 0.1,
    max: 3600,
    default: 15,
    guarded: true,
    summary: "How long a stream may be silent before a comment keeps it open",
  },
} as const satisfies Rows;

export const SERVER_KEYS = {
  ...LISTENING_KEYS,
  ...ANSWERING_KEYS,
  ...HOSTED_KEYS,
  ...BOUND_KEYS,
} as const;
