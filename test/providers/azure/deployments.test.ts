import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isVersioned, toDeploymentBase } from "../../../src/providers/azure/deployments.ts";
import { joinUrl } from "../../../src/providers/http/http-provider.ts";

const QUERY = "?api-version=2024-10-21";
const HOST = "https://me.openai.azure.com";
const CHAT = `${HOST}/openai/deployments/old/chat/completions${QUERY}`;

describe("an address of Azure with a dated version", () => {
  for (const given of [
    `${HOST}/openai/deployments/old/chat/completions${QUERY}`,
    `${HOST}/openai/deployments/old${QUERY}`,
    `${HOST}/openai/deployments/old/${QUERY}`,
    `${HOST}/openai${QUERY}`,
    // The form of a bare host in `AZURE_OPENAI_ENDPOINT` when it arrives here.
    `${HOST}/openai/v1${QUERY}`,
    `${HOST}/${QUERY}`,
  ]) {
    it(`asks the deployment for ${given}`, () => {
      assert.ok(isVersioned(given));
      const base = toDeploymentBase(given, "openai-chat", "old");
      assert.equal(joinUrl(base, "/chat/completions"), CHAT);
    });
  }

  it("uses the deployment that the address names, not the model's name", () => {
    const base = toDeploymentBase(`${HOST}/openai/deployments/a${QUERY}`, "openai-chat", "b");
    assert.match(base, /\/deployments\/a\?/);
  });

  it("has one path for all deployments of the Responses API", () => {
    const base = toDeploymentBase(`${HOST}${QUERY}`, "openai-responses", "old");
    assert.equal(joinUrl(base, "/responses"), `${HOST}/openai/responses${QUERY}`);
  });

  it("differs from that of the v1 API, with or without its preview", () => {
    assert.equal(isVersioned(`${HOST}/openai/v1`), false);
    assert.equal(isVersioned(`${HOST}/openai/v1?api-version=preview`), false);
  });
});

describe("joinUrl", () => {
  it("keeps a query of the base after the path", () => {
    assert.equal(joinUrl("http://a/v1?k=1", "/m:go?alt=sse"), "http://a/v1/m:go?alt=sse&k=1");
  });
});
