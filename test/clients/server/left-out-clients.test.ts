/** Our own field that names left-out parameters: clients that validate their input accept it. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { reply, respond } from "../../../src/testing/index.ts";
import { startServer } from "../../server/server-fixture.ts";

/** A published parameter that a chat server does not support. */
const LOST = { prompt_cache_key: "k" };
const OWN = { ignored: ["prompt_cache_key"] };
const metadata = { who: "me" };

async function start(t: TestContext) {
  const server = await startServer(
    t,
    respond(() => reply.text("Yes.")),
  );
  const baseURL = `${server.url}/v1`;
  const bodies: Promise<string>[] = [];
  const watched: typeof fetch = async (...asked) => {
    const answer = await fetch(...asked);
    bodies.push(answer.clone().text());
    return answer;
  };
  return {
    official: new OpenAI({ baseURL, apiKey: "key", maxRetries: 0 }),
    vercel: createOpenAI({ baseURL, apiKey: "key", fetch: watched }),
    bodies,
  };
}

describe("left-out parameters, for the official client", () => {
  it("are beside the metadata of a response, plain and streamed", async (t) => {
    const { official } = await start(t);
    const asked = { model: "m", input: "Hi", metadata, ...LOST };
    const plain = await official.responses.create(asked);
    const streamed = await official.responses.stream(asked).finalResponse();
    for (const response of [plain, streamed]) {
      assert.equal(response.output_text, "Yes.");
      assert.deepEqual(response.metadata, metadata);
      assert.deepEqual((response as { offshoot?: object }).offshoot, OWN);
    }
  });

  it("are in a chat completion and in its stream", async (t) => {
    const { official } = await start(t);
    const messages = [{ role: "user" as const, content: "Hi" }];
    const asked = { model: "m", messages, metadata, ...LOST };
    const plain = await official.chat.completions.create(asked);
    assert.deepEqual((plain as { offshoot?: object }).offshoot, OWN);
    assert.deepEqual((plain as { metadata?: object }).metadata, metadata);
    const streamed = await official.chat.completions.stream(asked).finalChatCompletion();
    assert.equal(streamed.choices[0]?.message.content, "Yes.");
  });
});

describe("left-out parameters, for the AI SDK", () => {
  const providerOptions = { openai: { promptCacheKey: "k" } };

  for (const api of ["responses", "chat"] as const) {
    it(`do not disturb it: ${api}`, async (t) => {
      const { vercel, bodies } = await start(t);
      const asked = { model: vercel[api]("m"), prompt: "Hi", maxRetries: 0, providerOptions };
      assert.equal((await generateText(asked)).text, "Yes.");
      assert.equal(await streamText(asked).text, "Yes.");
      assert.equal(bodies.length, 2);
      for (const body of bodies)
        assert.ok((await body).includes(`"offshoot":${JSON.stringify(OWN)}`));
    });
  }
});
