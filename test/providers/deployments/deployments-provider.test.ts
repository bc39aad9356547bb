/** A name with several deployments: which one is asked, when the next one is, and what never happens. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import { toMisshapen, toMissingCall } from "../../../src/providers/broken-answer.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import { createScriptedProvider, type Reply, reply } from "../../../src/testing/index.ts";
import { patience } from "../../patience.ts";
import { request, textOf } from "../provider-contract.ts";
import { ask, DOWN, endOf, OK, open } from "./deployments-fixture.ts";

describe("a name with several deployments", () => {
  it("names the one that answered, and asks each under its own model's name", async () => {
    const group = open({ one: [OK] });
    const events = await ask(group);
    assert.equal(textOf(events), "Hello there.");
    assert.deepEqual(endOf(events).by, { deployment: "one", model: "custom/one", tries: 1 });
    assert.equal(group.requests[0]?.model, "one");
  });

  it("a name with several deployments chooses one by weight", async () => {
    const counts: Record<string, number> = {};
    for (let step = 0; step < 100; step++) {
      const heavy = { replies: [OK], weight: 3 };
      const group = open({ light: [OK], heavy }, step / 100);
      await ask(group);
      const [first = ""] = group.asked;
      counts[first] = (counts[first] ?? 0) + 1;
    }
    assert.deepEqual(counts, { light: 25, heavy: 75 });
  });

  it("asks the next one, then the fallbacks in their order, before it waits", async () => {
    const spare = { replies: [DOWN], isFallback: true };
    const last = { replies: [OK], isFallback: true };
    const group = open({ spare, a: [DOWN], last, b: [DOWN] });
    const notices: string[] = [];
    const events = await ask(group, {}, ({ code, message }) => notices.push(`${code}: ${message}`));
    assert.deepEqual(group.asked, ["a", "b", "spare", "last"]);
    assert.equal(endOf(events).by?.tries, 4);
    assert.equal(notices[0], "fallback: HTTP 503: down Asking b instead.");
    assert.equal(group.clock.sleeping, 0);
  });

  const moving: readonly [string, Failure][] = [
    ["a refused connection", new Failure("provider_unreachable", "x")],
    ["an unknown host", new Failure("host_unknown", "x")],
    ["a timeout", new Failure("provider_timeout", "x")],
    ["429", new Failure("provider_overloaded", "x")],
    ["500", new Failure("provider_failed", "x")],
    ["a wrong key", new Failure("provider_unauthorized", "x")],
    ["a spent quota", new Failure("provider_rejected", "x", { vendorCode: "insufficient_quota" })],
    ["a model that it does not have", new Failure("model_not_found", "x")],
    ["a page in place of an answer", new Failure("provider_broke_protocol", "x")],
    ["an empty answer", new Failure("empty_answer", "x")],
    ["an answer that asks for a tool and names none", toMissingCall()],
  ];
  for (const [what, failure] of moving) {
    it(`asks the next one after ${what}`, async () => {
      const group = open({ a: { provider: failing(failure) }, b: [OK] });
      assert.equal(textOf(await ask(group)), "Hello there.");
      assert.deepEqual(group.asked, ["a", "b"]);
    });
  }

  const answers: readonly [string, Failure][] = [
    ["are empty", new Failure("empty_answer", "x")],
    ["ask for a tool and name none", toMissingCall()],
    ["have fields of wrong types", toMisshapen("x")],
  ];
  for (const [what, failure] of answers) {
    it(`does not cool one down whose answers to a client's prompt ${what}`, async () => {
      const group = open({ a: { provider: failing(failure) }, b: [OK, OK, OK, OK] });
      for (let count = 0; count < 4; count++) await ask(group);
      assert.deepEqual(group.asked, ["a", "b", "a", "b", "a", "b", "a", "b"]);
      assert.equal(group.deployments[0]?.health.isReady, true);
    });
  }

  it("does not ask another one after the client's own mistake", async () => {
    const group = open({ a: [reply.status(400, "bad")], b: [OK] });
    await assert.rejects(ask(group), { code: "provider_rejected" });
    assert.deepEqual(group.asked, ["a"]);
    assert.equal(group.deployments[0]?.health.isReady, true, "it answered");
  });

  it("does not ask another one after output", async () => {
    const group = open({ a: [reply.failure("broke", { text: "Half" })], b: [OK] });
    await assert.rejects(ask(group), { code: "provider_failed" });
    assert.deepEqual(group.asked, ["a"]);
  });

  it("does not ask another one for a client that disconnected", async () => {
    const leaving = new AbortController();
    const cancelled = new Failure("provider_unreachable", "reset");
    const provider: Provider = {
      name: "leaving",
      // biome-ignore lint/correctness/useYield: it never answers.
      async *stream() {
        leaving.abort();
        throw cancelled;
      },
    };
    const group = open({ a: { provider }, b: [OK] });
    const stream = group.provider.stream(request(), { signal: leaving.signal });
    await assert.rejects(stream.next(), cancelled);
    assert.deepEqual(group.asked, ["a"]);
  });

  it("gives a conversation that is too long only to one with a larger window", async () => {
    const tooLong = failing(new Failure("context_exceeded", "too long"));
    const small = { provider: tooLong, contextTokens: 1000 };
    const group = open({ small, same: { replies: [OK], contextTokens: 1000 } });
    await assert.rejects(ask(group), { code: "context_exceeded" });
    assert.deepEqual(group.asked, ["small"]);
    const large = { replies: [OK], contextTokens: 2000, isFallback: true };
    const other = open({ small, same: { replies: [OK], contextTokens: 1000 }, large });
    assert.equal(endOf(await ask(other)).by?.deployment, "large");
    assert.equal(other.deployments[0]?.health.isReady, true, "nothing is wrong with it");
  });

  it("asks only those that accept the input", async () => {
    const checkInput = (): void => {
      throw new Failure("invalid_request", "It takes no images.");
    };
    const group = open({ blind: { replies: [OK], checkInput }, seeing: [OK] });
    assert.equal(endOf(await ask(group)).by?.deployment, "seeing");
    await assert.rejects(ask(open({ blind: { checkInput } })), { message: "It takes no images." });
  });

  it("retries after a wait if all have failed, as often as the settings say", async () => {
    const group = open({ a: [DOWN, DOWN, DOWN], b: [DOWN, DOWN, DOWN] });
    await assert.rejects(ask(group), { code: "provider_overloaded" });
    assert.deepEqual(group.asked, ["a", "b", "a", "b"], "two, and two more tries");
    const later = open({ a: [DOWN, OK], b: [DOWN] });
    assert.equal(endOf(await ask(later)).by?.tries, 3);
  });

  it("waits for the one with the shortest wait, and for none that asks for an hour", async () => {
    const wait = (seconds: string): Reply => reply.status(429, "", { "retry-after": seconds });
    const group = open({ a: [wait("30")], b: [wait("2"), OK] });
    assert.equal(endOf(await ask(group)).by?.deployment, "b");
    assert.equal(group.clock.now() >= 2000 && group.clock.now() < 3000, true);
    const never = open({ a: [wait("3600")], b: [wait("3600")] });
    await assert.rejects(ask(never), { code: "provider_overloaded" });
    assert.equal(never.clock.now(), 100);
  });

  it("does not ask one that asked for a wait until it is over", async () => {
    const busy = reply.status(429, "", { "retry-after": "20" });
    const group = open({ a: [busy, OK], b: [OK, OK, OK] });
    await ask(group);
    await ask(group);
    assert.deepEqual(group.asked, ["a", "b", "b"]);
    await group.clock.advance(20_000);
    await ask(group);
    assert.deepEqual(group.asked, ["a", "b", "b", "a"]);
  });

  it("asks one that cools down if no other is left", async () => {
    const unauthorized = reply.status(401, "key");
    const group = open({ a: [unauthorized, OK], b: [OK, DOWN] }, 0, 1);
    await ask(group);
    assert.equal(endOf(await ask(group)).by?.deployment, "a");
    assert.deepEqual(group.asked, ["a", "b", "b", "a"]);
  });

  it("stays with the one that answered the turn before, fallback or not", async () => {
    const b = { replies: [OK, DOWN], isFallback: true };
    const group = open({ a: [OK], b });
    assert.equal(endOf(await ask(group, { deployment: "b" })).by?.deployment, "b");
    assert.equal(endOf(await ask(group, { deployment: "b" })).by?.deployment, "a");
  });

  it("sends the previous answer's id only to the deployment that gave it", async () => {
    const at = { response_id: "resp_1", dialect: "function_call", stored: true } as const;
    const previous = { at, covered: 1 };
    const group = open({ a: [DOWN], b: [OK] });
    await ask(group, { deployment: "a", previous });
    assert.deepEqual(
      group.requests.map((said) => said.previous),
      [previous, undefined],
    );
  });

  it("sends sealed reasoning back to the account that sealed it, and to no other", async () => {
    const sealedBy = (text: string): Provider => ({
      name: "sealing",
      async *stream() {
        const item: Item = { type: "reasoning", summary: [], encrypted_content: text };
        const usage = endOf(await ask(open({ one: [OK] }))).usage;
        yield [
          { type: "item_start", index: 0, item },
          { type: "item_end", index: 0, item },
          { type: "end", reason: "stop", usage, continuation: undefined },
        ];
      },
    });
    const group = open({ a: { provider: sealedBy("secret") }, b: { provider: sealedBy("other") } });
    const events = await ask(group, { deployment: "a" });
    const items = events.flatMap((event) => (event.type === "item_end" ? [event.item] : []));
    assert.deepEqual(items, [
      { type: "reasoning", summary: [], encrypted_content: seal("account-a", "secret") },
    ]);
    await ask(group, { deployment: "a", items });
    await ask(group, { deployment: "b", items });
    const seen = group.requests.slice(1).map((said) => said.items[0]);
    assert.deepEqual(seen, [
      { type: "reasoning", summary: [], encrypted_content: "secret" },
      // Every wire leaves out what is in another account's envelope (sealed-reasoning.ts).
      items[0],
    ]);
  });

  it("reports parameters left out by the one that answered, and by no other", async () => {
    const dropping = (message: string, inner: Reply): Provider => ({
      name: "dropping",
      stream(said, call) {
        call.notice?.({ code: "dropped", message, params: ["seed"] });
        return createScriptedProvider(inner).stream(said, call);
      },
    });
    const group = open({
      a: { provider: dropping("a", DOWN) },
      b: { provider: dropping("b", OK) },
    });
    const notices: string[] = [];
    await ask(group, {}, ({ code, message }) => code === "dropped" && notices.push(message));
    assert.deepEqual(notices, ["b"]);
  });

  it("answers in one piece for a client that does not stream, with the same rules", async () => {
    const group = open({ a: [DOWN], b: [OK] });
    const { events, failure } = (await group.provider.answer?.(request(), {
      signal: patience(),
    })) ?? { events: [] };
    assert.equal(failure, undefined);
    assert.equal(textOf(events), "Hello there.");
    assert.equal(endOf(events).by?.tries, 2);
  });
});

function failing(failure: Failure): Provider {
  return {
    name: "failing",
    // biome-ignore lint/correctness/useYield: it never answers.
    async *stream() {
      throw failure;
    },
  };
}
