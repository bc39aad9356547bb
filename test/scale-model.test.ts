/** The model of `npm run bench:scale-model`: its arithmetic, and that it agrees with what was measured. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { toHeadroom } from "../bench/scale-model/limits.ts";
import { comparePoints, isFitted, toCosts, toNeeds } from "../bench/scale-model/model.ts";
import { POINTS } from "../bench/scale-model/points.ts";

const LOAD = {
  responsesPerSecond: 10,
  streamed: 0,
  tokens: 0,
  tokensPerSecond: 50,
  peak: 2,
  keepDays: 10,
};

describe("the scale model", () => {
  const costs = toCosts(POINTS);

  it("needs for plain responses what one costs, times the load", () => {
    const needs = toNeeds(costs, LOAD);
    const plain = POINTS.find(({ name }) => name === "plain") ?? assert.fail();
    assert.equal(needs.serverCores, (10 * plain.serverCpuMs) / 1000);
    assert.equal(needs.keptBytesPerDay, 5 * 86_400 * plain.keptBytes);
    assert.equal(needs.keptBytes, 10 * needs.keptBytesPerDay);
    assert.equal(needs.connections, 9 * needs.replicas);
    assert.equal(needs.openStreams, 0);
  });

  it("needs more with each token that is streamed, and keeps streams open for as long as they take", () => {
    const short = toNeeds(costs, { ...LOAD, streamed: 1, tokens: 100 });
    const long = toNeeds(costs, { ...LOAD, streamed: 1, tokens: 1000 });
    assert.equal(short.openStreams, 20);
    assert.equal(long.openStreams, 200);
    assert.ok(long.databaseCores > 2 * short.databaseCores);
  });

  it("names the limit that is reached first, at the load that reaches it", () => {
    const all = toHeadroom(costs, LOAD);
    assert.deepEqual(
      all.map(({ reachedAt }) => reachedAt),
      all.map(({ reachedAt }) => reachedAt).toSorted((a, b) => a - b),
    );
    for (const { limit, reachedAt } of all) {
      const usedAt = (responsesPerSecond: number): number =>
        limit.used(toNeeds(costs, { ...LOAD, responsesPerSecond }));
      assert.ok(usedAt(reachedAt) >= limit.most, limit.name);
      assert.ok(usedAt(reachedAt * 0.99) < limit.most, limit.name);
    }
  });

  it("gives the figures that docs/scaling.md shows", () => {
    const page = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8");
    const shown = { ...LOAD, responsesPerSecond: 20, streamed: 0.8, tokens: 400 };
    const needs = toNeeds(costs, { ...shown, peak: 3, keepDays: 30 });
    const rows = [
      ["cores of all servers, busy", needs.serverCores.toFixed(1)],
      ["replicas of one core (1 to spare)", String(needs.replicas)],
      ["cores of the database", needs.databaseCores.toFixed(1)],
      ["transactions a second", needs.transactionsPerSecond.toFixed(0)],
      ["disk", `${(needs.keptBytesPerDay / 1e9).toFixed(1)} GB a day`],
    ];
    for (const [name = "", value = ""] of rows) {
      assert.ok(page.includes(`  ${name.padEnd(40)} ${value}\n`), `${name}: ${value}`);
    }
  });

  it("is within twice of every measured point of a loaded server", () => {
    const compared = comparePoints(costs, POINTS.filter(isFitted));
    assert.ok(compared.length > 0);
    for (const { point, counted, measured, model } of compared) {
      const ratio = measured / model;
      assert.ok(ratio < 2 && ratio > 0.5, `${point}, ${counted}: ${ratio}`);
    }
  });
});
