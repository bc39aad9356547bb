import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createHttpProvider } from "../../../src/providers/http/http-provider.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import {
  readServerProps,
  toServerProps,
  waitForServer,
} from "../../../src/providers/llamacpp/server.ts";
import { llamacppWire } from "../../../src/providers/llamacpp/wire.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import { startLlamacppUpstream } from "../../../src/testing/llamacpp-upstream.ts";
import { reply } from "../../../src/testing/reply.ts";
import { script } from "../../../src/testing/script.ts";
import { patience } from "../../patience.ts";
import { eventsOf, request, textOf } from "../provider-contract.ts";

const transport = createTransport({});
after(() => transport.close());
/** Created for each test, because a limit counts from its creation. */
const limit = (): AbortSignal => patience();

describe("the properties of a llama-server", () => {
  it("name its model and the length of a conversation, with and without the `/v1`", async () => {
    await using upstream = await startLlamacppUpstream({
      contextTokens: 8192,
      modelPath: "/models/qwen3-8b.gguf",
    });
    const origin = upstream.url.replace(/\/v1$/, "");
    for (const url of [upstream.url, origin, `${origin}/`, `${origin}/v1/chat/completions`]) {
      assert.deepEqual(await readServerProps(transport, url, limit()), {
        contextTokens: 8192,
        modelName: "qwen3-8b.gguf",
        modelPath: "/models/qwen3-8b.gguf",
        chatTemplate: "{% for message in messages %}{{ message.content }}{% endfor %}",
        hasVision: false,
        isReady: true,
      });
    }
  });

  it("are missing while the model loads", async () => {
    await using upstream = await startLlamacppUpstream({ loading: 1 });
    assert.equal((await readServerProps(transport, upstream.url, limit())).isReady, false);
    assert.equal((await readServerProps(transport, upstream.url, limit())).isReady, true);
  });

  it("are refused without the key", async () => {
    await using upstream = await startLlamacppUpstream({ key: "k" });
    await assert.rejects(readServerProps(transport, upstream.url, limit()), {
      code: "provider_unauthorized",
    });
    const headers = { authorization: "Bearer k" };
    assert.ok((await readServerProps(transport, upstream.url, limit(), headers)).isReady);
  });

  it("are read in the forms of all versions", () => {
    assert.equal(toServerProps({ n_ctx: 2048 }).contextTokens, 2048);
    assert.equal(toServerProps({ model_path: "C:\\models\\a.gguf" }).modelName, "a.gguf");
    assert.equal(toServerProps({ model_alias: "mine", model_path: "/a.gguf" }).modelName, "mine");
    assert.equal(toServerProps({ modalities: { vision: true } }).hasVision, true);
    for (const odd of [undefined, null, [], { default_generation_settings: { n_ctx: 0 } }]) {
      assert.equal(toServerProps(odd).contextTokens, undefined);
    }
  });
});

describe("waiting for a llama-server", () => {
  const providerAt = (baseUrl: string, now: () => number = () => 0): Provider => {
    const options = { vendor: "llamacpp", wire: llamacppWire, headers: {}, quirks: {}, transport };
    const provider = createHttpProvider({ ...options, baseUrl });
    const clock = { now, sleep: async () => {} };
    return waitForServer(provider, { transport, baseUrl, clock });
  };

  it("reports that it waits, and asks when the model is loaded", async () => {
    await using upstream = await startLlamacppUpstream({
      engine: script(reply.text("Hi."), reply.text("Again.")),
      loading: 4,
    });
    let now = -10_000;
    const provider = providerAt(upstream.url, () => {
      now += 10_000;
      return now;
    });
    const notices: string[] = [];
    const call = {
      signal: limit(),
      notice: ({ message }: { message: string }) => notices.push(message),
    };
    let text = "";
    for await (const batch of provider.stream(request(), call)) text += textOf(batch);
    assert.equal(text, "Hi.");
    assert.deepEqual(notices, [
      "llama-server is loading its model, for 10 s now. Waiting.",
      "llama-server is loading its model, for 30 s now. Waiting.",
    ]);
    // Once is enough: the second call is sent at once.
    const before = upstream.requests.length;
    assert.equal(textOf(await eventsOf(provider, request())), "Again.");
    assert.equal(upstream.requests.length, before + 1);
  });

  it("stops when it is cancelled", async () => {
    await using upstream = await startLlamacppUpstream({ loading: 1000 });
    const abort = new AbortController();
    const call = { signal: abort.signal, notice: () => abort.abort() };
    await assert.rejects(providerAt(upstream.url).stream(request(), call).next(), {
      code: "cancelled",
    });
  });

  it("is skipped if another deployment can be asked", async () => {
    await using upstream = await startLlamacppUpstream({ loading: 1000 });
    const call = { signal: limit(), hasOthers: true };
    await assert.rejects(providerAt(upstream.url).stream(request(), call).next(), {
      code: "provider_overloaded",
    });
    assert.equal(upstream.requests.length, 1, "it was asked whether it is ready, and nothing else");
  });

  it("leaves a server that does not answer to the call itself", async () => {
    const upstream = await startLlamacppUpstream({});
    await upstream.close();
    const stream = waitForServer(
      { name: "x", stream: async function* () {} },
      { transport, baseUrl: upstream.url },
    ).stream(request(), { signal: limit() });
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
  });
});
