import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount } from "../../src/agent/account.ts";
import { gatherCall, holdCall } from "../../src/agent/call-cost.ts";
import { estimateInput } from "../../src/agent/call-estimate.ts";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { Usage } from "../../src/protocol/usage.ts";
import { patience } from "../patience.ts";
import { request } from "../providers/provider-contract.ts";

/** Dollars for a million tokens. */
const costOf = ({ input_tokens, output_tokens }: Usage): number =>
  (input_tokens * 1) / 1_000_000 + (output_tokens * 2) / 1_000_000;

describe("the input of a call", () => {
  it("is estimated by the length of its JSON", () => {
    const asked = request({
      instructions: "Be short.",
      items: Array.from({ length: 50 }, (_, at) => ({
        type: "message",
        role: "user",
        content: "Some words of a user. ".repeat(at),
      })) as Item[],
    });
    const { items, instructions, tools } = asked;
    const written = JSON.stringify([items, instructions, tools]).length / 3;
    const estimated = estimateInput(asked);
    assert.ok(Math.abs(estimated - written) < written * 0.02, `${estimated}, not ${written}`);
  });

  it("is about a token for each character of a Chinese text", () => {
    const content = "北京今天的天气很好".repeat(1000);
    const items = [{ type: "message", role: "user", content }] as Item[];
    const estimated = estimateInput(request({ items }));
    assert.ok(estimated >= 9000 && estimated < 9100, `${estimated}`);
  });

  it("is measured once, and is not converted to JSON for it", async () => {
    let looks = 0;
    const item = {
      type: "message",
      role: "user",
      get content() {
        looks++;
        return "Hello";
      },
      toJSON(): never {
        throw new Error("written");
      },
    } as unknown as Item;
    const account = createAccount({ ...NO_LIMITS, usd: 1, tokens: 100_000 });
    const asked = request({ items: [item] });
    const before = looks;
    await gatherCall(account, asked, { costOf, signal: patience() });
    const held = await holdCall(account, asked, { costOf });
    estimateInput(held.request);
    assert.equal(looks - before, 1);
  });
});
