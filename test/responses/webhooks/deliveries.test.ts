/** Deliveries of webhooks over engines that come and go, with a clock of the test's own. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Json } from "../../../src/base/json.ts";
import { toFailedOutcome } from "../../../src/engine/ending.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { Ending } from "../../../src/protocol/run-events.ts";
import { WEBHOOK_EVENTS, type WebhookEvent } from "../../../src/protocol/webhook-event.ts";
import { defineDeliveries, followResponses } from "../../../src/responses/webhooks/deliveries.ts";
import type { SentEvent, WebhookEndpoint } from "../../../src/responses/webhooks/send-event.ts";
import type { DeliveryParts } from "../../../src/responses/webhooks/try-delivery.ts";
import { completed, createGate, onBenches, settle, until } from "../../engine/engine-fixture.ts";
import { type LocalBench, openLocalBench, openMemoryRecord } from "../../engine/local-fixture.ts";

const TAKEN: SentEvent = { isTaken: true, reason: "" };
const BUSY: SentEvent = { isTaken: false, reason: "it answered with status 503" };

const endpoint = (name: string, more: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  name,
  url: "https://hooks.example.org/",
  keys: [],
  events: WEBHOOK_EVENTS,
  ...more,
});

interface Told {
  readonly to: string;
  readonly event: WebhookEvent;
  readonly atMs: number;
}

const onBench = onBenches<LocalBench>(() => openLocalBench(openMemoryRecord));
const IN_BACKGROUND = { response: { background: true } };

interface Setup extends Partial<Pick<DeliveryParts, "endpoints">> {
  readonly told: Told[];
  /** The answers of an endpoint to its first, second, … try. */
  readonly answer?: (at: number, to: string) => SentEvent | Promise<SentEvent>;
  readonly ending?: Ending;
}

/** An engine whose responses end at once, as the test says. */
function define(bench: LocalBench, engine: Engine, setup: Setup): void {
  const { told, answer = () => TAKEN, endpoints = [endpoint("one")], ending } = setup;
  const { clock } = bench;
  engine.define(
    "response",
    async ({ signal }) => {
      if (ending === undefined) return completed(null);
      const failed = toFailedOutcome(new Failure("provider_failed", "No."), {
        signal,
        atMs: clock.now(),
      });
      const events = failed.events.map((event) => ({ ...event, ending }));
      return { ...failed, ending, events } as typeof failed;
    },
    followResponses(endpoints),
  );
  defineDeliveries(engine, {
    endpoints,
    clock,
    random: () => 1,
    send: async ({ name }, event) => {
      const tries = told.filter(({ to }) => to === name).length;
      told.push({ to: name, event, atMs: clock.now() });
      return await answer(tries, name);
    },
  });
}

function submit(engine: Engine, id: string, input: Json = IN_BACKGROUND): Promise<void> {
  return engine.submit("response", input, { id, title: id, tenant: "acme" });
}

function untilEnded(bench: LocalBench, id: string): Promise<void> {
  return until(async () => (await bench.record.getRun(id))?.status === "ended");
}

