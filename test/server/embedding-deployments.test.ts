/** Embeddings of names with several deployments, through a whole server. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Deployment } from "../../src/agent/task.ts";
import type { EmittedEmbeddings } from "../../src/protocol/embeddings.ts";
import { createHealths } from "../../src/providers/deployments/health.ts";
import type { UsedEmbeddings } from "../../src/responses/embeddings/embeddings-api.ts";
import {
  type EmbeddingsUpstreamOptions,
  startEmbeddingsUpstream,
} from "../../src/testing/embeddings-upstream.ts";
import { script } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

const ENV = { PATH: process.env["PATH"], OPENAI_API_KEY: "k" };

describe("embeddings of a name with several deployments", () => {
  const RETRY = { attempts: 1, baseMs: 0, maxMs: 0, maxRetryAfterMs: 0 };
  const broken = () => ({ status: 503, body: { error: { message: "down" } } });

  /** The name `near`: two servers of one model, then one of another model. */
  async function startSeveral(
    t: TestContext,
    options: readonly EmbeddingsUpstreamOptions[],
    models = ["custom/bge-m3", "vllm/BAAI/bge-m3", "openai/text-embedding-3-small"],
  ) {
    const vendors = await Promise.all(options.map((one) => startEmbeddingsUpstream(one)));
    t.after(() => Promise.all(vendors.map((vendor) => vendor.close())));
    const deployments = vendors.map((vendor, at): Deployment => {
      const place = { provider: null, url: `${vendor.url}/v1`, api_key_name: null };
      return { model: models[at] ?? "", ...place, weight: 1, fallback: at > 1 };
    });
    const { weight: _, fallback: __, ...target } = deployments[0] ?? assert.fail("no deployment");
    const named = [["near", { ...target, deployments }]] as const;
    const used: UsedEmbeddings[] = [];
    const healths = createHealths();
    const server = await startServer(t, script(), {
      retry: RETRY,
      random: () => 0,
      healths,
      env: ENV,
      settings: {
        models: { named, usual: undefined },
        observeEmbeddings: (_id, one) => void used.push(one),
      },
    });
    const embed = (input = "ab") => server.ask("POST", "/v1/embeddings", { model: "near", input });
    const counts = () => vendors.map(({ requests }) => requests.length);
    return { embed, counts, used, healths };
  }

  it("come from the next one when the first is down, which then cools down", async (t) => {
    const { embed, counts, used, healths } = await startSeveral(t, [{ fail: broken }, {}]);
    for (let count = 0; count < 5; count++) {
      const { status, body } = await embed();
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual((body as EmittedEmbeddings).data[0]?.embedding, [2.5, 97.5]);
    }
    assert.deepEqual(counts(), [3, 5]);
    assert.equal(healths.report().filter(({ isReady }) => !isReady).length, 1);
    assert.equal(used.length, 5, "each request is counted once");
  });

  it("are never made by another model: its vectors would fit no others", async (t) => {
    const { embed, counts } = await startSeveral(t, [{ fail: broken }, { fail: broken }, {}]);
    const { status, body } = await embed();
    assert.equal(status, 429, JSON.stringify(body));
    assert.deepEqual(counts(), [1, 1, 0]);
  });

  it("are not asked for again when the request is at fault", async (t) => {
    const refused = { fail: () => ({ status: 400, body: { error: { message: "No." } } }) };
    const { embed, counts } = await startSeveral(t, [refused, {}]);
    assert.equal((await embed()).status, 400);
    assert.deepEqual(counts(), [1, 0]);
  });

  it("cost what the one takes that answered", async (t) => {
    const models = ["openai/text-embedding-3-small", "custom/text-embedding-3-small"];
    const first = await startSeveral(t, [{}, {}], models);
    await first.embed();
    const second = await startSeveral(t, [{ fail: broken }, {}], models);
    await second.embed();
    assert.ok((first.used[0]?.cost_usd ?? 0) > 0);
    // A server on this machine is free.
    assert.equal(second.used[0]?.cost_usd, 0);
  });
});
