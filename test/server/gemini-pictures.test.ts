/** A picture that the model draws itself, through a whole server and back. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, script, startGeminiUpstream } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";

const PART = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };

describe("a picture of a model that draws", () => {
  it("is shown to the client, and told to the model again", async (t) => {
    const chunk = {
      candidates: [{ content: { role: "model", parts: [PART] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 },
    };
    const drawn = reply.raw(`data: ${JSON.stringify(chunk)}\n\n`);
    const engine = script(drawn, reply.text("A dot."));
    const upstream = await startGeminiUpstream({ engine });
    t.after(() => upstream.close());
    const model = "gemini/gemini-2.5-flash-image";
    const usual = { model, provider: "gemini", url: upstream.url, api_key_name: null };
    const settings = { models: { named: [], usual } };
    const env = { GEMINI_API_KEY: "k" };
    const server = await startServer(t, engine, { settings, env });
    const first = await server.create({ input: "Draw a dot." });
    const [item] = first.output as { type: string; result?: string; status?: string }[];
    assert.equal(item?.type, "image_generation_call");
    assert.equal(item?.result, PART.inlineData.data);
    assert.equal(item?.status, "completed");
    await server.create({ input: "What is it?", previous_response_id: first.id });
    const sent = upstream.requests.at(-1)?.body as { readonly contents?: readonly object[] };
    assert.deepEqual(sent.contents?.[1], { role: "model", parts: [PART] });
  });
});
