import { describe, it } from "node:test";
import { createAccount } from "../../src/agent/account.ts";
import { holdCall } from "../../src/agent/call-cost.ts";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { Usage } from "../../src/protocol/usage.ts";
import { request } from "../providers/provider-contract.ts";

/** Dollars for a million tokens. */
const costOf = ({ input_tokens, output_tokens }: Usage): number =>
  (input_tokens * 1) / 1_000_000 + (output_tokens * 2) / 1_000_000;

describe("a limit in dollars", () => {
  it("is used up by what was spent, and not by the last digit of a sum", async () => {
    for (let cents = 5; cents <= 100; cents++) {
      const account = createAccount({ ...NO_LIMITS, usd: cents / 100 });
      for (let call = 0; call < 30; call++) {
        const content = "x".repeat(1000 + 37 * call);
        const asked = request({ items: [{ type: "message", role: "user", content }] });
        const { hold } = await holdCall(account, asked, { costOf });
        hold.settle({ turns: 1, tokens: 1200, usd: 0.0012 });
      }
    }
  });
});
