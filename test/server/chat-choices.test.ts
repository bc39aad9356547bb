import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond, type Script, script } from "../../src/testing/index.ts";
import { createGuardBench, startGuarded } from "./guard/guard-fixture.ts";
import { startServer } from "./server-fixture.ts";

interface Completion {
  readonly id: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: { readonly content: string };
    readonly delta?: { readonly content?: string | null };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens: number; readonly total_tokens: number } | null;
  readonly error?: { readonly message: string };
}

const PATH = "/v1/chat/completions";
const MESSAGES = [{ role: "user", content: "Hi" }];

/** Says another word each time, for 10 tokens in and 2 out. */
function createCounter(): Script {
  let count = 0;
  return respond(() => reply.text(`Answer ${++count}.`, { usage: { input: 10, output: 2 } }));
}

function readFrames(text: string): Completion[] {
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice("data: ".length)) as Completion);
}

describe("several choices of a chat completion", () => {
  it("are answers of their own, and what all of them used is counted", async (t) => {
    const server = await startServer(t, createCounter());
    const { status, body } = await server.ask("POST", PATH, { messages: MESSAGES, n: 3 });
    assert.equal(status, 200, JSON.stringify(body));
    const { choices, usage } = body as Completion;
    assert.deepEqual(
      choices.map(({ index }) => index),
      [0, 1, 2],
    );
    const texts = choices.map(({ message }) => message.content).sort();
    assert.deepEqual(texts, ["Answer 1.", "Answer 2.", "Answer 3."]);
    assert.deepEqual([usage?.prompt_tokens, usage?.total_tokens], [30, 36]);
    assert.equal(server.upstream.requests.length, 3);
  });

  it("are streamed side by side under one id, with one usage at the end", async (t) => {
    const server = await startServer(t, createCounter());
    const asked = {
      messages: MESSAGES,
      n: 3,
      stream: true,
      stream_options: { include_usage: true },
    };
    const { body } = await server.ask("POST", PATH, asked);
    const frames = readFrames(String(body));
    assert.equal(new Set(frames.map(({ id }) => id)).size, 1);
    const texts = [0, 1, 2].map((at) =>
      frames
        .flatMap(({ choices }) => choices.filter(({ index }) => index === at))
        .map(({ delta }) => delta?.content ?? "")
        .join(""),
    );
    assert.deepEqual(texts.sort(), ["Answer 1.", "Answer 2.", "Answer 3."]);
    const ended = frames.flatMap(({ choices }) =>
      choices.filter((one) => one.finish_reason !== null),
    );
    assert.equal(ended.length, 3);
    const used = frames.filter(({ usage }) => usage);
    assert.deepEqual([used.length, used[0]?.usage?.total_tokens], [1, 36]);
    assert.equal(frames.at(-1), used[0]);
    assert.match(String(body), /data: \[DONE\]\n\n$/);
  });

  it("may be more than are asked for at once", async (t) => {
    const server = await startServer(t, createCounter());
    for (const stream of [false, true]) {
      const { status } = await server.ask("POST", PATH, { messages: MESSAGES, n: 20, stream });
      assert.equal(status, 200);
    }
    assert.equal(server.upstream.requests.length, 40);
  });

  it("all choices fail if the model refuses one of them", async (t) => {
    const answers = script(reply.text("One."), reply.status(400, "No."), reply.text("Three."));
    const server = await startServer(t, answers);
    const { status, body } = await server.ask("POST", PATH, { messages: MESSAGES, n: 3 });
    assert.equal(status, 400, JSON.stringify(body));
    const runs = await server.responses.passing.record.listRuns({ limit: 10 });
    assert.equal(runs.length, 0);
  });

  it("end with an error if one of the streams breaks off, and nothing follows it", async (t) => {
    const broken = reply.failure("It broke.", { text: "Two" });
    const server = await startServer(t, script(reply.silence("One"), broken));
    const { body } = await server.ask("POST", PATH, { messages: MESSAGES, n: 2, stream: true });
    const frames = readFrames(String(body));
    assert.equal(frames.filter(({ error }) => error).length, 1);
    assert.ok(frames.at(-1)?.error);
  });

  it("are each paid for by the key", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, createCounter());
    const limits = { tokens_per_day: 100_000 };
    const { token, key } = await bench.makeKey({ scopes: ["responses"], limits });
    const body = { messages: MESSAGES, n: 3, max_tokens: 50 };
    const { status, text } = await server.send({ token, path: PATH, body });
    assert.equal(status, 200, text);
    const { day } = await bench.spending.read(key.id, bench.clock.now());
    assert.equal(day.tokens, 36);
    assert.deepEqual(await bench.spending.readHolds(key.id), []);
  });

  it("are as many requests, for a key's limits and in its count", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, createCounter());
    const limits = { requests_per_minute: 5 };
    const { token, key } = await bench.makeKey({ scopes: ["responses"], limits });
    const ask = (n: number) => server.send({ token, path: PATH, body: { messages: MESSAGES, n } });
    const first = await ask(3);
    assert.equal(first.status, 200, first.text);
    assert.equal(first.headers["x-ratelimit-remaining-requests"], "2");
    const refused = await ask(3);
    assert.equal(refused.status, 429, refused.text);
    assert.match(refused.text, /5 requests in a minute, and has used 4\. This asks for 2 more\./);
    assert.equal(server.upstream.requests.length, 3, "none of them was asked");
    const { minute } = await bench.spending.read(key.id, bench.clock.now());
    assert.equal(minute.requests, 4, "the refused request is one");
    assert.equal((await ask(1)).status, 200);
  });

  it("are counted on a key without limits too", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, createCounter());
    const { token, key } = await bench.makeKey({ scopes: ["responses"] });
    const body = { messages: MESSAGES, n: 3, stream: true };
    const { status, text } = await server.send({ token, path: PATH, body });
    assert.equal(status, 200, text);
    await bench.guard.budgets.flush();
    assert.equal((await bench.spending.read(key.id, bench.clock.now())).day.requests, 3);
  });
});
