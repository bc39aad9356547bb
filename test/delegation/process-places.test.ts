import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countProcessPlaces } from "../../src/delegation/executors/process-places.ts";

const GB = 1024 ** 3;

describe("the places for child processes", () => {
  it("grow with the cores, as far as half of the memory goes, and there is always one", () => {
    assert.equal(countProcessPlaces({ cores: 2, freeBytes: 64 * GB }), 8);
    assert.equal(countProcessPlaces({ cores: 64, freeBytes: 4 * GB }), 16);
    assert.equal(countProcessPlaces({ cores: 4, freeBytes: 0 }), 1);
    assert.ok(countProcessPlaces() >= 1);
  });
});
