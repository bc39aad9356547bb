import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { createLimiters } from "../../../src/providers/limits/limiters.ts";
import { patience } from "../../patience.ts";

const ACCOUNT = { vendor: "openai", baseUrl: "https://a.example/v1", key: "sk-very-secret" };

describe("the limiters of a process", () => {
  it("are one for each account", () => {
    const limiters = createLimiters();
    const limiter = limiters.of(ACCOUNT);
    assert.equal(limiter.vendor, "openai");
    assert.equal(limiters.of({ ...ACCOUNT }), limiter);
    assert.equal(limiters.of({ ...ACCOUNT, baseUrl: `${ACCOUNT.baseUrl}/` }), limiter);
    for (const other of [{ key: "sk-other" }, { key: undefined }, { vendor: "custom" }]) {
      assert.notEqual(limiters.of({ ...ACCOUNT, ...other }), limiter);
    }
    assert.notEqual(limiters.of({ ...ACCOUNT, baseUrl: "https://b.example/v1" }), limiter);
  });

  it("do not keep the key", () => {
    const limiters = createLimiters();
    const shown = inspect([limiters, limiters.of(ACCOUNT)], { depth: 9, showHidden: true });
    assert.ok(!shown.includes(ACCOUNT.key));
  });

  it("are forgotten when there are many and they are idle", async () => {
    const limiters = createLimiters();
    const idle = limiters.of(ACCOUNT);
    const busy = limiters.of({ ...ACCOUNT, key: "busy" });
    const paused = limiters.of({ ...ACCOUNT, key: "paused" });
    const slot = await busy.acquire({ signal: patience() });
    paused.pause(60_000);
    for (let user = 0; user < 1000; user++) limiters.of({ ...ACCOUNT, key: `user-${user}` });
    assert.notEqual(limiters.of(ACCOUNT), idle);
    assert.equal(limiters.of({ ...ACCOUNT, key: "busy" }), busy);
    assert.equal(limiters.of({ ...ACCOUNT, key: "paused" }), paused);
    slot.release();
  });
});
