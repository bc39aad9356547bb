import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chatWire } from "../../../../src/providers/chat/wire.ts";
import { createHttpProvider } from "../../../../src/providers/http/http-provider.ts";
import { createTransport } from "../../../../src/providers/http/transport.ts";
import { vendorOf } from "../../../../src/providers/vendors/catalog.ts";
import { reply, script, startChatUpstream } from "../../../../src/testing/index.ts";
import { PATIENT_TIMEOUTS, patience } from "../../../patience.ts";
import { request } from "../../provider-contract.ts";

describe("Mistral", () => {
  it("gets the key of its cache, and no retention", async () => {
    await using upstream = await startChatUpstream({ engine: script(reply.text("Oui.")) });
    const transport = createTransport({});
    const provider = createHttpProvider({
      vendor: "mistral",
      wire: chatWire,
      baseUrl: upstream.url,
      headers: {},
      quirks: vendorOf("mistral").quirks ?? {},
      transport,
      timeouts: PATIENT_TIMEOUTS,
    });
    const dropped: string[] = [];
    const options = { prompt_cache_key: "thread-1", prompt_cache_retention: "24h" };
    const reasoning = { effort: "high", summary: undefined } as const;
    const stream = provider.stream(request({ options, reasoning }), {
      signal: patience(),
      notice: ({ params = [] }) => dropped.push(...params),
    });
    for await (const _ of stream);
    await transport.close();
    const { body } = upstream.requests[0] ?? {};
    assert.equal(body?.["prompt_cache_key"], "thread-1");
    assert.ok(body && !("prompt_cache_retention" in body));
    assert.deepEqual(dropped, ["prompt_cache_retention"]);
  });
});
