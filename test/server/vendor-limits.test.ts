/** Requests with more than their vendor takes: refused in the words of each API, before anything is sent. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { type OpenUpstream, startOpenUpstream } from "../open-upstream.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

interface World {
  readonly server: TestServer;
  readonly vendor: OpenUpstream;
}

async function start(t: TestContext, model: string): Promise<World> {
  const vendor = await startOpenUpstream();
  t.after(() => vendor.close());
  const usual = { model, provider: "openai-chat", url: vendor.url, api_key_name: null };
  const settings = { models: { named: [], usual } };
  return { vendor, server: await startServer(t, script(reply.text("")), { settings }) };
}

const STOPS = ["a", "b", "c", "d", "e"];
/** Clients of the Messages API use up to 128 characters, and some vendors take no more than 64. */
const LONG = `tool_${"x".repeat(70)}`;
const TOO_LONG = `tool_${"x".repeat(130)}`;
const schema = { type: "object", properties: {} };
const hears = { messages: [{ role: "user", content: "Hi" }] };

interface Door {
  readonly path: string;
  readonly stops: (stops: readonly string[]) => object;
  readonly tools: (name: string) => object;
  /** The field at fault, in the words of this API. */
  readonly stopField: RegExp;
}

const DOORS: readonly Door[] = [
  {
    path: "/v1/messages",
    stops: (stop_sequences) => ({ ...hears, max_tokens: 9, stop_sequences }),
    tools: (name) => ({ ...hears, max_tokens: 9, tools: [{ name, input_schema: schema }] }),
    stopField: /"invalid_request_error","message":"stop_sequences: 5 stop sequences are too many/,
  },
  {
    path: "/v1/chat/completions",
    stops: (stop) => ({ ...hears, stop }),
    tools: (name) => ({
      ...{ ...hears, tools: [{ type: "function", function: { name, parameters: schema } }] },
    }),
    stopField: /5 stop sequences are too many.*"param":"stop"/,
  },
  {
    path: "/v1/responses",
    stops: (stop) => ({ input: "Hi", stop }),
    tools: (name) => ({ input: "Hi", tools: [{ type: "function", name, parameters: schema }] }),
    stopField: /5 stop sequences are too many.*"param":"stop"/,
  },
];

const WAYS = [
  { stream: false, store: false },
  { stream: true, store: false },
  { stream: false, store: true },
  { stream: true, store: true },
];

for (const { path, stops, tools, stopField } of DOORS) {
  describe(`${path} in front of a vendor with limits`, () => {
    it("refuses more stop sequences than the vendor takes, and sends as many", async (t) => {
      const { server, vendor } = await start(t, "openai/gpt-4.1");
      for (const way of WAYS) {
        const refused = await server.ask("POST", path, { ...stops(STOPS), ...way });
        assert.equal(refused.status, 400, JSON.stringify(refused.body));
        assert.match(JSON.stringify(refused.body), stopField);
        assert.match(JSON.stringify(refused.body), /openai takes 4 at most/);
      }
      assert.equal(vendor.sent.length, 0);
      const taken = await server.ask("POST", path, stops(STOPS.slice(1)));
      assert.equal(taken.status, 200, JSON.stringify(taken.body));
      assert.deepEqual(vendor.sent[0]?.body["stop"], STOPS.slice(1));
    });

    it("sends all of them to a server without a known limit", async (t) => {
      const { server, vendor } = await start(t, "custom/m");
      assert.equal((await server.ask("POST", path, stops(STOPS))).status, 200);
      assert.deepEqual(vendor.sent[0]?.body["stop"], STOPS);
    });

    it("sends no name of a tool that is too long for the vendor", async (t) => {
      const { server, vendor } = await start(t, "openai/gpt-4.1");
      for (const way of WAYS) {
        const isShortened = path === "/v1/messages";
        const asked = tools(isShortened ? LONG : TOO_LONG);
        const { status, body } = await server.ask("POST", path, { ...asked, ...way });
        assert.equal(status, isShortened ? 200 : 400, JSON.stringify(body));
        if (isShortened) continue;
        assert.match(JSON.stringify(body), /has 135 characters; openai takes 128 at most/);
      }
      assert.doesNotMatch(JSON.stringify(vendor.sent), new RegExp(LONG));
      if (path !== "/v1/messages") assert.equal(vendor.sent.length, 0);
    });
  });
}
