/**
 * Our identity for a server that requires a login: registration and tokens, in a private file.
 *
 * They are valid for one URL: a server of the same name at another address gets none of them. A run never
 * begins a login; it uses and renews the tokens of `offshoot mcp login`.
 */

import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import type { Environment } from "../../../base/environment.ts";
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import type { KeptMap } from "../kept-map.ts";
import type { HttpReach, McpServer } from "../server.ts";
import { expandAll } from "./environment.ts";
import { needsLogin } from "./login-needed.ts";

export interface OAuthParts {
  readonly server: McpServer;
  readonly reach: HttpReach;
  readonly env: Environment;
  readonly logins: KeptMap;
  readonly version: string;
  /** Present while a user logs in. */
  readonly login?: Login | undefined;
}

export interface Login {
  /** The address to which the browser returns. */
  readonly redirectUrl: string;
  readonly state: string;
  show(url: URL): Promise<void>;
}

/** Tokens this new come from another request that renewed them at the same time. */
const FRESH_MS = 30_000;

export function createOAuthProvider(parts: OAuthParts): OAuthClientProvider {
  const { server, reach, logins, login } = parts;
  const { oauth } = reach;
  let verifier = "";
  let savedAtMs = Number.NEGATIVE_INFINITY;

  const read = async (): Promise<JsonObject> => {
    const kept = await logins.get(server.name);
    return kept?.["url"] === reach.url ? kept : {};
  };
  const write = (change: JsonObject): Promise<void> =>
    logins.update(server.name, (kept) => ({
      ...(kept["url"] === reach.url ? kept : {}),
      url: reach.url,
      ...change,
    }));
  const readTokens = async (): Promise<OAuthTokens | undefined> => {
    const { tokens } = await read();
    return isJsonObject(tokens) ? (tokens as unknown as OAuthTokens) : undefined;
  };

  return {
    redirectUrl: login?.redirectUrl ?? "http://127.0.0.1/callback",
    clientMetadata: toMetadata(parts),
    state: () => login?.state ?? "",
    /** Called first whenever the server requires a login, before anything else is sent. */
    async discoveryState() {
      if (!login && !(await readTokens())?.refresh_token) throw needsLogin(server.name);
      return undefined;
    },
    async clientInformation() {
      if (oauth.clientId !== undefined) return toKnownClient(parts, oauth.clientId);
      const { client } = await read();
      return isUsable(client, login) ? (client as OAuthClientInformationMixed) : undefined;
    },
    ...(oauth.clientId === undefined
      ? { saveClientInformation: (client) => write({ client: toJson(client) }) }
      : {}),
    tokens: readTokens,
    async saveTokens(tokens) {
      savedAtMs = performance.now();
      await write({ tokens: toJson(tokens) });
    },
    async redirectToAuthorization(url) {
      if (!login) throw needsLogin(server.name);
      await login.show(url);
    },
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    async invalidateCredentials(scope) {
      if (scope === "tokens" && performance.now() - savedAtMs < FRESH_MS) return;
      if (scope === "all" || scope === "tokens") await write({ tokens: undefined });
      if (scope === "all" || scope === "client") await write({ client: undefined });
    },
  };
}

function toMetadata({ reach, version, login }: OAuthParts): OAuthClientProvider["clientMetadata"] {
  const { scope } = reach.oauth;
  return {
    client_name: "Offshoot",
    software_version: version,
    redirect_uris: login ? [login.redirectUrl] : [],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    ...(scope === undefined ? {} : { scope }),
  };
}

function toKnownClient(
  { server, reach, env }: OAuthParts,
  client_id: string,
): OAuthClientInformationMixed {
  const { clientSecret } = reach.oauth;
  if (clientSecret === undefined) return { client_id };
  return { client_id, ...expandAll(server.name, { client_secret: clientSecret }, env) };
}

/** A registration names the address to which a login returns, so it is useless for another one. */
function isUsable(client: unknown, login: Login | undefined): boolean {
  if (!isJsonObject(client)) return false;
  const uris = client["redirect_uris"];
  return !login || (Array.isArray(uris) && uris.includes(login.redirectUrl));
}

function toJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
