import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../../src/base/json.ts";
import { parseFilter } from "../../../src/responses/vector-stores/filters.ts";

const FILE = { region: "eu", year: 2024, draft: false };

const compare = (type: string, key: string, value: Json): Json => ({ type, key, value });

describe("filters", () => {
  const table: readonly [Json, boolean][] = [
    [compare("eq", "region", "eu"), true],
    [compare("eq", "region", "us"), false],
    [compare("eq", "draft", false), true],
    [compare("eq", "missing", "x"), false],
    [compare("ne", "region", "us"), true],
    [compare("ne", "missing", "x"), true],
    [compare("gt", "year", 2023), true],
    [compare("gt", "year", 2024), false],
    [compare("gte", "year", 2024), true],
    [compare("lt", "year", 2025), true],
    [compare("lte", "year", 2023), false],
    [compare("gt", "region", "a"), true],
    [compare("gt", "region", 1), false],
    [compare("lt", "missing", 1), false],
    [compare("in", "region", ["us", "eu"]), true],
    [compare("in", "year", ["2024"]), false],
    [compare("in", "missing", ["a"]), false],
    [compare("nin", "region", ["us"]), true],
    [compare("nin", "region", ["eu"]), false],
    [compare("eq", "constructor", "x"), false],
    [{ type: "and", filters: [compare("eq", "region", "eu"), compare("gt", "year", 2030)] }, false],
    [{ type: "or", filters: [compare("eq", "region", "us"), compare("lt", "year", 2030)] }, true],
    [{ type: "and", filters: [] }, true],
  ];
  for (const [filter, fits] of table) {
    it(`${JSON.stringify(filter)} ${fits ? "lets through" : "holds back"}`, () => {
      assert.equal(parseFilter(filter)(FILE), fits);
    });
  }

  it("name what is wrong with them", () => {
    const bad: readonly [Json, string][] = [
      ["x", "filters"],
      [{ type: "like", key: "a", value: "b" }, "filters.type"],
      [{ type: "eq", value: "b" }, "filters.key"],
      [compare("eq", "a", { b: 1 }), "filters.value"],
      [compare("in", "a", "b"), "filters.value"],
      [{ type: "and" }, "filters.filters"],
      [{ type: "or", filters: [{ type: "eq" }] }, "filters.filters[0].key"],
    ];
    for (const [filter, param] of bad) {
      assert.throws(() => parseFilter(filter), { code: "invalid_request", param });
    }
  });
});
