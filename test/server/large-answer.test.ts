/** An answer that is cut because of its size: what its response says it was and what it used. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { createGuardBench, type GuardBench, startGuarded } from "./guard/guard-fixture.ts";
import { readEvents } from "./server-fixture.ts";

const ENDLESS = "All work and no play makes a model a dull one. ".repeat(2000);

const LIMITS = { limits: { tokens_per_day: 1_000_000 } };
const MAX_BYTES = 20_000;

async function chargedTokens({ spending, clock }: GuardBench, keyId: string): Promise<number> {
  return (await spending.read(keyId, clock.now())).total.tokens;
}

describe("an answer that is larger than the server takes", () => {
  for (const store of [true, false]) {
    for (const stream of [true, false]) {
      const asked = `store: ${store}, stream: ${stream}`;
      it(`says so, and its usage is what the key was charged (${asked})`, async (t) => {
        const bench = createGuardBench();
        const engine = respond(() => reply.text(ENDLESS));
        const server = await startGuarded(t, bench, engine, { maxAnswerBytes: MAX_BYTES });
        const { token, key } = await bench.makeKey(LIMITS);
        const body = { input: "Hi", stream, store };
        const { status, text } = await server.send({ token, body });
        assert.equal(status, 200, text);
        const response = stream ? lastOf(text) : (JSON.parse(text) as EmittedResponse);
        const { error, usage, output, output_text } = response;
        assert.deepEqual([response.status, error?.code], ["failed", "server_error"]);
        assert.match(error?.message ?? "", /`max_answer_bytes`/);
        assert.ok(ENDLESS.startsWith(output_text) && output_text.length > 0);
        assert.deepEqual(
          output.map((item) => "status" in item && item.status),
          ["incomplete"],
        );
        const tokens = await chargedTokens(bench, key.id);
        // The question, and about a token for every four characters that came.
        assert.ok(tokens > output_text.length / 8, `${tokens} tokens`);
        assert.equal(usage?.total_tokens, tokens);
        if (!store) return;
        const path = `/v1/responses/${response.id}`;
        const kept = JSON.parse((await server.send({ token, method: "GET", path })).text);
        const { error: again, usage: counted, output_text: said } = kept as EmittedResponse;
        assert.deepEqual([again?.code, counted, said], ["server_error", usage, output_text]);
      });
    }

    it(`costs what it was asked where nothing of it can be read (store: ${store})`, async (t) => {
      const bench = createGuardBench();
      const url = await startPadding(t);
      const usual = { model: "custom/padded", provider: "openai-chat", url, api_key_name: null };
      const server = await startGuarded(
        t,
        bench,
        respond(() => reply.text("")),
        { maxAnswerBytes: MAX_BYTES, settings: { models: { named: [], usual } } },
      );
      const { token, key } = await bench.makeKey(LIMITS);
      const { status } = await server.send({ token, body: { input: "Hi", store } });
      assert.equal(status, 502);
      const tokens = await chargedTokens(bench, key.id);
      assert.ok(tokens > 0 && tokens < 100, `${tokens} tokens`);
    });
  }
});

function lastOf(text: string): EmittedResponse {
  const last = readEvents(text).at(-1);
  return last && "response" in last ? last.response : assert.fail(text.slice(-300));
}

/** A chat server whose answer comes after more spaces than anybody reads. */
async function startPadding(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`{${" ".repeat(2 * MAX_BYTES)}"choices":[]}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
