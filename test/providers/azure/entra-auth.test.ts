/** Tokens of Entra ID: their sources, how long they are kept, and the message if there is none. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createEntraSign } from "../../../src/providers/azure/entra-auth.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { createManualClock } from "../../../src/testing/index.ts";
import { patience } from "../../patience.ts";
import { createSandbox, put } from "../../runtime/sandbox.ts";
import { ASSERTION, SECRET, startTokenServer, type TokenServer } from "./entra-fixture.ts";

const transport = createTransport({});
after(() => transport.close());

type Sign = ReturnType<typeof createEntraSign>;

const sign = (
  made: Sign,
  { url = "https://me.openai.azure.com/openai/v1", signal = patience() } = {},
) =>
  made({
    ...({ method: "POST", url, headers: {}, body: "{}", signal } as const),
    transport: async () => transport,
  });

const tokenOf = ({ authorization = "" }: Readonly<Record<string, string>>): string =>
  authorization.replace(/^Bearer /, "");

const bySecret = ({ origin }: TokenServer): Record<string, string> => ({
  AZURE_AUTHORITY_HOST: `${origin}/`,
  AZURE_TENANT_ID: "tenant-1",
  AZURE_CLIENT_ID: "client-1",
  AZURE_CLIENT_SECRET: SECRET,
});

describe("a token of Entra ID", () => {
  it("is asked for with a client secret", async () => {
    await using server = await startTokenServer();
    const headers = await sign(createEntraSign(bySecret(server)));
    assert.deepEqual(headers, { authorization: `Bearer ${server.given[0]}` });
  });

  it("is asked for with a workload's assertion, which is read again for each", async (t) => {
    await using server = await startTokenServer({ lifeSeconds: 60 });
    const file = `${createSandbox(t).home}/assertion`;
    put(file, "an old one");
    const { AZURE_CLIENT_SECRET: _, ...env } = bySecret(server);
    const clock = createManualClock();
    const made = createEntraSign({ ...env, AZURE_FEDERATED_TOKEN_FILE: file }, clock);
    await assert.rejects(sign(made), { code: "provider_unauthorized" });
    put(file, `${ASSERTION}\n`);
    assert.equal(tokenOf(await sign(made)), server.given[0]);
    assert.match(server.requests[1]?.form.get("client_assertion_type") ?? "", /jwt-bearer$/);
  });

  it("is that of the app service's identity, without the environment's proxies", async () => {
    await using server = await startTokenServer();
    const env = {
      // The loopback by its usual names never goes through a proxy.
      IDENTITY_ENDPOINT: `${server.origin.replace("127.0.0.1", "0.0.0.0")}/msi/token`,
      IDENTITY_HEADER: "header-0123456789",
      AZURE_CLIENT_ID: "client-2",
      http_proxy: "http://127.0.0.1:9",
    };
    assert.equal(tokenOf(await sign(createEntraSign(env))), server.given[0]);
    assert.equal(server.requests[0]?.query.get("client_id"), "client-2");
  });

  it("is that of the machine's identity if the environment names no source", async () => {
    await using server = await startTokenServer();
    const env = { AZURE_POD_IDENTITY_AUTHORITY_HOST: server.origin };
    assert.equal(tokenOf(await sign(createEntraSign(env))), server.given[0]);
    assert.equal(server.requests[0]?.query.has("client_id"), false);
  });

  it("is fetched once for parallel requests, and again shortly before it expires", async () => {
    const clock = createManualClock();
    await using server = await startTokenServer({ nowMs: () => clock.now() });
    const made = createEntraSign(bySecret(server), clock);
    const asked = await Promise.all([sign(made), sign(made), sign(made)]);
    assert.deepEqual(new Set(asked.map(tokenOf)), new Set([server.given[0]]));
    await clock.advance(54 * 60_000);
    assert.equal(tokenOf(await sign(made)), server.given[0]);
    assert.equal(server.requests.length, 1);
    await clock.advance(2 * 60_000);
    const renewed = await Promise.all([sign(made), sign(made)]);
    assert.deepEqual(renewed.map(tokenOf), [server.given[1], server.given[1]]);
    assert.equal(server.requests.length, 2);
  });

  it("is used until it expires if there is no new one", async () => {
    const clock = createManualClock();
    await using server = await startTokenServer();
    const made = createEntraSign(bySecret(server), clock);
    await sign(made);
    server.refuse(503, {});
    await clock.advance(58 * 60_000);
    assert.equal(tokenOf(await sign(made)), server.given[0]);
    await clock.advance(3 * 60_000);
    await assert.rejects(sign(made), { code: "provider_unreachable" });
  });

  it("has another scope for each national cloud, or that of `AZURE_SCOPE`", async () => {
    await using server = await startTokenServer();
    const scopes = async (env: Record<string, string>, url: string): Promise<string | null> => {
      await sign(createEntraSign({ ...bySecret(server), ...env }), { url }).catch(() => {});
      return server.requests.at(-1)?.form.get("scope") ?? null;
    };
    const gov = "https://me.openai.azure.us/openai/v1";
    assert.equal(await scopes({}, gov), "https://cognitiveservices.azure.us/.default");
    const own = { AZURE_SCOPE: "api://gateway/.default" };
    assert.equal(await scopes(own, "https://gate.example/v1"), "api://gateway/.default");
  });

  it("is waited for no longer than the run lasts, and is then there for the next", async () => {
    await using server = await startTokenServer();
    const made = createEntraSign(bySecret(server));
    const controller = new AbortController();
    const left = sign(made, { signal: controller.signal });
    controller.abort();
    await assert.rejects(left, { code: "cancelled" });
    assert.equal(tokenOf(await sign(made)), server.given[0]);
    assert.equal(server.requests.length, 1);
  });
});

describe("no token of Entra ID", () => {
  it("is reported in one line, with its reason and without the secret", async () => {
    await using server = await startTokenServer();
    server.refuse(401, {
      error: "invalid_client",
      error_description: `AADSTS7000215: Invalid client secret ${SECRET}.\r\nTrace ID: 1`,
    });
    await assert.rejects(sign(createEntraSign(bySecret(server))), (thrown: Error) => {
      assert.equal((thrown as { code?: string }).code, "provider_unauthorized");
      assert.match(thrown.message, /^Entra ID gives no token: AADSTS7000215: Invalid/);
      return !/0123456789|Trace|\n/.test(thrown.message);
    });
  });

  it("is never replaced by another identity: only the source in the environment is used", async () => {
    await using server = await startTokenServer();
    const env = { ...bySecret(server), AZURE_POD_IDENTITY_AUTHORITY_HOST: server.origin };
    await assert.rejects(sign(createEntraSign({ ...env, AZURE_CLIENT_SECRET: "wrong" })), {
      code: "provider_unauthorized",
    });
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ["/tenant-1/oauth2/v2.0/token"],
    );
  });

  it("is a retryable failure if the service is down", async () => {
    await using server = await startTokenServer();
    server.refuse(503, {});
    await assert.rejects(sign(createEntraSign(bySecret(server))), {
      code: "provider_unreachable",
      message: "Entra ID gives no token: status 503",
    });
  });

  it("names the sources that were tried if there is none", async () => {
    await using server = await startTokenServer();
    server.refuse(404, {});
    const env = {
      AZURE_POD_IDENTITY_AUTHORITY_HOST: server.origin,
      AZURE_TOKEN_CREDENTIALS: "prod",
    };
    await assert.rejects(sign(createEntraSign(env)), {
      code: "key_missing",
      message:
        /^Azure needs a key in `AZURE_OPENAI_API_KEY`, or an identity.*status 404.*`az login`/,
    });
  });

  it("sends no secret without TLS, except to this machine", async () => {
    await using server = await startTokenServer();
    const env = { ...bySecret(server), AZURE_AUTHORITY_HOST: "http://login.example" };
    await assert.rejects(
      sign(createEntraSign(env)),
      /`http:\/\/login\.example` is not an https URL/,
    );
  });
});
