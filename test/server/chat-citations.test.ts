/** Pages cited by an answer of Perplexity or OpenRouter, as clients of both APIs see them. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { type Said, startOpenUpstream } from "../open-upstream.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

const TEXT = "The sea is salty [2].";
const PAGES = [
  { url: "https://a.example/", title: "A" },
  { url: "https://b.example/", title: "B" },
];

const FORMS: Readonly<Record<string, Said>> = {
  "a list of results": { text: TEXT, more: { search_results: PAGES } },
  "a list of addresses": { text: TEXT, more: { citations: PAGES.map(({ url }) => url) } },
  "annotations of the message": {
    text: TEXT,
    message: {
      annotations: PAGES.map((page, at) => ({
        type: "url_citation",
        url_citation: { ...page, start_index: at * 17, end_index: at * 20 },
      })),
    },
  },
};

async function start(t: TestContext, said: Said): Promise<TestServer> {
  const vendor = await startOpenUpstream(() => said);
  t.after(() => vendor.close());
  const usual = { model: "custom/m", provider: "openai-chat", url: vendor.url, api_key_name: null };
  return await startServer(t, script(reply.text("")), {
    settings: { models: { named: [], usual } },
  });
}

describe("the pages that an answer cites", () => {
  for (const [name, said] of Object.entries(FORMS)) {
    it(`are citations of a response: ${name}`, async (t) => {
      const server = await start(t, said);
      for (const way of [{ store: false }, { store: true }]) {
        const { output } = await server.create({ input: "Hi", ...way });
        assert.deepEqual(citedIn(output), ["https://a.example/", "https://b.example/"]);
        const events = await server.stream({ input: "Hi", ...way });
        const added = events.filter(({ type }) => type === "response.output_text.annotation.added");
        assert.equal(added.length, 2, JSON.stringify(way));
      }
    });

    it(`are citations of a chat completion: ${name}`, async (t) => {
      const server = await start(t, said);
      const body = { messages: [{ role: "user", content: "Hi" }] };
      const plain = await server.ask("POST", "/v1/chat/completions", body);
      const streamed = { ...body, stream: true };
      const { body: text } = await server.ask("POST", "/v1/chat/completions", streamed);
      for (const told of [JSON.stringify(plain.body), String(text)]) {
        const cited = [...told.matchAll(/"url_citation":\{"url":"([^"]+)"/g)].map(([, url]) => url);
        assert.deepEqual(cited, ["https://a.example/", "https://b.example/"]);
      }
    });
  }
});

function citedIn(output: readonly object[]): string[] {
  const text = JSON.stringify(output);
  return [...text.matchAll(/"type":"url_citation","url":"([^"]+)"/g)].map(([, url]) => url ?? "");
}
