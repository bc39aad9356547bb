import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { ANYBODY, startServer } from "./server-fixture.ts";

describe("background responses that wait", () => {
  it("are begun in turn by tenant, in whatever order they came", async (t) => {
    const asked: string[] = [];
    const answers = respond((request) => {
      asked.push(JSON.stringify(request.items).match(/[ab]\d/)?.[0] ?? "");
      return reply.text("Done.");
    });
    const server = await startServer(t, answers, { settings: { maxBackground: 1 } });
    const { api, durable } = server.responses;
    const create = async (input: string): Promise<string> => {
      const caller = { ...ANYBODY, tenant: input.slice(0, 1) };
      return (await api.create({ input, background: true }, caller)).id;
    };
    const ids: string[] = [];
    for (const input of ["a1", "a2", "a3", "a4", "b1"]) ids.push(await create(input));
    for (const id of ids) await durable.result(toRunId(id));
    assert.deepEqual(asked.length, 5);
    assert.ok(asked.indexOf("b1") < asked.indexOf("a4"), asked.join(" "));
  });

  it("are limited for each tenant; one more is refused until one was cancelled", async (t) => {
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
    assert.match(error.message, /^2 background responses are already waiting/);
    await server.ask("POST", `/v1/responses/${ids[1]}/cancel`);
    assert.equal((await create()).status, 200);
    assert.equal((await create()).status, 429);
    // A run whose client waits is not in the queue.
    const { status } = await server.ask("POST", "/v1/responses/input_tokens", { input: "Hi" });
    assert.equal(status, 200);
    for (const { id } of await server.responses.durable.record.listRuns({ limit: 10 })) {
      await server.runtime.engine.cancel(id, { tree: true }).catch(() => {});
    }
  });
});
