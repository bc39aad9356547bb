/** The list of models of a server at a given address. */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { createTransport } from "../../../src/providers/http/transport.ts";
import {
  createUpstreamModels,
  type ListModels,
} from "../../../src/runtime/served-models/upstream-models.ts";
import { createManualClock } from "../../../src/testing/index.ts";

interface Listing {
  readonly list: ListModels;
  readonly asked: readonly IncomingMessage[];
  /** What the server answers from now on. */
  say(status: number, body: unknown): void;
  readonly clock: ReturnType<typeof createManualClock>;
}

async function start(t: TestContext): Promise<Listing> {
  const asked: IncomingMessage[] = [];
  let said: readonly [number, unknown] = [
    200,
    { data: [{ id: "up", created: 7, owned_by: "me" }] },
  ];
  const server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(said[0], { "content-type": "application/json" });
    response.end(JSON.stringify(said[1]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const transport = createTransport({});
  t.after(async () => {
    await transport.close();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const clock = createManualClock();
  const list = createUpstreamModels({
    server: {
      vendor: "custom",
      provider: null,
      api_key_name: "MINE",
      url: `http://127.0.0.1:${port}/v1/`,
    },
    transport: async () => transport,
    env: { MINE: "sk-1" },
    clock,
  });
  const say = (...next: readonly [number, unknown]): void => {
    said = next;
  };
  return { list, asked, clock, say };
}

const idsOf = (models: readonly { id: string }[]): string[] => models.map(({ id }) => id);

describe("the models of a server at a given address", () => {
  it("are asked for with its key, once for all callers within a minute", async (t) => {
    const { list, asked, clock, say } = await start(t);
    const [first] = await Promise.all([list(), list()]);
    assert.deepEqual(first, [{ id: "up", created: 7, owned_by: "me" }]);
    const [{ url, headers } = assert.fail()] = asked;
    assert.deepEqual([url, headers.authorization], ["/v1/models", "Bearer sk-1"]);
    say(200, { data: [{ id: "new/model" }, { id: 5 }, "odd"] });
    await list();
    assert.equal(asked.length, 1);
    clock.advance(60_000);
    assert.deepEqual(idsOf(await list()), ["new/model"]);
    assert.equal(asked.length, 2);
  });

  it("are its last list if it does not answer now", async (t) => {
    const { list, asked, clock, say } = await start(t);
    await list();
    say(500, {});
    clock.advance(60_000);
    assert.deepEqual(idsOf(await list()), ["up"]);
    assert.deepEqual(idsOf(await list()), ["up"]);
    assert.equal(asked.length, 2);
    say(200, { data: [] });
    clock.advance(5000);
    assert.deepEqual(await list(), []);
  });
});
