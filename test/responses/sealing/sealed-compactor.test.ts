import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount } from "../../../src/agent/account.ts";
import { createSummariser } from "../../../src/agent/context/summariser.ts";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import type { Json } from "../../../src/base/json.ts";
import type { RunContext } from "../../../src/engine/engine.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import {
  createSealedCompactor,
  type SealedCompactor,
} from "../../../src/responses/sealing/sealed-compactor.ts";
import { createCompactionSeal } from "../../../src/responses/sealing/seals.ts";
import { createScriptedProvider, type Reply, reply } from "../../../src/testing/index.ts";

/** A run as its owners see it one after the other: one journal, one log. */
class Record {
  readonly journal = new Map<string, Json>();
  readonly events: RunEvent[] = [];

  open(epoch: number): RunContext {
    const { signal } = new AbortController();
    const step = async (key: string, fn: (step: object) => Promise<Json>): Promise<Json> => {
      const known = this.journal.get(key);
      if (known !== undefined) return known;
      const value = await fn({
        signal,
        end: (events: readonly RunEvent[]) => this.events.push(...events),
      });
      this.journal.set(key, value);
      return value;
    };
    return { id: "run_1", tenant: "acme", epoch, signal, step } as unknown as RunContext;
  }
}

const seal = createCompactionSeal(new Uint8Array(32), "tenant");
const items: Item[] = [{ type: "message", role: "user", content: "Hi" }];
const limits = { ...NO_LIMITS, tokens: 100_000 };

function open(
  context: RunContext,
  replies: readonly Reply[],
  account = createAccount(limits),
): SealedCompactor {
  const summariser = createSummariser({
    context,
    account,
    model: "m",
    contextTokens: undefined,
    options: undefined,
    provider: createScriptedProvider(...replies),
    costOf: () => 0,
    reasoning: { effort: undefined, summary: undefined },
  });
  const expanding = { open: seal.open, isNative: false };
  return createSealedCompactor({ summariser, seal, expanding, keptTokens: 1000 });
}

describe("making a conversation short", () => {
  it("asks once and reports once, also if another process continues the run", async () => {
    const record = new Record();
    const first = await open(record.open(1), [reply.text("MEMORY")]).compact(items, { place: "3" });
    assert.equal(record.events.length, 2);
    const account = createAccount(limits);
    const again = await open(record.open(2), [], account).compact(items, { place: "3" });
    assert.deepEqual(again, first);
    assert.equal(record.events.length, 2);
    assert.ok(account.spent.tokens > 0, "what the journal has is charged");
  });

  it("is not tried again by another owner after it failed", async () => {
    const record = new Record();
    const compactor = open(record.open(1), [reply.failure("Broken.")]);
    await assert.rejects(compactor.compact(items, { place: "1" }), { code: "provider_failed" });
    const again = open(record.open(2), [reply.text("MEMORY")]);
    await assert.rejects(again.compact(items, { place: "1" }), { code: "provider_failed" });
    assert.equal(record.events.length, 0);
  });

  it("is refused if there is no budget for it, and nothing stays reserved", async () => {
    const account = createAccount({ ...NO_LIMITS, tokens: 10 });
    const compactor = open(new Record().open(1), [reply.text("MEMORY")], account);
    await assert.rejects(compactor.compact(items, { place: "1" }), { code: "budget_exceeded" });
    assert.equal(account.left.tokens, 10);
  });
});
