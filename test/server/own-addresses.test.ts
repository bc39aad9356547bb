/** Addresses that only the vendor can read, through a whole server. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import {
  reply,
  respond,
  type Script,
  startBedrockUpstream,
  startGeminiUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

const AWS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };
const env = {
  GEMINI_API_KEY: "k",
  AWS_ACCESS_KEY_ID: AWS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: AWS.secretAccessKey,
  AWS_REGION: "us-east-1",
};

const STARTS: Readonly<
  Record<"gemini" | "bedrock", (options: { readonly engine: Script }) => Promise<Upstream>>
> = {
  gemini: startGeminiUpstream,
  bedrock: (options) => startBedrockUpstream({ ...options, callers: [AWS] }),
};

async function startFor(
  t: TestContext,
  provider: "gemini" | "bedrock",
  keyId: string | null = null,
): Promise<TestServer & { readonly vendor: Upstream }> {
  const engine = respond(() => reply.text("Seen."));
  const vendor = await STARTS[provider]({ engine });
  t.after(() => vendor.close());
  const usual = { model: `${provider}/m`, provider, url: vendor.url, api_key_name: null };
  const settings = { models: { named: [], usual } };
  const server = await startServer(t, engine, { settings, env, caller: { keyId } });
  return { ...server, vendor };
}

const show = (file_url: string): object => ({
  input: [{ role: "user", content: [{ type: "input_file", file_url }] }],
});

describe("what only the vendor can read", () => {
  const cases = [
    ["gemini", "https://youtu.be/abc", { mimeType: "video/mp4" }],
    ["gemini", "gs://bucket/a.pdf", { mimeType: "application/pdf" }],
    ["bedrock", "s3://bucket/a.pdf", { format: "pdf" }],
  ] as const;
  for (const [provider, url, told] of cases) {
    it(`goes to it by its address: ${url}`, async (t) => {
      const server = await startFor(t, provider);
      await server.create(show(url));
      const sent = JSON.stringify(server.vendor.requests.at(-1)?.body);
      assert.ok(sent.includes(JSON.stringify(url)), sent);
      assert.ok(sent.includes(JSON.stringify(told).slice(1, -1)), sent);
    });
  }

  it("is refused to a key whose operator did not name the bucket", async (t) => {
    const server = await startFor(t, "bedrock", "key_1");
    const { status, body } = await server.ask("POST", "/v1/responses", show("s3://bucket/a.pdf"));
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /web_private_hosts/);
    assert.equal(server.vendor.requests.length, 0);
  });
});
