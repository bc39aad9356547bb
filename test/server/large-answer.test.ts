/** An answer that is cut because of its size: what its response says it was and what it used. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { createGuardBench, startGuarded } from "./guard/guard-bench.ts";
import { readEvents } from "./server-bench.ts";

const ENDLESS = "All work and no play makes a model a dull one. ".repeat(2000);

describe("an answer that is larger than the server takes", () => {
  for (const store of [true, false]) {
    it(`says so, and its usage is what the key was charged (store: ${store})`, async (t) => {
      const bench = createGuardBench();
      const engine = respond(() => reply.text(ENDLESS));
      const server = await startGuarded(t, bench, engine, { maxAnswerBytes: 20_000 });
      const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 1_000_000 } });
      const { text } = await server.send({ token, body: { input: "Hi", stream: true, store } });
      const last = readEvents(text).at(-1);
      assert.ok(last?.type === "response.failed", last?.type);
      const { error, usage, output_text } = last.response;
      assert.equal(error?.code, "server_error");
      assert.ok(ENDLESS.startsWith(output_text) && output_text.length > 0);
      const { tokens } = (await bench.spending.read(key.id, bench.clock.now())).total;
      assert.ok(tokens > 100, `${tokens} tokens`);
      assert.equal(usage?.total_tokens, tokens);
      if (!store) return;
      const path = `/v1/responses/${last.response.id}`;
      const kept = JSON.parse((await server.send({ token, method: "GET", path })).text);
      const { error: again, usage: counted } = kept as EmittedResponse;
      assert.deepEqual([again?.code, counted], ["server_error", usage]);
    });
  }
});
