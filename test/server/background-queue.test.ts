import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { startServer } from "./server-bench.ts";

describe("background responses that wait", () => {
  it("are so many of a tenant; one more is refused until one was cancelled", async (t) => {
    const settings = { maxBackground: 1, maxQueued: 2 };
    const silent = respond(() => reply.silence());
    const server = await startServer(t, silent, { settings });
    const create = () => server.ask("POST", "/v1/responses", { input: "Hi", background: true });
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const { status, body } = await create();
      assert.equal(status, 200);
      ids.push((body as { id: string }).id);
    }
    const full = await create();
    assert.equal(full.status, 429);
    const { error } = full.body as { error: { code: string; message: string } };
    assert.equal(error.code, "rate_limit_exceeded");
    assert.match(error.message, /^2 background responses wait already/);
    await server.ask("POST", `/v1/responses/${ids[1]}/cancel`);
    assert.equal((await create()).status, 200);
    assert.equal((await create()).status, 429);
    // What runs while its client waits is no matter of the queue.
    const { status } = await server.ask("POST", "/v1/responses/input_tokens", { input: "Hi" });
    assert.equal(status, 200);
    for (const { id } of await server.responses.durable.store.listRuns({ limit: 10 })) {
      await server.runtime.engine.cancel(id, { tree: true }).catch(() => {});
    }
  });
});
