import assert from "node:assert/strict";
import { createVerify, generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { CloudSign } from "../../../src/providers/http/http-provider.ts";
import { createGoogleSign } from "../../../src/providers/vendors/google-auth.ts";
import { vertexBaseUrl } from "../../../src/providers/vendors/google-cloud.ts";
import { createManualClock } from "../../../src/testing/index.ts";
import { patience } from "../../patience.ts";

interface TokenRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly form: URLSearchParams;
}

/** A server of tokens: `token-1`, `token-2`, each valid for `expiresIn` seconds. */
async function startTokenServer({ expiresIn = 3600, status = 200 } = {}) {
  const requests: TokenRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
    const count = requests.push({ path: request.url ?? "", headers: request.headers, form });
    const token = { access_token: `token-${count}`, expires_in: expiresIn, token_type: "Bearer" };
    const refused = { error: "invalid_grant", error_description: "Bad Request" };
    response
      .writeHead(status, { "content-type": "application/json", "metadata-flavor": "Google" })
      .end(JSON.stringify(status === 200 ? token : refused));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const sign = (createdSign: CloudSign, signal = patience()) =>
  createdSign({
    method: "POST",
    url: "https://x.googleapis.com/v1",
    headers: {},
    body: "",
    signal,
  });

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

describe("signing for Google Cloud", { concurrency: 8 }, () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "google-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function writeJson(name: string, json: JsonObject): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, JSON.stringify(json));
    return path;
  }

  const serviceAccount = (name: string, host: string) =>
    writeJson(name, {
      type: "service_account",
      client_email: "me@project.iam.gserviceaccount.com",
      private_key: privateKey,
      private_key_id: "k1",
      token_uri: `http://${host}/token`,
    });

  it("exchanges a service account's signed claim for a token, once for all requests", async () => {
    await using server = await startTokenServer();
    const path = await serviceAccount("service.json", server.host);
    const google = createGoogleSign({ GOOGLE_APPLICATION_CREDENTIALS: path });
    const headers = await Promise.all([sign(google), sign(google), sign(google)]);
    for (const { authorization } of [...headers, await sign(google)]) {
      assert.equal(authorization, "Bearer token-1");
    }
    assert.equal(server.requests.length, 1);
    const assertion = server.requests[0]?.form.get("assertion") ?? "";
    const [head = "", claims = "", signature = ""] = assertion.split(".");
    const verify = createVerify("RSA-SHA256").update(`${head}.${claims}`);
    assert.ok(verify.verify(publicKey, signature, "base64url"));
    const { aud, scope, iss } = JSON.parse(Buffer.from(claims, "base64url").toString("utf8"));
    assert.deepEqual(
      [aud, scope, iss],
      [
        `http://${server.host}/token`,
        "https://www.googleapis.com/auth/cloud-platform",
        "me@project.iam.gserviceaccount.com",
      ],
    );
  });

  it("fetches a new token minutes before the old one expires", async () => {
    await using server = await startTokenServer({ expiresIn: 200 });
    const path = await serviceAccount("short.json", server.host);
    const google = createGoogleSign({ GOOGLE_APPLICATION_CREDENTIALS: path });
    assert.equal((await sign(google))["authorization"], "Bearer token-1");
    assert.equal((await sign(google))["authorization"], "Bearer token-2");
  });

  it("uses the login of a person, found where gcloud puts it", async () => {
    await using server = await startTokenServer();
    await writeJson("application_default_credentials.json", {
      type: "authorized_user",
      client_id: "id",
      client_secret: "secret",
      refresh_token: "refresh",
      quota_project_id: "paying",
      token_uri: `http://${server.host}/token`,
    });
    const headers = await sign(createGoogleSign({ CLOUDSDK_CONFIG: folder }));
    assert.equal(headers["authorization"], "Bearer token-1");
    assert.equal(headers["x-goog-user-project"], "paying");
    assert.equal(server.requests[0]?.form.get("refresh_token"), "refresh");
  });

  it("uses a workload identity", async () => {
    await using server = await startTokenServer();
    const token = join(folder, "subject");
    await writeFile(token, "subject-token");
    const path = await writeJson("workload.json", {
      type: "external_account",
      audience:
        "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `http://${server.host}/sts`,
      credential_source: { file: token },
    });
    const headers = await sign(createGoogleSign({ GOOGLE_APPLICATION_CREDENTIALS: path }));
    assert.equal(headers["authorization"], "Bearer token-1");
    assert.equal(server.requests[0]?.form.get("subject_token"), "subject-token");
  });

  it("asks the metadata server, and again before the token expires", async () => {
    await using server = await startTokenServer();
    const clock = createManualClock();
    const google = createGoogleSign({ GCE_METADATA_HOST: server.host }, clock);
    assert.equal((await sign(google))["authorization"], "Bearer token-1");
    assert.equal((await sign(google))["authorization"], "Bearer token-1");
    assert.equal(server.requests[0]?.headers["metadata-flavor"], "Google");
    await clock.advance(3400 * 1000);
    const later = await Promise.all([sign(google), sign(google)]);
    assert.deepEqual(
      later.map(({ authorization }) => authorization),
      ["Bearer token-2", "Bearer token-2"],
    );
  });

  it("names the sources that it tried if there is none, and tries again", async () => {
    const server = await startTokenServer();
    await server[Symbol.asyncDispose]();
    const home = join(folder, "nobody");
    const google = createGoogleSign({ HOME: home, GCE_METADATA_HOST: server.host });
    for (const _ of [1, 2]) {
      await assert.rejects(sign(google), (thrown) => {
        assert.ok(thrown instanceof Failure && thrown.code === "key_missing");
        for (const place of ["GOOGLE_APPLICATION_CREDENTIALS", home, server.host]) {
          assert.ok(thrown.message.includes(place), thrown.message);
        }
        return true;
      });
    }
  });

  it("reports which file is missing or has no credentials", async () => {
    const env = { GOOGLE_APPLICATION_CREDENTIALS: join(folder, "absent.json") };
    await assert.rejects(sign(createGoogleSign(env)), { code: "key_missing" });
    const path = await writeJson("empty.json", { type: "service_account" });
    await assert.rejects(sign(createGoogleSign({ GOOGLE_APPLICATION_CREDENTIALS: path })), {
      code: "invalid_request",
      message: /empty\.json.*client_email/,
    });
  });

  it("reports that Google refused the credentials", async () => {
    await using server = await startTokenServer({ status: 400 });
    const path = await serviceAccount("refused.json", server.host);
    const google = createGoogleSign({ GOOGLE_APPLICATION_CREDENTIALS: path });
    await assert.rejects(sign(google), {
      code: "provider_unauthorized",
      message: /refused\.json.*invalid_grant/,
    });
  });

  it("stops waiting if the run is cancelled", async () => {
    await using server = await startTokenServer();
    const google = createGoogleSign({ GCE_METADATA_HOST: server.host });
    await assert.rejects(sign(google, AbortSignal.abort()), { code: "cancelled" });
  });
});

