/** A server that is told to stop: model calls in flight are finished, and no stream ends without an event. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { checkError, checkEvents } from "../conformance/check.ts";
import { until } from "../patience.ts";
import { createPlace, type Place } from "./command.ts";
import {
  readEvents,
  type Served,
  type SlowUpstream,
  serve,
  slowModel,
  startSlowUpstream,
} from "./served.ts";

const RESPONSES = 10;

for (const workers of [1, 3]) {
  describe(`a restart with ${workers} worker(s)`, () => {
    it("repeats no request that is answered within the drain", async () => {
      await using place = await createPlace();
      await using upstream = await startSlowUpstream();
      const first = await start(place, upstream, workers);
      const ids: string[] = [];
      for (let number = 0; number < RESPONSES; number++) {
        ids.push((await first.create({ input: `number ${number}`, background: true })).id);
      }
      await until(
        async () => (upstream.open === RESPONSES ? true : undefined),
        "all are being answered",
      );
      upstream.say(" half");
      await tellToStop(first);
      upstream.say(" whole");
      upstream.finish();
      const { code, stderr } = await first.command.ended;
      assert.equal(code, 0, stderr);

      await using second = await start(place, upstream, workers);
      for (const id of ids) await checkWhole(second, id, / (half|whole)|^One$/);
      assert.equal(upstream.requests, RESPONSES, "each was asked once");
    });
  });
}

it("ends every answer with a message when the time is over", async () => {
  await using place = await createPlace();
  await using upstream = await startSlowUpstream();
  const env = { OFFSHOOT_SERVER_DRAIN_SECONDS: "1" };
  const first = await serve({ place, env, args: slowModel(upstream) });
  const { id } = await first.create({ input: "Left", background: true });
  const streams = [
    stream(first, "/v1/responses", { input: "Stored", stream: true }),
    stream(first, "/v1/responses", { input: "Passing", stream: true, store: false }),
    stream(first, `/v1/responses/${id}?stream=true`),
  ];
  const messages = [{ role: "user", content: "Chat" }];
  const chat = stream(first, "/v1/chat/completions", {
    model: "custom/slow",
    messages,
    stream: true,
  });
  const plain = first.ask("POST", "/v1/responses", { input: "Plain" });
  await until(async () => (upstream.open === 5 ? true : undefined), "all are being answered");
  upstream.say(" half");
  await until(async () => {
    const texts = [...streams, chat].map(({ text }) => text());
    return texts.every((text) => text.includes("half")) ? true : undefined;
  }, "all have heard it");
  first.command.child.kill("SIGTERM");
  const continues =
    /^The server stopped\. Response `(resp_\w+)` continues at the next start: GET \/v1\/responses\/\1\.$/;
  const again = /^The server stopped before the answer was finished\. Send the request again\.$/;
  for (const [at, { ended }] of streams.entries()) {
    const text = await ended;
    assert.ok(text.endsWith("data: [DONE]\n\n"), text.slice(-500));
    const events = readEvents(text);
    checkEvents(events);
    const last = events.at(-1);
    assert.ok(last?.type === "response.failed", last?.type);
    assert.match(last.response.error?.message ?? "", at === 1 ? again : continues);
  }
  assert.match(await chat.ended, /data: \{"error":\{[^\n]+\n\ndata: \[DONE\]\n\n$/);
  checkError(await plain, { status: 503, code: "draining" });
  assert.match(messageOf((await plain).body), continues);
  assert.equal((await first.command.ended).code, 1, "answers were cut");

  upstream.finish();
  await using second = await serve({ place, args: slowModel(upstream) });
  await checkWhole(second, id, /^One$/);
});

function messageOf(body: unknown): string {
  return (body as { error: { message: string } }).error.message;
}

function start(place: Place, upstream: SlowUpstream, workers: number): Promise<Served> {
  return serve({ place, args: [...slowModel(upstream), "--workers", String(workers)] });
}

/** Resolves when it accepts nothing new. */
async function tellToStop({ command, url }: Served): Promise<void> {
  command.child.kill("SIGTERM");
  await until(async () => {
    const answer = await fetch(`${url}/v1/models`).catch(() => undefined);
    return answer?.ok ? undefined : true;
  }, "it drains");
}

/** It completes, and has one message that was written in one go. */
async function checkWhole(served: Served, id: string, text: RegExp): Promise<void> {
  const response = await until(async () => {
    const { body } = await served.ask("GET", `/v1/responses/${id}`);
    const { status } = body as EmittedResponse;
    return status === "queued" || status === "in_progress" ? undefined : (body as EmittedResponse);
  }, `${id} has ended`);
  assert.equal(response.status, "completed");
  assert.equal(response.output.length, 1);
  assert.match(response.output_text, text);
  assert.equal(response.output_text.match(/One/g)?.length, 1, response.output_text);
}

interface Streamed {
  /** The text so far. */
  text(): string;
  readonly ended: Promise<string>;
}

function stream({ url }: Served, path: string, body?: object): Streamed {
  let text = "";
  const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const read = async (): Promise<string> => {
    const answer = await fetch(`${url}${path}`, sent);
    const pieces = (answer.body ?? assert.fail()).pipeThrough(new TextDecoderStream());
    for await (const piece of pieces) text += piece;
    return text;
  };
  return { text: () => text, ended: read() };
}
