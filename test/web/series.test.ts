import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toBytes, toCost, toCount, toDuration, toMoney } from "../../web/core/format.ts";
import { joinNewest } from "../../web/core/join-newest.ts";
import { toDays, toSeries } from "../../web/core/series.ts";

describe("figures of the console", () => {
  it("fills days without use, and joins the small ones", () => {
    const days = toDays("2026-11-01", "2026-11-03");
    assert.deepEqual(days, ["2026-11-01", "2026-11-02", "2026-11-03"]);
    const rows = Array.from({ length: 10 }, (_, at) => ({
      key: `m${at}`,
      day: "2026-11-02",
      known_usd: 10 - at,
    }));
    const series = toSeries(rows as never, days, ({ known_usd }) => known_usd);
    assert.equal(series.length, 8);
    assert.deepEqual(series[0], { name: "m0", values: [0, 10, 0] });
    assert.deepEqual(series[7], { name: "3 others", values: [0, 6, 0] });
  });

  it("writes them for people", () => {
    assert.deepEqual([0, 0.0004, 1.5, 1234, null].map(toMoney), [
      "$0",
      "$0.0004",
      "$1.50",
      "$1,234",
      "unknown",
    ]);
    assert.deepEqual([999, 12_300, 2_500_000].map(toCount), ["999", "12.3k", "2.5M"]);
    assert.deepEqual([40, 1500, 61_000, 7_200_000].map(toDuration), [
      "40 ms",
      "1.5 s",
      "1 min 1 s",
      "2 h 0 min",
    ]);
    assert.equal(toCost({ cost_usd: null, known_usd: 0.25 }), "≥ $0.25");
    assert.equal(toCost({ cost_usd: null, known_usd: 0 }), "unknown");
    assert.equal(toBytes(3 * 1024 ** 2), "3.0 MB");
  });

  it("takes rows of the newest page as they are now, and keeps older ones", () => {
    const run = (id: string, created_at_ms: number, status = "ended") =>
      ({ id, created_at_ms, status }) as never;
    const kept = [run("b", 20, "running"), run("a", 10)];
    const joined = joinNewest([run("c", 30), run("b", 20)], kept);
    assert.deepEqual(
      joined.map(({ id, status }) => [id, status]),
      [
        ["c", "ended"],
        ["b", "ended"],
        ["a", "ended"],
      ],
    );
  });
});
