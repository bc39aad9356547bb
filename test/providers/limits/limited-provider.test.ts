import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import { createHttpProvider } from "../../../src/providers/http/http-provider.ts";
import { createTransport, type Transport } from "../../../src/providers/http/transport.ts";
import {
  type LimitOptions,
  limitProvider,
  ONE_TRY,
  watchTransport,
} from "../../../src/providers/limits/limited-provider.ts";
import { createLimiter, type Limiter, START_LIMIT } from "../../../src/providers/limits/limiter.ts";
import type { ModelCall, Provider } from "../../../src/providers/provider.ts";
import {
  createManualClock,
  createScriptedProvider,
  type Reply,
  reply,
  type ScriptEngine,
  startChatUpstream,
  tooManyRequests,
} from "../../../src/testing/index.ts";
import { patience } from "../../patience.ts";
import { request, textOf } from "../provider-contract.ts";

const transport = createTransport({});
after(() => transport.close());

const OK = reply.text("Hello there.");
const RETRY = { attempts: 3, baseMs: 100, maxMs: 1000, maxRetryAfterMs: 60_000 };
const busy = (headers: Record<string, string> = {}): Reply => ({
  ...reply.status(429, {}),
  headers,
});

interface Limited {
  readonly limiter: Limiter;
  readonly clock: ReturnType<typeof createManualClock>;
  readonly provider: Provider;
  readonly sent: () => number;
}

function limited(replies: readonly Reply[], more: LimitOptions = {}): Limited {
  const clock = createManualClock();
  const limiter = createLimiter({ vendor: "test", clock, random: () => 0 });
  const inner = createScriptedProvider(...replies);
  const provider = limitProvider(inner, limiter, {
    clock,
    random: () => 1,
    retry: RETRY,
    ...more,
  });
  return { limiter, clock, provider, sent: () => inner.requests.length };
}

async function ask(provider: Provider, call: Partial<ModelCall> = {}): Promise<string> {
  const events: ModelEvent[] = [];
  const signal = patience();
  for await (const batch of provider.stream(request(), { signal, ...call })) events.push(...batch);
  return textOf(events);
}

