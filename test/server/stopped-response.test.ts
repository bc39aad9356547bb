/** The answer to a client that waits for a response when the server stops. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import { toCut } from "../../src/server/running/drain.ts";
import { reply, script } from "../../src/testing/index.ts";
import { ANYBODY, startServer } from "./server-fixture.ts";

describe("a server that stops", () => {
  const open = async (t: Parameters<typeof startServer>[0], body: object) => {
    const { responses, upstream } = await startServer(t, script(reply.silence("I begin")));
    const live = await responses.api.create({ input: "Hi", ...body }, ANYBODY);
    const cut = new AbortController();
    void upstream.waitForRequest(1).then(() => cut.abort(toCut()));
    return { live, cut, api: responses.api };
  };

  it("tells where a stored response continues", async (t) => {
    const { live, cut, api } = await open(t, {});
    const message = `The server stopped. Response \`${live.id}\` continues at the next start: GET /v1/responses/${live.id}.`;
    const told = { code: "draining", message, retryAfterMs: 1000 };
    await assert.rejects(live.response(cut.signal), told);
    const following = new AbortController();
    const followed = await api.follow(live.id, ANYBODY, { after: -1, signal: following.signal });
    const events: EmittedEvent[] = [];
    for await (const batch of followed) {
      events.push(...batch);
      following.abort(toCut());
    }
    const last = events.at(-1);
    assert.ok(last?.type === "response.failed");
    assert.equal(last.response.error?.message, message);
  });

  it("asks for another request where nothing is stored", async (t) => {
    const { live, cut } = await open(t, { store: false });
    const message = "The server stopped before the answer was finished. Send the request again.";
    await assert.rejects(live.response(cut.signal), { code: "draining", message });
  });
});
