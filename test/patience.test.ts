import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { listFiles } from "./list-files.ts";
import { until, untilTrue, withGrowingLimit } from "./patience.ts";

describe("waiting in tests", () => {
  it("gives what was found, however late", async () => {
    let looks = 0;
    assert.equal(await until(() => (++looks > 150 ? looks : undefined), "150 looks"), 151);
    await untilTrue(async () => ++looks > 160, "more looks");
  });

  it("gives a slow machine longer limits, and no failure", async () => {
    const tried: number[] = [];
    await withGrowingLimit(100, async (limitMs) => {
      tried.push(limitMs);
      if (limitMs < 5000) throw new Error("too slow");
    });
    assert.deepEqual(tried, [100, 800, 6400]);
    const broken = withGrowingLimit(100, () => Promise.reject(new Error("broken")));
    await assert.rejects(broken, /broken/);
  });

  const limits: readonly RegExp[] = [
    /AbortSignal\.timeout\(\s*\d/,
    /\b(?:it|describe|test)\([^\n]*\{[^{}]*\btimeout: \d/,
    /performance\.now\(\)[^;\n]*<\s*\d/,
  ];
  const root = new URL("../../test/", import.meta.url);
  it("has no limits but those of patience.ts", () => {
    const own = listFiles(fileURLToPath(root), ".ts").filter((file) => {
      if (file === "patience.test.ts") return false;
      const text = readFileSync(new URL(file, root), "utf8");
      return limits.some((limit) => limit.test(text));
    });
    assert.deepEqual(own, []);
  });
});