describe("a limited provider", () => {
  it("asks a silent server once more, and not as often as a busy one", async () => {
    const clock = createManualClock();
    const limiter = createLimiter({ vendor: "test", clock, random: () => 0 });
    let asked = 0;
    const silent: Provider = {
      name: "silent",
      // biome-ignore lint/correctness/useYield: it never answers
      async *stream() {
        asked++;
        throw new Failure("provider_timeout", "It did not begin to answer.");
      },
    };
    const retry = { ...RETRY, attempts: 4 };
    const provider = limitProvider(silent, limiter, { clock, random: () => 0, retry });
    await assert.rejects(ask(provider), { code: "provider_timeout" });
    assert.equal(asked, 2);
  });

  it("answers like the inner provider, and holds a slot until the end", async () => {
    const { provider, limiter } = limited([OK]);
    const seen = new Set<number>();
    const signal = patience();
    for await (const _ of provider.stream(request(), { signal })) seen.add(limiter.inFlight);
    assert.deepEqual([...seen], [1]);
    assert.equal(limiter.inFlight, 0);
    assert.equal(provider.name, "scripted");
  });

  it("returns the slot if its reader stops, or it fails or is cancelled", async () => {
    const { provider, limiter } = limited([
      OK,
      reply.failure("broke", { text: "Half" }),
      reply.silence("Half"),
    ]);
    for await (const _ of provider.stream(request(), { signal: patience() })) {
      break;
    }
    assert.equal(limiter.inFlight, 0);
    await assert.rejects(ask(provider), { code: "provider_failed" });
    assert.equal(limiter.inFlight, 0);
    const abort = new AbortController();
    const asked = assert.rejects(ask(provider, { signal: abort.signal }), { code: "cancelled" });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(limiter.inFlight, 1);
    abort.abort();
    await asked;
    assert.equal(limiter.inFlight, 0);
  });

  it("holds no slot between two attempts, and reports each refusal to the limiter", async () => {
    const { provider, limiter, clock, sent } = limited([busy(), busy(), OK]);
    const notices: string[] = [];
    const asked = ask(provider, { notice: ({ code, message }) => notices.push(code + message) });
    await clock.advance(0);
    await clock.advance(99);
    assert.equal(sent(), 1);
    assert.equal(limiter.inFlight, 0);
    assert.equal(limiter.limit, START_LIMIT / 2);
    await clock.advance(1);
    assert.equal(sent(), 2);
    assert.equal(limiter.limit, START_LIMIT / 4);
    await clock.advance(200);
    assert.equal(await asked, "Hello there.");
    assert.equal(notices.length, 2);
    assert.match(notices[0] ?? "", /^retryHTTP 429.* Trying test again in 0\.1 s\.$/);
  });

  it("lets others continue while one is asked to wait", async () => {
    const { provider, clock, sent, limiter } = limited([busy({ "retry-after": "5" }), OK, OK]);
    const refused = ask(provider);
    await clock.advance(0);
    assert.equal(limiter.isPaused, false);
    assert.equal(await ask(provider), "Hello there.");
    await clock.advance(4999);
    assert.equal(sent(), 2);
    await clock.advance(1);
    assert.equal(await refused, "Hello there.");
  });

  it("makes all calls wait if the next one is refused too", async () => {
    const five = busy({ "retry-after": "5" });
    const { provider, clock, sent } = limited([five, five, OK, OK, OK]);
    const asked = [ask(provider), ask(provider)];
    await clock.advance(0);
    asked.push(ask(provider));
    await clock.advance(4999);
    assert.equal(sent(), 2);
    await clock.advance(1);
    assert.deepEqual(await Promise.all(asked), ["Hello there.", "Hello there.", "Hello there."]);
  });

  it("gives up on a vendor that accepts no calls", async () => {
    const { provider, clock, sent } = limited(Array(9).fill(busy()));
    const asked = assert.rejects(ask(provider), { code: "provider_overloaded" });
    await clock.advance(0);
    await clock.advance(60_000);
    await asked;
    assert.equal(sent(), RETRY.attempts);
  });

  it("is more patient with one that accepts other calls, but not for ever", async () => {
    const few = limited([OK, ...Array(7).fill(busy()), OK]);
    await ask(few.provider);
    const asked = ask(few.provider);
    await few.clock.advance(0);
    await few.clock.advance(10_000);
    assert.equal(await asked, "Hello there.");

    const many = limited([OK, ...Array(99).fill(busy())]);
    await ask(many.provider);
    const refused = assert.rejects(ask(many.provider), { code: "provider_overloaded" });
    await many.clock.advance(0);
    await many.clock.advance(60_000);
    await refused;
    assert.equal(many.sent(), 1 + 20);
  });

  it("does not retry if only one attempt is allowed", async () => {
    const { provider, sent } = limited([OK, busy(), OK], { retry: ONE_TRY });
    await ask(provider);
    await assert.rejects(ask(provider), { code: "provider_overloaded" });
    assert.equal(sent(), 2);
  });

  it("does not retry a permanent failure", async () => {
    const { provider, sent } = limited([reply.status(400, {}), OK]);
    await assert.rejects(ask(provider), { code: "provider_rejected" });
    assert.equal(sent(), 1);
  });

  it("leaves the queue if the call is cancelled there", async () => {
    const { provider, limiter, clock, sent } = limited([OK]);
    limiter.pause(30_000);
    const abort = new AbortController();
    const asked = assert.rejects(ask(provider, { signal: abort.signal, notice() {} }), {
      code: "timeout",
    });
    await clock.advance(10);
    abort.abort(new Failure("timeout", "Too late."));
    await asked;
    assert.equal(sent(), 0);
    assert.equal(clock.sleeping, 0);
  });

  it("reports once what every attempt reports", async () => {
    const failing = createScriptedProvider();
    const inner: Provider = {
      name: "test",
      async *stream(asked, call) {
        call.notice?.({ code: "dropped", message: "`top_p` left out." });
        yield* failing.stream(asked, call);
      },
    };
    const notices: string[] = [];
    const limiter = createLimiter({ vendor: "test" });
    const provider = limitProvider(inner, limiter, { retry: { ...RETRY, baseMs: 0 } });
    await assert.rejects(ask(provider, { notice: ({ code }) => notices.push(code) }));
    assert.deepEqual(notices, ["dropped", "retry", "retry"]);
  });

  it("lets a run ask for its children while it waits for them", async () => {
    const { provider, limiter } = limited([OK, OK, OK, OK, OK, OK]);
    while (limiter.limit > 1) {
      const overload = new Failure("provider_overloaded", "Busy.");
      (await limiter.acquire({ signal: patience() })).release(overload);
    }
    const parent = async (): Promise<string> => {
      await ask(provider, { run: "parent" });
      const children = ["parent/1", "parent/2"].map((run) => ask(provider, { run }));
      await Promise.all(children);
      return ask(provider, { run: "parent" });
    };
    assert.equal(await parent(), "Hello there.");
  });
});

