import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readRetryAfter, readSpentWait } from "../../../src/providers/limits/rate-limit-headers.ts";

const NOW_MS = Date.parse("2030-01-01T00:00:00Z");
const DATE = "Tue, 01 Jan 2030 01:00:00 GMT";

describe("retry-after", () => {
  const cases: readonly (readonly [Record<string, string>, number | undefined])[] = [
    [{}, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": " 0.25 " }, 250],
    [{ "retry-after": "2", "retry-after-ms": "1500" }, 1500],
    [{ "retry-after": "2", "retry-after-ms": "soon" }, 2000],
    [{ "retry-after": "Tue, 01 Jan 2030 00:00:07 GMT" }, 7000],
    [{ "retry-after": "Tue, 01 Jan 2030 01:00:07 GMT", date: DATE }, 7000],
    [{ "retry-after": "Mon, 31 Dec 2029 00:00:00 GMT" }, 0],
  ];
  for (const [headers, expected] of cases) {
    it(`of ${JSON.stringify(headers)} is ${expected} ms`, () => {
      assert.equal(readRetryAfter(headers, NOW_MS), expected);
    });
  }

  it("of a date is unknown if neither side has a clock", () => {
    const headers = { "retry-after": "Tue, 01 Jan 2030 01:00:07 GMT" };
    assert.equal(readRetryAfter(headers), undefined);
    assert.equal(readRetryAfter({ ...headers, date: DATE }), 7000);
  });
});

describe("a used-up counter", () => {
  const spans: readonly (readonly [string, number | undefined])[] = [
    ["1s", 1000],
    ["6m0s", 360_000],
    ["20ms", 20],
    ["1h2m3.5s", 3_723_500],
    ["500µs", 0.5],
    ["1d", 86_400_000],
    ["12.5", 12_500],
    ["2030-01-01T00:00:09Z", 9000],
    ["2030-01-01T01:00:09+01:00", 9000],
    ["2029-12-31T23:59:00Z", 0],
    [String(NOW_MS / 1000 + 4), 4000],
    [String(NOW_MS + 4000), 4000],
    ["", undefined],
    ["in a while", undefined],
    ["5 parsecs", undefined],
  ];
  for (const [reset, expected] of spans) {
    it(`is full again at "${reset}", in ${expected} ms`, () => {
      const headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": reset,
      };
      assert.equal(readSpentWait(headers, NOW_MS), expected);
    });
  }

  it("is zero, not low or unknown", () => {
    for (const remaining of ["1", "", "many"]) {
      const headers = {
        "x-ratelimit-remaining-tokens": remaining,
        "x-ratelimit-reset-tokens": "9s",
      };
      assert.equal(readSpentWait(headers, NOW_MS), undefined);
    }
  });

  it("counts each by its own reset, and the last one decides", () => {
    const headers = {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "120ms",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "2s",
      "x-ratelimit-remaining-images": "5",
      "x-ratelimit-reset-images": "1h",
    };
    assert.equal(readSpentWait(headers, NOW_MS), 2000);
  });

  it("reads Anthropic's times by the server's own clock", () => {
    const headers = {
      date: DATE,
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2030-01-01T02:00:00Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2030-01-01T01:00:30Z",
    };
    assert.equal(readSpentWait(headers, NOW_MS), 30_000);
  });

  it("without a reset means nothing", () => {
    assert.equal(readSpentWait({ "x-ratelimit-remaining-tokens": "0" }, NOW_MS), undefined);
  });
});