describe("the address of Vertex AI", () => {
  const hosts = [
    ["us-east5", "us-east5-aiplatform.googleapis.com"],
    ["global", "aiplatform.googleapis.com"],
    ["eu", "aiplatform.eu.rep.googleapis.com"],
  ] as const;
  for (const [location, host] of hosts) {
    it(`is that of the region: ${location}`, () => {
      assert.equal(
        vertexBaseUrl({ GOOGLE_CLOUD_PROJECT: "p1", GOOGLE_CLOUD_LOCATION: location }),
        `https://${host}/v1/projects/p1/locations/${location}`,
      );
    });
  }

  it("is the global one by default", () => {
    assert.match(vertexBaseUrl({ ANTHROPIC_VERTEX_PROJECT_ID: "p1" }), /locations\/global$/);
  });

  it("needs a project, and names the variables", () => {
    assert.throws(() => vertexBaseUrl({}), {
      code: "key_missing",
      message: /GOOGLE_CLOUD_PROJECT/,
    });
  });

  it("refuses an invalid region", () => {
    const env = { GOOGLE_CLOUD_PROJECT: "p1", GOOGLE_CLOUD_LOCATION: "evil.example.com/" };
    assert.throws(() => vertexBaseUrl(env), { code: "invalid_request" });
  });
});