describe("webhooks of background responses", () => {
  it(
    "tell each endpoint once, in the words of the published API",
    onBench(async (bench) => {
      const engine = bench.engine();
      const told: Told[] = [];
      define(bench, engine, { told, endpoints: [endpoint("one"), endpoint("two")] });
      await submit(engine, "run_1");
      for (const name of ["one", "two"]) await untilEnded(bench, `run_1/webhook-${name}`);
      assert.deepEqual(told.map(({ to }) => to).sort(), ["one", "two"]);
      assert.deepEqual(told[0]?.event, {
        id: "evt_1",
        object: "event",
        type: "response.completed",
        created_at: Math.floor(bench.clock.now() / 1000),
        data: { id: "resp_1" },
      });
    }),
  );

  const ENDINGS: Readonly<Partial<Record<Ending, string>>> = {
    failed: "response.failed",
    cancelled: "response.cancelled",
    budget: "response.incomplete",
    timeout: "response.incomplete",
    refused: "response.incomplete",
  };
  for (const [ending, type] of Object.entries(ENDINGS)) {
    it(
      `report a response that ended as \`${ending}\` with \`${type}\``,
      onBench(async (bench) => {
        const engine = bench.engine();
        const told: Told[] = [];
        define(bench, engine, { told, ending: ending as Ending });
        await submit(engine, "run_1");
        await untilEnded(bench, "run_1/webhook-one");
        // The log of a refused response decides, and this one has no beginning.
        const expected = ending === "refused" ? [] : [type];
        assert.deepEqual(
          told.map(({ event }) => event.type),
          expected,
        );
      }),
    );
  }

  it(
    "report no other responses, no agents below one, and only to those who asked",
    onBench(async (bench) => {
      const engine = bench.engine();
      const told: Told[] = [];
      const endpoints = [
        endpoint("mine", { tenants: ["ac*"] }),
        endpoint("others", { tenants: ["other"] }),
        endpoint("failures", { events: ["response.failed"] }),
      ];
      define(bench, engine, { told, endpoints });
      await submit(engine, "run_1", { response: { background: false } });
      await engine.submit("response", IN_BACKGROUND, {
        id: "run_1/agent",
        title: "",
        parent_id: "run_1",
        tenant: "acme",
      });
      await submit(engine, "run_2");
      await untilEnded(bench, "run_2/webhook-mine");
      await untilEnded(bench, "run_2/webhook-failures");
      assert.deepEqual(
        told.map(({ to, event }) => [to, event.data.id]),
        [["mine", "resp_2"]],
      );
      assert.equal(await bench.record.getRun("run_2/webhook-others"), undefined);
    }),
  );
});

describe("an endpoint that does not take an event", () => {
  it(
    "is asked again later and later, with the same id, until it takes it",
    onBench(async (bench) => {
      const engine = bench.engine();
      const told: Told[] = [];
      define(bench, engine, { told, answer: (at) => (at < 3 ? BUSY : TAKEN) });
      await submit(engine, "run_1");
      for (const [at, waitMs] of [5000, 10_000, 20_000].entries()) {
        await until(() => told.length === at + 1);
        await until(async () => (await bench.countSteps("run_1/webhook-one")) > at * 2 + 1);
        await wait(bench, waitMs - 1);
        assert.equal(told.length, at + 1, "it was asked too soon");
        bench.clock.advance(1);
      }
      await untilEnded(bench, "run_1/webhook-one");
      assert.equal(told.length, 4);
      assert.equal(new Set(told.map(({ event }) => event.id)).size, 1);
      const log = await bench.record.readEvents("run_1/webhook-one", -1, 100);
      assert.deepEqual(
        log.flatMap(({ event }) => (event.type === "notice" ? [event.message] : [])).slice(0, 1),
        ["Webhook `one`, try 1: it answered with status 503. The next one is in 5 s."],
      );
    }),
  );

  it(
    "is left alone for as long as it asks for, and for good where it is gone",
    onBench(async (bench) => {
      const engine = bench.engine();
      const told: Told[] = [];
      const gone: SentEvent = { ...BUSY, isGone: true };
      define(bench, engine, {
        told,
        answer: (at) => (at === 0 ? { ...BUSY, retryAfterMs: 60_000 } : gone),
      });
      await submit(engine, "run_1");
      await until(async () => (await bench.countSteps("run_1/webhook-one")) > 1);
      await wait(bench, 59_999);
      assert.equal(told.length, 1);
      bench.clock.advance(1);
      await untilEnded(bench, "run_1/webhook-one");
      assert.equal((await bench.record.getRun("run_1/webhook-one"))?.ending, "failed");
      assert.equal(told.length, 2);
    }),
  );

  it(
    "is given up after three days, and the record says why",
    onBench(async (bench) => {
      const engine = bench.engine();
      const told: Told[] = [];
      define(bench, engine, { told, answer: () => BUSY });
      await submit(engine, "run_1");
      const beganMs = bench.clock.now();
      await until(async () => {
        bench.clock.advance(45 * 60_000);
        return (await bench.record.getRun("run_1/webhook-one"))?.status === "ended";
      });
      const days = ((told.at(-1)?.atMs ?? 0) - beganMs) / 86_400_000;
      assert.ok(days > 2.9 && days <= 3, `${days} days`);
      const [last] = (await bench.record.readEvents("run_1/webhook-one", -1, 1000)).slice(-1);
      assert.match(
        last?.event.type === "run_end" ? last.event.message : "",
        /^Webhook `one` did not take the event in \d+ tries: it answered with status 503\.$/,
      );
    }),
  );

  it(
    "delays no other endpoint, and has few tries at once",
    onBench(async (bench) => {
      const engine = bench.engine();
      const told: Told[] = [];
      const endpoints = [endpoint("dead"), endpoint("good")];
      const answer = (_: number, to: string): SentEvent => (to === "dead" ? BUSY : TAKEN);
      define(bench, engine, { told, endpoints, answer });
      for (let at = 0; at < 10; at++) await submit(engine, `run_${at}`);
      for (let at = 0; at < 10; at++) await untilEnded(bench, `run_${at}/webhook-good`);
      await until(() => told.filter(({ to }) => to === "dead").length >= 4);
      assert.equal(told.filter(({ to }) => to === "dead").length, 4);
      assert.equal(await engine.countWaiting("webhook:dead"), 6);
    }),
  );
});

