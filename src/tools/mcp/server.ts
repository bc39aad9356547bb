/**
 * The setting `mcp_servers`: the MCP servers, and how each is reached.
 *
 * Values may name environment variables as `$NAME`. They are looked up when the server is reached, so that
 * no secret is in a file, in a message, or in the memory of a run that does not need it.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";

export interface McpServer {
  readonly name: string;
  readonly reach: StdioReach | HttpReach;
  /** Globs over the server's own names of tools. A tool that matches none is not offered. */
  readonly tools: readonly string[];
  /** The time limit of one request. */
  readonly timeoutMs: number;
  readonly enabled: boolean;
}

export interface StdioReach {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Templates: `$NAME` is replaced by the variable's value. */
  readonly env: Readonly<Record<string, string>>;
}

export interface HttpReach {
  readonly kind: "http";
  readonly url: string;
  /** Templates, like `env`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth: OAuthSettings;
}

export interface OAuthSettings {
  /** False if there is never a login to the server. */
  readonly enabled: boolean;
  /** The id of a client that was registered by hand; without one we register a client. */
  readonly clientId: string | undefined;
  /** A template. */
  readonly clientSecret: string | undefined;
  readonly scope: string | undefined;
  /** The port to which a login returns, if the registration by hand names one. */
  readonly port: number | undefined;
}

/** A tool that works longer than this most likely hangs. */
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 3_600_000;

const FIELDS = [
  "command",
  "args",
  "env",
  "url",
  "headers",
  "oauth",
  "tools",
  "timeout_ms",
  "enabled",
];
const OAUTH_FIELDS = ["client_id", "client_secret", "scope", "port"];

/** Rejects the first mistake, in one line that begins with `where`. */
export function parseMcpServers(
  servers: JsonObject | undefined,
  where = "`mcp_servers`",
): McpServer[] {
  return Object.entries(servers ?? {}).map(([name, row]) => {
    const at = `${where}: \`${clip(name, 64)}\``;
    checkName(at, name);
    if (!isJsonObject(row)) throw invalid(`${at} must be a map with \`command\` or \`url\`.`);
    return parseServer(at, name, row);
  });
}

/** A tool's name has two underscores between the server and the tool. */
export function checkMcpName(name: string): void {
  checkName(`\`${clip(name, 64)}\``, name);
}

/** The address for people: the command line or the URL, without what may be secret. */
export function toAddress({ reach }: Pick<McpServer, "reach">): string {
  if (reach.kind === "stdio") return [reach.command, ...reach.args].join(" ");
  const url = new URL(reach.url);
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

/** Replaces `$NAME` and `${NAME}`; `$$` is a dollar. `what` begins the message about a missing variable. */
export function expandVariables(
  template: string,
  env: Readonly<Record<string, string | undefined>>,
  what: string,
): string {
  return template.replace(VARIABLE, (token, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    if (name === undefined) return token === "$$" ? "$" : token;
    const value = env[name];
    if (value !== undefined && value !== "") return value;
    throw new Failure("key_missing", `${what} needs the environment variable \`${name}\`.`);
  });
}

const VARIABLE = /\$\$|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g;

function checkName(at: string, name: string): void {
  const fits = /^[a-z0-9_-]{1,64}$/.test(name) && !/__|^_|_$/.test(name);
  if (fits) return;
  throw invalid(
    `${at} is not a valid name for an MCP server: use 1 to 64 of a-z, 0-9, \`-\` and \`_\`, with no \`_\` at either end and no two in a row.`,
  );
}

function parseServer(at: string, name: string, row: JsonObject): McpServer {
  checkFields(at, row, FIELDS);
  const { command, url, tools = ["*"], timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS } = row;
  const { enabled = true } = row;
  if ((command === undefined) === (url === undefined)) {
    throw invalid(`${at} needs either \`command\` or \`url\`.`);
  }
  if (typeof enabled !== "boolean")
    throw invalid(`${at}: \`enabled\` must be \`true\` or \`false\`.`);
  if (!isTexts(tools)) throw invalid(`${at}: \`tools\` must be a list of names or patterns.`);
  const isTime = typeof timeoutMs === "number" && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS;
  if (!isTime) {
    throw invalid(`${at}: \`timeout_ms\` must be a number from 1 to ${MAX_TIMEOUT_MS}.`);
  }
  const reach = command === undefined ? parseHttp(at, row) : parseStdio(at, row);
  return { name, reach, tools, timeoutMs, enabled };
}

function parseStdio(at: string, row: JsonObject): StdioReach {
  const { command, args = [], env = {} } = row;
  for (const field of ["headers", "oauth"]) {
    if (row[field] !== undefined) throw invalid(`${at}: \`${field}\` goes with \`url\` alone.`);
  }
  if (typeof command !== "string" || command.trim() === "") {
    throw invalid(`${at}: \`command\` must be the name or path of a program.`);
  }
  if (!isTexts(args)) throw invalid(`${at}: \`args\` must be a list of texts.`);
  const variables = parseTemplates(`${at}: \`env\``, env);
  const odd = Object.keys(variables).find((variable) => !/^[A-Za-z_]\w*$/.test(variable));
  if (odd !== undefined)
    throw invalid(`${at}: \`env\` has \`${clip(odd, 40)}\`, which is not a valid name.`);
  return { kind: "stdio", command, args, env: variables };
}

function parseHttp(at: string, row: JsonObject): HttpReach {
  for (const field of ["args", "env"]) {
    if (row[field] !== undefined) throw invalid(`${at}: \`${field}\` goes with \`command\` alone.`);
  }
  const { url, headers = {}, oauth = true } = row;
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw invalid(`${at}: \`url\` must begin with https:// or http://.`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw invalid(
      `${at}: \`url\` must not contain a user and password. Put them into \`headers\`, by $NAME.`,
    );
  }
  const templates = parseTemplates(`${at}: \`headers\``, headers);
  for (const [header, value] of Object.entries(templates)) checkHeader(at, header, value);
  return {
    kind: "http",
    url: parsed.href,
    headers: templates,
    oauth: parseOAuth(`${at}: \`oauth\``, oauth),
  };
}

/** A header with a secret must name a variable. */
function checkHeader(at: string, header: string, value: string): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header) || /[\r\n\0]/.test(value)) {
    throw invalid(`${at}: \`headers\` has \`${clip(header, 40)}\`, which is not a header.`);
  }
  const isSecret = /auth|cookie|key|token|secret/i.test(header);
  if (!isSecret || /\$\{?[A-Za-z_]/.test(value)) return;
  throw invalid(
    `${at}: the header \`${clip(header, 40)}\` must name an environment variable: "$NAME" or "Bearer $NAME".`,
  );
}

