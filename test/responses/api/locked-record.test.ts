/** A record that another program has locked: a request waits for it once, and not again to undo its beginning. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { undoAfter } from "../../../src/base/busy.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { Failure } from "../../../src/base/failure.ts";
import { createLocalEngine } from "../../../src/engine/local-engine.ts";
import { createResponsesApi } from "../../../src/responses/api/api.ts";
import { RESPONSE_BODY } from "../../../src/responses/kept/kept-response.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { ANYBODY } from "../../server/server-fixture.ts";

const BUSY = new Failure("store_busy", "The store is locked by another program.");
const NEVER = new Promise<never>(() => {});

describe("a locked record", () => {
  it("is reported as soon as the response could not be written", async (t) => {
    const store = createMemoryStore();
    store.createRun = () => Promise.reject(BUSY);
    const engine = createLocalEngine({ store });
    engine.define(RESPONSE_BODY, () => assert.fail("nothing runs"));
    t.after(() => engine.stop());
    const api = createResponsesApi({
      clock: systemClock,
      durable: engine,
      passing: engine,
      ttlMs: null,
      handed: new Map(),
      sealKey: new Uint8Array(32),
      // A second attempt to take the lock waits for ever here.
      shelf: Object.assign(createMemoryShelf(store), { delete: () => NEVER }),
      defaults: { store: true },
      findInput: () => NEVER,
      findModel: () => assert.fail("this one is a run"),
      find: async (_asked, caller) => ({
        caller,
        root: "/",
        tools: [],
        instructions: null,
        conversation: null,
        model: { model: "custom/m", provider: null, url: null, api_key_name: null },
        items: [{ type: "message", role: "user", content: "Hi" }],
      }),
      admit: async () => () => NEVER,
      placeOf: () => assert.fail("it is not in the background"),
      models: { known: () => undefined, open: () => NEVER },
      thoughtSealOf: () => assert.fail("nothing is sealed"),
    });
    // With `include`, it is a run from its first moment.
    const asked = { input: "Hi", stream: true, include: ["message.output_text.logprobs"] };
    await assert.rejects(api.create(asked, ANYBODY), BUSY);
  });

  it("is waited for if something else failed", async () => {
    const order: string[] = [];
    await undoAfter(new Failure("invalid_request", "No."), async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push("undone");
    });
    order.push("told");
    assert.deepEqual(order, ["undone", "told"]);
  });
});