describe("a watched transport", () => {
  const answering = (status: number, headers: Record<string, string>): Transport => ({
    async send() {
      const body = { chunks: undefined as never, text: async () => "", readAll: async () => {} };
      return { status, headers, ...body };
    },
    async close() {},
  });

  /** How long the limiter is paused after an answer with these headers. */
  async function pauseAfter(status: number, headers: Record<string, string>): Promise<number> {
    const clock = createManualClock(1000);
    const limiter = createLimiter({ vendor: "test", clock, random: () => 0 });
    const watched = watchTransport(answering(status, headers), limiter, clock);
    await watched.send(undefined as never);
    let waitedMs = 0;
    for (; limiter.isPaused; waitedMs += 100) await clock.advance(100);
    return waitedMs;
  }

  const SPENT = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1.5s" };

  it("waits for a used-up counter, also after a success", async () => {
    assert.equal(await pauseAfter(200, SPENT), 1500);
    assert.equal(await pauseAfter(200, { ...SPENT, "x-ratelimit-remaining-requests": "1" }), 0);
  });

  it("prefers the server's own wait", async () => {
    assert.equal(await pauseAfter(429, { ...SPENT, "retry-after": "4" }), 4000);
    assert.equal(await pauseAfter(429, { ...SPENT, "retry-after-ms": "200" }), 200);
    assert.equal(await pauseAfter(429, { ...SPENT, "retry-after": "0" }), 0);
    assert.equal(await pauseAfter(503, { "retry-after": "4" }), 4000);
    assert.equal(await pauseAfter(200, { "retry-after": "4" }), 0);
  });

  it("takes a refusal without a used-up counter for one of this call alone", async () => {
    assert.equal(await pauseAfter(429, { "retry-after": "4" }), 0);
  });

  it("does not wait longer than a minute for a counter", async () => {
    assert.equal(await pauseAfter(200, { ...SPENT, "x-ratelimit-reset-requests": "6h" }), 60_000);
  });
});

describe("two hundred runs at a vendor that refuses half of the requests", () => {
  const RUNS = 200;
  /** Answers with the run's name, which is the last message. */
  const engine: ScriptEngine = (asked, call) =>
    createScriptedProvider(reply.text(JSON.stringify(asked.items.at(-1)))).stream(asked, call);

  for (const [name, retryAfter, isRefused] of [
    ["every second one", 0, (number: number) => number % 2 === 0],
    ["by chance, with a wait", 0.003, (number: number) => hash(number) % 2 === 0],
  ] as const) {
    it(`answers every run in its turn: ${name}`, async () => {
      await using upstream = await startChatUpstream({
        engine,
        faults: (number) => (isRefused(number) ? tooManyRequests({ retryAfter }) : undefined),
      });
      const limiter = createLimiter({ vendor: "test" });
      const inner = createHttpProvider({
        vendor: "test",
        wire: chatWire,
        baseUrl: upstream.url,
        headers: {},
        quirks: {},
        transport: watchTransport(transport, limiter),
        retry: ONE_TRY,
      });
      const provider = limitProvider(inner, limiter);
      const runs = Array.from({ length: RUNS }, (_, index) => `run-${index}`);
      const texts = await Promise.all(runs.map((run) => askAs(provider, run)));
      for (const [index, text] of texts.entries()) assert.ok(text.includes(`"run-${index}"`));

      assert.ok(upstream.requests.length < 3 * RUNS);
      // Between two attempts of a run every other run has at most one of its own, and a few are in flight.
      for (const gap of gapsOf(upstream.requests.map(({ text }) => text))) {
        assert.ok(gap <= RUNS + START_LIMIT, `a run waited for ${gap} requests of others`);
      }
      assert.deepEqual([limiter.inFlight, limiter.waiting], [0, 0]);
    });
  }

  async function askAs(provider: Provider, run: string): Promise<string> {
    const asked = request({ items: [{ type: "message", role: "user", content: run }] });
    const events: ModelEvent[] = [];
    const signal = patience();
    for await (const batch of provider.stream(asked, { signal, run })) events.push(...batch);
    return textOf(events);
  }

  /** How many requests came before the first, and between two, of the same run. */
  function gapsOf(bodies: readonly string[]): number[] {
    const last = new Map<string, number>();
    return bodies.map((body, index) => {
      const gap = index - (last.get(body) ?? 0);
      last.set(body, index);
      return gap;
    });
  }

  /** Even and odd without a pattern, and the same each time. */
  function hash(number: number): number {
    return (Math.imul(number, 0x9e3779b1) >>> 15) ^ (Math.imul(number, 0x85ebca6b) >>> 13);
  }
});
