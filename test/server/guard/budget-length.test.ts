/** The length that a budget pays for, sent to a server with an unknown window. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { reply, script } from "../../../src/testing/index.ts";
import { type OpenUpstream, type Said, startOpenUpstream } from "../../open-upstream.ts";
import { startServer, type TestServer } from "../server-fixture.ts";

const WINDOW = 4096;

/** As vLLM: the question and the longest answer must fit in the window together. */
function refuseLong({ max_tokens = 0 }: JsonObject): Said {
  if (Number(max_tokens) < WINDOW) return {};
  const refusal = `This model's maximum context length is ${WINDOW} tokens, and ${max_tokens} were requested.`;
  return { refusal };
}

/** As OpenAI, which names the field. */
function refuseField({ max_tokens = 0 }: JsonObject): Said {
  return Number(max_tokens) < WINDOW ? {} : { refusal: "max_tokens is too large" };
}

interface World extends TestServer {
  readonly vendor: OpenUpstream;
}

async function start(t: TestContext, say: (body: JsonObject) => Said): Promise<World> {
  const vendor = await startOpenUpstream(say);
  t.after(() => vendor.close());
  const usual = { model: "custom/m", provider: "openai-chat", url: vendor.url, api_key_name: null };
  const settings = { models: { named: [], usual } };
  const caller = { limits: { ...NO_LIMITS, tokens: 1_000_000 } };
  const server = await startServer(t, script(reply.text("")), { settings, caller });
  return { ...server, vendor };
}

const WAYS = [{ store: false }, { store: true }, { store: true, truncation: "auto" }] as const;

describe("the length that a budget pays for", () => {
  for (const say of [refuseLong, refuseField]) {
    it(`is left out where the server does not take it (${say.name})`, async (t) => {
      const { create, vendor } = await start(t, say);
      for (const way of WAYS) {
        vendor.sent.length = 0;
        const made = await create({ input: "Hi", ...way });
        assert.equal(made.output_text, "Yes.");
        const lengths = vendor.sent.map(({ body }) => body["max_tokens"]);
        assert.ok(Number(lengths[0]) > WINDOW, JSON.stringify(lengths));
        assert.deepEqual(lengths.slice(1), [undefined], JSON.stringify(way));
      }
    });
  }

  it("is not left out where the client has asked for it, or the server refuses something else", async (t) => {
    const { ask, vendor } = await start(t, refuseField);
    const asked = { input: "Hi", store: false, max_output_tokens: 5000 };
    assert.equal((await ask("POST", "/v1/responses", asked)).status, 400);
    assert.equal(vendor.sent.length, 1);
    const other = await start(t, () => ({ refusal: "There is no zebra here." }));
    const refused = await other.ask("POST", "/v1/responses", { input: "Hi", store: false });
    assert.equal(refused.status, 400);
    assert.equal(other.vendor.sent.length, 1);
  });
});
