/** An MCP server that requires a login, with its authorization server, on the loopback. */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  InvalidGrantError,
  InvalidTokenError,
} from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import type { OAuthServerProvider } from "@modelcontextprotocol/sdk/server/auth/provider.js";
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

export interface OAuthServer extends AsyncDisposable {
  readonly url: string;
  /** Registrations, codes and refresh tokens that were used, in order. */
  readonly log: string[];
  /** Every access token that it got. */
  readonly seen: string[];
  /** Makes every access token expire. */
  expire(): void;
  /** Revokes the refresh tokens too. */
  revoke(): void;
}

interface Issued {
  readonly access: Set<string>;
  readonly refresh: Set<string>;
  readonly log: string[];
  readonly seen: string[];
}

export async function startOAuthServer(): Promise<OAuthServer> {
  const issued: Issued = { access: new Set(), refresh: new Set(), log: [], seen: [] };
  const app = createMcpExpressApp();
  const server = createServer(app);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuerUrl = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const url = new URL("/mcp", issuerUrl);
  const provider = createProvider(issued);
  // The SDK's limits are for the internet; a login in a test makes more requests in a second.
  const rateLimit = { rateLimit: false } as const;
  app.use(
    mcpAuthRouter({
      provider,
      issuerUrl,
      resourceServerUrl: url,
      scopesSupported: ["tools"],
      authorizationOptions: rateLimit,
      tokenOptions: rateLimit,
      clientRegistrationOptions: rateLimit,
    }),
  );
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
  app.post("/mcp", requireBearerAuth({ verifier: provider, resourceMetadataUrl }), serveMcp);
  return {
    url: url.href,
    log: issued.log,
    seen: issued.seen,
    expire: () => issued.access.clear(),
    revoke() {
      issued.access.clear();
      issued.refresh.clear();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The part of express's objects that is used here. */
interface Exchange {
  readonly body: unknown;
}

async function serveMcp(request: Exchange, response: unknown): Promise<void> {
  const server = new McpServer({ name: "guarded", version: "1" });
  server.registerTool("secret", { description: "Tells it." }, async () => ({
    content: [{ type: "text", text: "the secret" }],
  }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as never);
  await server.connect(transport as Transport);
  await transport.handleRequest(request as never, response as never, request.body);
}

/** Allows every login; codes and tokens are valid once. */
function createProvider({ access, refresh, log, seen }: Issued): OAuthServerProvider {
  const clients = new Map<string, never>();
  const challenges = new Map<string, string>();
  const issue = (): OAuthTokens => {
    const tokens = {
      access_token: `access-${randomUUID()}`,
      refresh_token: `refresh-${randomUUID()}`,
    };
    access.add(tokens.access_token);
    refresh.add(tokens.refresh_token);
    return { ...tokens, token_type: "bearer", expires_in: 3600 };
  };
  return {
    clientsStore: {
      getClient: (id) => clients.get(id),
      registerClient(client) {
        log.push("registered");
        const full = { ...client, client_id: randomUUID() };
        clients.set(full.client_id, full as never);
        return full;
      },
    },
    async authorize(_, { codeChallenge, redirectUri, state }, response) {
      const code = randomUUID();
      challenges.set(code, codeChallenge);
      const back = new URL(redirectUri);
      back.search = new URLSearchParams({ code, state: state ?? "" }).toString();
      response.redirect(back.href);
    },
    challengeForAuthorizationCode: async (_, code) => challenges.get(code) ?? "",
    async exchangeAuthorizationCode(_, code) {
      if (!challenges.delete(code)) throw new InvalidGrantError("unknown code");
      log.push("code");
      return issue();
    },
    async exchangeRefreshToken(_, token) {
      if (!refresh.delete(token)) throw new InvalidGrantError("unknown refresh token");
      log.push("refreshed");
      return issue();
    },
    async verifyAccessToken(token) {
      seen.push(token);
      if (!access.has(token)) throw new InvalidTokenError("unknown or old token");
      const expiresAt = Math.floor(performance.timeOrigin / 1000) + 86_400 * 365;
      return { token, clientId: "someone", scopes: ["tools"], expiresAt };
    },
  };
}