function parseOAuth(at: string, oauth: Json): OAuthSettings {
  const none = { clientId: undefined, clientSecret: undefined, scope: undefined, port: undefined };
  if (typeof oauth === "boolean") return { enabled: oauth, ...none };
  if (!isJsonObject(oauth)) {
    throw invalid(`${at} must be \`true\`, \`false\` or a map with ${OAUTH_FIELDS.join(", ")}.`);
  }
  checkFields(at, oauth, OAUTH_FIELDS);
  const { port, client_secret: secret, ...texts } = oauth;
  const isPort = port === undefined || (Number.isInteger(port) && Number(port) > 0);
  if (!isPort || Number(port ?? 1) > 65_535) throw invalid(`${at}: \`port\` must be 1 to 65535.`);
  const odd = Object.entries(texts).find(([, value]) => typeof value !== "string");
  if (odd) throw invalid(`${at}: \`${odd[0]}\` must be a text.`);
  const clientSecret = secret === undefined ? undefined : toTemplate(secret);
  if (secret !== undefined && !/\$\{?[A-Za-z_]/.test(clientSecret ?? "")) {
    throw invalid(`${at}: \`client_secret\` must name an environment variable: "$NAME".`);
  }
  const { client_id: clientId, scope } = texts as Record<string, string | undefined>;
  return { enabled: true, clientId, clientSecret, scope, port: port as number | undefined };
}

function parseTemplates(at: string, map: Json): Record<string, string> {
  if (!isJsonObject(map)) throw invalid(`${at} must be a map of names to "$VARIABLE".`);
  const entries = Object.entries(map).map(([name, value]): [string, string] => {
    const template = toTemplate(value);
    if (template !== undefined) return [name, template];
    throw invalid(`${at}: \`${clip(name, 40)}\` must be a text such as "$VARIABLE".`);
  });
  return Object.fromEntries(entries);
}

function toTemplate(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  const named = isJsonObject(value) ? value["env"] : undefined;
  return typeof named === "string" && /^[A-Za-z_]\w*$/.test(named) ? `\${${named}}` : undefined;
}

function checkFields(at: string, row: JsonObject, known: readonly string[]): void {
  for (const field of Object.keys(row)) {
    if (known.includes(field)) continue;
    const guess = nearest(field, known);
    const hint = guess === undefined ? `Known: ${known.join(", ")}.` : `Did you mean \`${guess}\`?`;
    throw invalid(`${at} does not know \`${clip(field, 40)}\`. ${hint}`);
  }
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "mcp_servers" });
}
