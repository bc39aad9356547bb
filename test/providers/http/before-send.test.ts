/** The callback before each attempt of a model call. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import { createHttpProvider } from "../../../src/providers/http/http-provider.ts";
import { request } from "../provider-contract.ts";

async function ask(allowed: number): Promise<{ asked: number; sent: number; thrown: string }> {
  const counts = { asked: 0, sent: 0 };
  const provider = createHttpProvider({
    vendor: "test",
    wire: chatWire,
    baseUrl: "http://127.0.0.1:9",
    headers: {},
    quirks: {},
    clock: { now: () => 0, sleep: async () => {} },
    transport: {
      async send() {
        counts.sent++;
        throw new Failure("provider_unreachable", "Gone.");
      },
      async close() {},
    },
  });
  const beforeSend = async (): Promise<void> => {
    if (++counts.asked > allowed) throw new Failure("fenced", "Taken over.");
  };
  const { signal } = new AbortController();
  try {
    for await (const _ of provider.stream(request({}), { signal, beforeSend }));
  } catch (thrown) {
    return { ...counts, thrown: String((thrown as Failure).code) };
  }
  return { ...counts, thrown: "" };
}

it("sends nothing, and does not retry, if the caller may not send", async () => {
  assert.deepEqual(await ask(0), { asked: 1, sent: 0, thrown: "fenced" });
});

it("asks the caller again before a second attempt", async () => {
  assert.deepEqual(await ask(1), { asked: 2, sent: 1, thrown: "fenced" });
});
