/** A deployment whose model's answers cannot be used: others answer, and it is asked again the next time. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Deployment } from "../../src/agent/task.ts";
import { createHealths } from "../../src/providers/deployments/health.ts";
import { script } from "../../src/testing/index.ts";
import { type OpenUpstream, type Said, startOpenUpstream } from "../open-upstream.ts";
import { startServer } from "./server-fixture.ts";

/** The name `fast`, whose first deployment says `said` and is asked first. */
async function deploy(t: TestContext, said: Said) {
  const healths = createHealths();
  const upstreams = [await startOpenUpstream(() => said), await startOpenUpstream()] as const;
  const toDeployment = (upstream: OpenUpstream, at: number): Deployment => {
    t.after(() => upstream.close());
    return {
      model: `custom/m${at}`,
      provider: "openai-chat",
      url: upstream.url,
      api_key_name: null,
      weight: 1,
      fallback: false,
    };
  };
  const deployments = upstreams.map(toDeployment);
  const { weight: _, fallback: __, ...target } = deployments[0] ?? assert.fail();
  const named = [["fast", { ...target, deployments }]] as const;
  const retry = { attempts: 1, baseMs: 0, maxMs: 0, maxRetryAfterMs: 0 };
  const server = await startServer(t, script(), {
    retry,
    random: () => 0,
    healths,
    settings: { models: { named, usual: undefined } },
  });
  const counts = () => upstreams.map(({ sent }) => sent.length);
  return { server, healths, counts };
}

const MANY = 5;

describe("a deployment whose model's answer cannot be used", () => {
  const forms: Readonly<Record<string, Said>> = {
    "asks for a tool and names none": { text: "", finish: "tool_calls" },
    "has a call without a name": {
      text: "",
      message: { tool_calls: [{ index: 0, function: {} }] },
    },
    "has a number where text belongs": { message: { content: 7 } },
    "is empty": { text: "" },
  };
  for (const [name, said] of Object.entries(forms)) {
    it(`is passed over and does not cool down: it ${name}`, async (t) => {
      const { server, healths, counts } = await deploy(t, said);
      for (const stream of [false, true]) {
        for (let count = 0; count < MANY; count++) {
          const body = { model: "fast", input: "Hi", store: false, stream };
          const { status, body: told } = await server.ask("POST", "/v1/responses", body);
          assert.equal(status, 200, JSON.stringify(told));
          assert.match(JSON.stringify(told), /Yes\./);
        }
      }
      assert.deepEqual(counts(), [2 * MANY, 2 * MANY]);
      for (const { isReady, failures } of healths.report()) {
        assert.deepEqual([isReady, failures], [true, 0]);
      }
    });
  }

  it("fails the response once it has said something, and does not cool down either", async (t) => {
    const { server, healths, counts } = await deploy(t, { text: "I look.", finish: "tool_calls" });
    for (let count = 0; count < MANY; count++) {
      const last = (await server.stream({ model: "fast", input: "Hi" })).at(-1);
      assert.ok(last?.type === "response.failed", JSON.stringify(last));
      assert.match(last.response.error?.message ?? "", /named no tool/);
    }
    assert.deepEqual(counts(), [MANY, 0]);
    assert.ok(healths.report().every(({ isReady }) => isReady));
  });
});
