import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { EmittedItem } from "../../../src/protocol/emitted.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import { toEstimatedUsage, toMessageUsage } from "../../../src/responses/messages/message-usage.ts";

const search = (type: string): EmittedItem =>
  ({ type: "web_search_call", id: "ws_1", action: { type } }) as unknown as EmittedItem;

describe("the usage of a message", () => {
  it("counts each token of the input once: plain, read from a cache, or written to one", () => {
    const usage = toUsage({
      input: 1000,
      cached: 600,
      cacheWrite: 300,
      cacheWriteHour: 100,
      output: 50,
      reasoning: 20,
    });
    assert.deepEqual(toMessageUsage(usage, []), {
      input_tokens: 100,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 600,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      output_tokens: 50,
      output_tokens_details: { thinking_tokens: 20 },
      server_tool_use: null,
      service_tier: "standard",
    });
  });

  it("adds up to the input, whatever was cached", () => {
    const property = fc.property(
      fc.nat(1e6),
      fc.nat(1e6),
      fc.nat(1e6),
      (plain, cached, written) => {
        const usage = toUsage({ input: plain + cached + written, cached, cacheWrite: written });
        const made = toMessageUsage(usage, []);
        const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = made;
        assert.deepEqual(
          [input_tokens, cache_read_input_tokens, cache_creation_input_tokens],
          [plain, cached, written],
        );
      },
    );
    fc.assert(property, { numRuns: 100 });
  });

  it("is never negative, for a vendor that counts what it cached apart", () => {
    assert.equal(toMessageUsage(toUsage({ input: 10, cached: 600 }), []).input_tokens, 0);
  });

  it("is nothing before anything was counted", () => {
    assert.equal(toMessageUsage(null, []).input_tokens, 0);
    const { input_tokens, output_tokens } = toEstimatedUsage(70);
    assert.deepEqual([input_tokens, output_tokens], [70, 1]);
  });

  it("is the estimate of the input for a vendor that counts nothing", () => {
    const estimate = (): number => 70;
    assert.equal(toMessageUsage(toUsage({}), [], estimate).input_tokens, 70);
    assert.equal(toMessageUsage(null, [], estimate).input_tokens, 70);
    assert.equal(toMessageUsage(toUsage({ input: 10 }), [], estimate).input_tokens, 10);
  });

  const native = (native_calls: Readonly<Record<string, number>>) => ({
    ...toUsage({ input: 1 }),
    native_calls,
  });
  const calls: readonly (readonly [
    string,
    ReturnType<typeof native> | null,
    EmittedItem[],
    object | null,
  ])[] = [
    ["none", null, [], null],
    [
      "searches and pages of this server",
      null,
      [search("search"), search("open_page")],
      { web_search_requests: 1, web_fetch_requests: 1 },
    ],
    [
      "words looked for in a page",
      null,
      [search("find_in_page")],
      { web_search_requests: 0, web_fetch_requests: 1 },
    ],
    [
      "the vendor's own count",
      native({ web_search: 3 }),
      [],
      { web_search_requests: 3, web_fetch_requests: 0 },
    ],
    [
      "a search that the vendor counted once",
      native({ web_search: 1 }),
      [search("search")],
      { web_search_requests: 1, web_fetch_requests: 0 },
    ],
  ];
  for (const [what, usage, output, counted] of calls) {
    it(`counts the calls of hosted tools: ${what}`, () =>
      assert.deepEqual(toMessageUsage(usage, output).server_tool_use, counted));
  }
});
