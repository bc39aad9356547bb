/** What every `PlaceCount` must do. `open` gives the counts of two processes that share one record. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LeavePlace, PlaceCount } from "../../src/store/place-count.ts";
import { until } from "../patience.ts";

export interface TwoCounts {
  readonly first: PlaceCount;
  readonly second: PlaceCount;
  /** The first process dies, and has been silent for as long as it may be. */
  killFirst(): Promise<void>;
}

export function describePlaces(name: string, open: () => Promise<TwoCounts>): void {
  const takeSome = async (
    counts: readonly PlaceCount[],
    limit: number,
  ): Promise<(LeavePlace | undefined)[]> =>
    await Promise.all(counts.map((count) => count.take("k", limit)));
  const countTaken = (taken: readonly (LeavePlace | undefined)[]): number =>
    taken.filter((leave) => leave !== undefined).length;

  describe(`${name}: the places of a key`, () => {
    it("are limited over all processes, and each key has its own", async () => {
      const { first, second } = await open();
      const taken = await takeSome([first, second, first, second], 3);
      assert.equal(countTaken(taken), 3);
      assert.ok(await second.take("other", 1));
      assert.equal(await first.take("k", 3), undefined);
      assert.ok(await first.take("k", 4), "a limit that was raised");
    });

    it("are not given twice, however many requests come at once", async () => {
      const { first, second } = await open();
      // Without a lock about every fourth round of Postgres gives too many.
      for (let round = 0; round < 30; round++) {
        const asked = Array.from({ length: 40 }, (_, at) =>
          (at % 2 === 0 ? first : second).take(`k${round}`, 3),
        );
        assert.equal(countTaken(await Promise.all(asked)), 3);
      }
    });

    it("are returned once, whichever process has them", async () => {
      const { first, second } = await open();
      const [one, two] = await takeSome([first, second], 2);
      one?.();
      one?.();
      const next = await until(() => second.take("k", 2), "its place");
      assert.equal(await first.take("k", 2), undefined, "a second call gave another's back");
      next();
      two?.();
      for (let limit = 1; limit <= 2; limit++) await until(() => first.take("k", limit), "a place");
    });

    it("are returned when the process that has them is gone, and no others are", async () => {
      const { first, second, killFirst } = await open();
      await takeSome([first, first, second], 3);
      await first.take("other", 1);
      await killFirst();
      assert.equal(countTaken(await takeSome([second, second, second], 3)), 2);
      assert.ok(await second.take("other", 1));
    });
  });
}
