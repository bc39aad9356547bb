import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Failure } from "../../../src/base/failure.ts";
import { createPlaces } from "../../../src/server/guard/key-places.ts";

const KEY = { id: "key_1", limits: { concurrent: 2 } };

describe("the places of a key's requests", () => {
  it("end a request whose place went to another server's while this one stood still", async () => {
    const lost: (() => void)[] = [];
    const places = createPlaces({
      async take(_, __, onLost = () => {}) {
        lost.push(onLost);
        return () => {};
      },
    });
    const reasons: Failure[] = [];
    await places.take(KEY, (reason) => reasons.push(reason));
    await places.take(KEY, (reason) => reasons.push(reason));
    lost[1]?.();
    assert.deepEqual(
      reasons.map(({ code }) => code),
      ["rate_limited"],
    );
    assert.match(reasons[0]?.message ?? "", /stood still .* its key may have 2 at once/);
  });

  it("refuse a request where all are taken, and count none of a key without a limit", async () => {
    const places = createPlaces({ take: async () => undefined });
    const nobody = (): void => assert.fail("it was let in");
    await assert.rejects(places.take(KEY, nobody), { code: "rate_limited" });
    (await places.take({ id: "key_2", limits: {} }, nobody))();
  });
});
