/** Google's own package as a client of the upstream, which accepts and sends what the real service does. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GoogleGenAI, type Part } from "@google/genai";
import { startGeminiUpstream } from "../../../src/testing/gemini-upstream.ts";
import type { Upstream } from "../../../src/testing/loopback.ts";
import { reply } from "../../../src/testing/reply.ts";
import { script } from "../../../src/testing/script.ts";

const READ = { functionDeclarations: [{ name: "read" }] };
const CALLS = reply.calls([
  { name: "read", arguments: { path: "a", lines: [1, 2] } },
  { name: "read", arguments: { path: "b" } },
]);

describe("gemini upstream and Google's package", () => {
  const clientOf = ({ url }: Upstream): GoogleGenAI =>
    new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url.replace("/v1beta", "") } });

  it("streams reasoning, text and calls, and accepts its history", async () => {
    const engine = script(reply.reasoning("Hm.", CALLS), reply.text("Both read."));
    await using upstream = await startGeminiUpstream({ engine, key: "k" });
    const chat = clientOf(upstream).chats.create({
      model: "gemini-3-flash",
      config: { tools: [READ], thinkingConfig: { includeThoughts: true } },
    });
    const parts: Part[] = [];
    for await (const event of await chat.sendMessageStream({ message: "Read." })) {
      parts.push(...(event.candidates?.[0]?.content?.parts ?? []));
    }
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    assert.deepEqual(
      calls.map(({ args }) => args),
      [{ path: "a", lines: [1, 2] }, { path: "b" }],
    );
    const message = calls.map(({ id, name }) => ({
      functionResponse: { ...(id && { id }), ...(name && { name }), response: { output: "text" } },
    }));
    let text = "";
    for await (const event of await chat.sendMessageStream({ message })) text += event.text ?? "";
    assert.equal(text, "Both read.");
  });

  it("returns a plain answer with its counts", async () => {
    const engine = script(reply.text("Hello, world!"));
    await using upstream = await startGeminiUpstream({ engine });
    const answer = await clientOf(upstream).models.generateContent({
      model: "gemini-2.5-flash",
      contents: "Hi",
    });
    assert.equal(answer.text, "Hello, world!");
    assert.ok((answer.usageMetadata?.totalTokenCount ?? 0) > 0);
  });

  it("continues a long answer by itself", async () => {
    const paused = { ...reply.text("Once upon "), ending: "pause" } as const;
    await using upstream = await startGeminiUpstream({
      engine: script(paused, reply.text("a time.")),
    });
    const stream = await clientOf(upstream).models.generateContentStream({
      model: "gemini-4-argon",
      contents: "Tell me.",
    });
    let text = "";
    for await (const event of stream) text += event.text ?? "";
    assert.equal(text, "Once upon a time.");
  });

  it("turns a refusal into the package's error", async () => {
    await using upstream = await startGeminiUpstream({ engine: script() });
    const call = clientOf(upstream).models.generateContent({
      model: "gemini-3-flash",
      contents: "Hi",
      config: { temperature: 3 },
    });
    await assert.rejects(call, { status: 400 });
  });
});