describe("a delivery", () => {
  it(
    "continues in another process if its own dies, and is not sent again once it was accepted",
    onBench(async (bench) => {
      const told: Told[] = [];
      const first = bench.engine();
      const never = createGate();
      define(bench, first, { told, answer: () => never.opened.then(() => TAKEN) });
      await submit(first, "run_1");
      await until(() => told.length === 1);
      first.crash();
      const second = bench.engine();
      define(bench, second, { told });
      assert.deepEqual(await second.start(), ["run_1/webhook-one"]);
      await untilEnded(bench, "run_1/webhook-one");
      second.crash();
      const third = bench.engine();
      define(bench, third, { told });
      assert.deepEqual(await third.start(), []);
      assert.deepEqual(
        told.map(({ event }) => event.id),
        ["evt_1", "evt_1"],
      );
    }),
  );

  it(
    "that waits is tried with the present settings",
    onBench(async (bench) => {
      const told: Told[] = [];
      const alive = { isAlive: () => true };
      const old = bench.engine(alive);
      const young = bench.engine(alive);
      define(bench, old, { told, answer: () => BUSY });
      define(bench, young, { told, endpoints: [endpoint("one", { url: "https://new.example" })] });
      await submit(old, "run_1");
      await until(async () => (await bench.countSteps("run_1/webhook-one")) > 1);
      old.retire();
      await until(async () => {
        await young.start();
        bench.clock.advance(1000);
        return (await bench.record.getRun("run_1/webhook-one"))?.status === "ended";
      });
      assert.equal(told.length, 2);
    }),
  );

  it(
    "of a response that was deleted is not sent",
    onBench(async (bench) => {
      const told: Told[] = [];
      const engine = bench.engine();
      define(bench, engine, { told, answer: () => BUSY });
      await submit(engine, "run_1");
      await until(async () => (await bench.countSteps("run_1/webhook-one")) > 1);
      await engine.delete("run_1");
      bench.clock.advance(3_600_000);
      await engine.idle();
      assert.equal(told.length, 1);
    }),
  );
});

/**
 * The moment is in the journal, so a run that begins to sleep later sleeps until the same moment.
 */
async function wait(bench: LocalBench, ms: number): Promise<void> {
  bench.clock.advance(ms);
  await settle();
}
