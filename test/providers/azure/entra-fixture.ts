/** Stand-ins on the loopback for Entra ID and the identities of machines: they give tokens, and refuse. */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

interface TokenRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly form: URLSearchParams;
}

export interface TokenServer extends AsyncDisposable {
  readonly origin: string;
  readonly requests: readonly TokenRequest[];
  /** The tokens that it has given, oldest first. */
  readonly given: readonly string[];
  /** Makes it refuse every later request with this status and body. */
  refuse(status: number, body: object): void;
}

export const SECRET = "client-secret-0123456789";
export const ASSERTION = "federated-assertion-0123456789";

/** A token in the form of Entra ID's, whose content is never read. */
function makeToken(count: number): string {
  return `eyJ0eXAiOiJKV1Qi.eyJjb3VudCI6${count}abcdefgh.c2lnbmF0dXJl${count}`;
}

/** Each token is valid for `lifeSeconds` from `nowMs` on. */
export async function startTokenServer({
  lifeSeconds = 3600,
  nowMs = () => Date.now(),
} = {}): Promise<TokenServer> {
  const requests: TokenRequest[] = [];
  const given: string[] = [];
  let refusal: readonly [number, object] | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? "", "http://here");
    const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
    const asked = { path: url.pathname, query: url.searchParams, headers: request.headers, form };
    requests.push(asked);
    const [status, body] = refusal ?? [check(asked), {}];
    response.writeHead(status, { "content-type": "application/json" });
    if (status !== 200) return response.end(JSON.stringify(body));
    const access_token = makeToken(given.length + 1);
    given.push(access_token);
    // Machines send the time of the end, as text; Entra ID sends the number of seconds.
    const life =
      request.method === "GET"
        ? { expires_on: String(Math.floor(nowMs() / 1000) + lifeSeconds) }
        : { expires_in: lifeSeconds };
    return response.end(JSON.stringify({ token_type: "Bearer", access_token, ...life }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    given,
    refuse: (status, body) => {
      refusal = [status, body];
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const RESOURCE = "https://cognitiveservices.azure.com";

/** What each of the real endpoints expects; 404 elsewhere. */
const PLACES: Readonly<Record<string, (asked: TokenRequest) => boolean>> = {
  "/tenant-1/oauth2/v2.0/token": ({ form }) =>
    (form.get("client_secret") === SECRET || form.get("client_assertion") === ASSERTION) &&
    form.get("client_id") === "client-1" &&
    form.get("grant_type") === "client_credentials" &&
    form.get("scope") === `${RESOURCE}/.default`,
  "/msi/token": ({ query, headers }) =>
    query.get("api-version") === "2019-08-01" &&
    query.get("resource") === RESOURCE &&
    headers["x-identity-header"] === "header-0123456789",
  "/metadata/identity/oauth2/token": ({ query, headers }) =>
    query.get("api-version") === "2018-02-01" &&
    query.get("resource") === RESOURCE &&
    headers["metadata"] === "true",
};

function check(asked: TokenRequest): number {
  const isRight = PLACES[asked.path];
  if (!isRight) return 404;
  return isRight(asked) ? 200 : 400;
}
