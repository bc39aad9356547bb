/**
 * A user's login to a server: OAuth with PKCE, with the browser sent back to a port of ours on the
 * loopback. The address is shown, never opened: the user chooses the browser.
 */

import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { auth, extractWWWAuthenticateParams } from "@modelcontextprotocol/sdk/client/auth.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { toResolvers, untilAborted } from "../../../base/async.ts";
import type { Environment } from "../../../base/environment.ts";
import { Failure } from "../../../base/failure.ts";
import { isJsonObject } from "../../../base/json.ts";
import { toClean } from "../clean-text.ts";
import type { KeptMap } from "../kept-map.ts";
import type { HttpReach, McpServer } from "../server.ts";
import { limitFetch } from "./limited-fetch.ts";
import { createOAuthProvider } from "./oauth.ts";

export interface LoginParts {
  readonly env: Environment;
  readonly version: string;
  readonly logins: KeptMap;
  readonly fetch: FetchLike;
  readonly signal: AbortSignal;
  /** Tells the user which address to open. */
  show(url: URL): Promise<void>;
}

/** Metadata and tokens are a few kilobytes. */
const MAX_BYTES = 1_000_000;

/** Rejects if the user refuses, the signal aborts, or the server has no login. */
export async function logIn(server: McpServer, parts: LoginParts): Promise<void> {
  const { reach } = server;
  if (reach.kind !== "http" || !reach.oauth.enabled) {
    throw new Failure("invalid_request", `\`${server.name}\` is not a server with a login.`);
  }
  const state = randomBytes(24).toString("base64url");
  const answer = await listen(await findPort(server, reach, parts.logins), state);
  try {
    await authorize(server, { ...parts, reach, state, answer });
  } finally {
    answer.close();
  }
}

interface Authorizing extends LoginParts {
  readonly reach: HttpReach;
  readonly state: string;
  readonly answer: Answer;
}

async function authorize(server: McpServer, parts: Authorizing): Promise<void> {
  const { reach, state, answer, signal } = parts;
  const fetchFn = limitFetch(parts.fetch, MAX_BYTES);
  const login = { redirectUrl: answer.url, state, show: checked(parts.show) };
  const provider = createOAuthProvider({ ...parts, server, reach, login });
  const serverUrl = new URL(reach.url);
  try {
    const asked = { serverUrl, fetchFn, ...(await askWhatIsNeeded(fetchFn, reach.url)) };
    // A login replaces the old token, which would otherwise be renewed.
    await provider.invalidateCredentials?.("tokens");
    if ((await auth(provider, asked)) === "AUTHORIZED") return;
    const authorizationCode = await untilAborted(answer.code, signal);
    await auth(provider, { ...asked, authorizationCode });
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    const reason = toClean(thrown instanceof Error ? thrown.message : String(thrown), 300);
    const message = `The login to \`${server.name}\` did not work: ${reason}`;
    throw new Failure("tool_failed", message, { cause: thrown });
  }
}

/** The shown address comes from the server, so only a web address is accepted. */
function checked(show: (url: URL) => Promise<void>): (url: URL) => Promise<void> {
  return async (url) => {
    if (!/^https?:$/.test(url.protocol)) {
      throw new Failure("tool_failed", "The server's address for the login is not a valid URL.");
    }
    await show(url);
  };
}

/** The answer to a request without a token names the scope, and the address of the server's description. */
async function askWhatIsNeeded(
  send: FetchLike,
  url: string,
): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const response = await send(url, { method: "POST", headers, body });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return {
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** The port of the last registration, so that it can be used again. */
async function findPort(server: McpServer, reach: HttpReach, logins: KeptMap): Promise<number> {
  if (reach.oauth.port !== undefined) return reach.oauth.port;
  const kept = await logins.get(server.name);
  const client = kept?.["url"] === reach.url ? kept["client"] : undefined;
  const uris = isJsonObject(client) ? client["redirect_uris"] : undefined;
  const [uri] = Array.isArray(uris) ? uris : [];
  return typeof uri === "string" && URL.canParse(uri) ? Number(new URL(uri).port) : 0;
}

/** The request with which the browser returns. */
interface Answer {
  readonly url: string;
  readonly code: Promise<string>;
  close(): void;
}

async function listen(port: number, state: string): Promise<Answer> {
  const { promise, resolve, reject } = toResolvers<string>();
  promise.catch(() => {});
  const server = createServer((request, response) => {
    const outcome = readAnswer(request, state);
    if (outcome === undefined) return say(response, 404, "There is nothing here.");
    if (outcome instanceof Failure) {
      say(response, 400, "The login did not work. The terminal says why.");
      return reject(outcome);
    }
    say(response, 200, "You are logged in. This window may be closed.");
    resolve(outcome);
  });
  const bound = await bind(server, port).catch(() => bind(server, 0));
  return {
    url: `http://127.0.0.1:${bound}/callback`,
    code: promise,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Undefined for a request that does not answer this login: another page must not end it. */
function readAnswer(request: IncomingMessage, state: string): string | Failure | undefined {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  const given = Buffer.from(url.searchParams.get("state") ?? "");
  const known = Buffer.from(state);
  const isOurs = given.length === known.length && timingSafeEqual(given, known);
  if (request.method !== "GET" || url.pathname !== "/callback" || !isOurs) return undefined;
  const code = url.searchParams.get("code");
  if (code) return code;
  const why = url.searchParams.get("error_description") ?? url.searchParams.get("error") ?? "";
  const reason = toClean(why, 200) || "it gave no code";
  return new Failure("tool_failed", `The server refused the login: ${reason}.`);
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  response.end(`${text}\n`);
}

function bind(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.removeListener("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
