import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../../../src/base/clock.ts";
import type { App } from "../../../src/server/app.ts";
import { createDrain } from "../../../src/server/running/drain.ts";
import { openListener } from "../../../src/server/running/listener.ts";
import { createGate } from "../../engine/engine-fixture.ts";

describe("draining", () => {
  const start = async (t: TestContext, app: App) => {
    const drain = createDrain();
    const watched = drain.watchApp(drain.refuseNew(app));
    const listener = await openListener({ host: "127.0.0.1", port: 0 }, watched);
    t.after(() => {
      listener.destroy();
      return listener.close();
    });
    return { drain, url: listener.url };
  };

  it("waits for what is on its way, and refuses what is new", async (t) => {
    const asked = createGate();
    const goOn = createGate();
    const { drain, url } = await start(t, async (request, response) => {
      if (request.url === "/slow") {
        asked.open();
        await goOn.opened;
      }
      response.end("answer");
    });
    const slow = fetch(`${url}/slow`);
    await asked.opened;
    const drained = drain.begin(10_000, systemClock);
    assert.ok(drain.isDraining);
    const refused = await fetch(`${url}/v1/models`);
    assert.equal(refused.status, 503);
    assert.deepEqual(
      ((await refused.json()) as { error: { code: string } }).error.code,
      "draining",
    );
    assert.equal(refused.headers.get("connection"), "close");
    assert.ok(refused.headers.get("retry-after"));
    assert.equal(await (await fetch(`${url}/readyz`)).text(), "answer");
    goOn.open();
    const answer = await slow;
    assert.equal(await answer.text(), "answer");
    assert.equal(answer.headers.get("connection"), "close");
    assert.equal(await drained, true);
  });

  it("gives up when the time is over", async (t) => {
    const asked = createGate();
    const { drain, url } = await start(t, async () => {
      asked.open();
      await new Promise(() => {});
    });
    const slow = fetch(url).catch(() => "cut");
    await asked.opened;
    assert.equal(await drain.begin(1, systemClock), false);
    t.after(async () => assert.equal(await slow, "cut"));
  });

  it("has nothing to wait for if nothing is in progress, except for others", async () => {
    assert.equal(await createDrain().begin(10_000, systemClock), true);
    const never = new Promise<void>(() => {});
    assert.equal(await createDrain().begin(1, systemClock, never), false);
  });
});
