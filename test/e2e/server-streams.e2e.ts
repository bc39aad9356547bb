/** Streams of the built server on real sockets: crowds, readers that stop, two servers on one record. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request as askBare } from "node:http";
import { describe, it } from "node:test";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import { checkError, checkEvents } from "../conformance/check.ts";
import { until, untilTrue } from "../patience.ts";
import { createPlace } from "./command.ts";
import { type Flood, floodModel, startFlood } from "./flood.ts";
import { readEvents, type Served, serve, slowModel, startSlowUpstream } from "./served.ts";

const CLIENTS = 100;
const MB = 1_000_000;

async function follow(served: Served, id: string, after: number): Promise<EmittedEvent[]> {
  const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
  const { status, body } = await served.ask("GET", path);
  assert.equal(status, 200, String(body));
  assert.ok(String(body).endsWith("data: [DONE]\n\n"), String(body).slice(-300));
  return readEvents(String(body));
}

describe("a response with many followers", () => {
  it(`sends the same to ${CLIENTS} clients, whenever they connect and wherever they begin`, async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ args: slowModel(upstream) });
    const { id } = await served.create({ input: "Hi", background: true });
    await until(async () => (upstream.open === 1 ? true : undefined), "it is asked");
    const heard: Promise<{ after: number; events: EmittedEvent[] }>[] = [];
    for (let at = 0; at < CLIENTS; at++) {
      const after = (at % 25) - 1;
      heard.push(follow(served, id, after).then((events) => ({ after, events })));
      upstream.say(` ${at}`);
      // Some come one by one, others together.
      if (at % 5 === 0) await served.ask("GET", `/v1/responses/${id}`);
    }
    upstream.finish();
    const followers = await Promise.all(heard);
    const whole = await follow(served, id, -1);
    checkEvents(whole);
    assert.ok(whole.length > CLIENTS, `${whole.length} events`);
    for (const { after, events } of followers) assert.deepEqual(events, whole.slice(after + 1));
  });
});

/** Sends a request and reads nothing of the answer. Returns a function that disconnects. */
async function askAndStand({ url }: Served, body: object): Promise<() => void> {
  const asked = askBare(`${url}/v1/responses`, { method: "POST" });
  asked.on("error", () => {});
  asked.end(JSON.stringify(body));
  const [answer] = (await once(asked, "response")) as [{ statusCode: number; pause(): void }];
  answer.pause();
  assert.equal(answer.statusCode, 200);
  return () => asked.destroy();
}

async function residentBytes(served: Served): Promise<number> {
  const text = String((await served.ask("GET", "/metrics")).body);
  return Number(/^offshoot_resident_memory_bytes\{[^}]*\} (\S+)$/m.exec(text)?.[1]);
}

/** The heap of an idle server, with room for a newer runtime. */
const IDLE_HEAP_MB = 32;

/** The highest memory so far; if the system does not report it, the present one. */
async function peakBytes(served: Served): Promise<number> {
  const status = await readFile(`/proc/${served.command.child.pid}/status`, "utf8").catch(() => "");
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return peak === undefined ? await residentBytes(served) : Number(peak) * 1024;
}

/** For a stream that is too long to be read event by event. */
function lastResponse(stream: string): EmittedResponse {
  const last = /\ndata: (\{.*\})\n\ndata: \[DONE\]\n\n$/.exec(
    stream.slice(stream.lastIndexOf("\nevent: ")),
  )?.[1];
  const event = JSON.parse(last ?? assert.fail(stream.slice(-300))) as EmittedEvent;
  return "response" in event ? event.response : assert.fail(event.type);
}

/** More than the buffers of all sockets on the way hold, on any machine. */
const ENDLESS = 2000 * MB;

/** Waits until it has not changed for a while. */
async function standsStill(read: () => number): Promise<void> {
  let last = read();
  let since = performance.now();
  await untilTrue(() => {
    assert.ok(read() < ENDLESS, `${read()} bytes were taken`);
    if (read() !== last) [last, since] = [read(), performance.now()];
    return performance.now() - since > 500;
  }, "the end of what is taken");
}

describe("a client that reads nothing", () => {
  it("blocks only its own model, if nothing is stored; disconnecting ends that", async () => {
    await using flood = await startFlood(Number.POSITIVE_INFINITY);
    await using served = await serve({ args: floodModel(flood) });
    const before = await residentBytes(served);
    const leave = await askAndStand(served, { input: "Hi", stream: true, store: false });
    // The sockets' buffers on the way are filled, and no more is read.
    await standsStill(() => flood.sent);
    const grown = (await residentBytes(served)) - before;
    assert.ok(grown < 100 * MB, `grown by ${grown} bytes`);
    assert.equal((await served.ask("GET", "/healthz")).status, 200);
    assert.equal(flood.open, 1);
    leave();
    await until(async () => (flood.open === 0 ? true : undefined), "the model is left");
  });

  it("blocks nothing if it is stored: the run continues to its end", async () => {
    await using flood = await startFlood(24 * MB);
    await using served = await serve({ args: floodModel(flood) });
    const leave = await askAndStand(served, { input: "Hi", stream: true });
    await until(async () => (flood.sent >= 24 * MB ? true : undefined), "all is taken");
    await until(async () => {
      const metrics = String((await served.ask("GET", "/metrics")).body);
      return /^offshoot_responses_ended_total\{.*"completed".*\} 1$/m.test(metrics) || undefined;
    }, "it has ended");
    leave();
  });
});

/** A limit on answers, and a server with it. */
const LIMIT = 32 * MB;

interface Bounded {
  readonly flood: Flood;
  /** The number of answers that fit into its heap, in addition to its idle needs. */
  readonly answers: number;
}

/**
 * A server needs memory for what it holds at once: with less, its process ends. Without the limit of the
 * heap the test would only show how long the runtime keeps garbage.
 */
async function serveBounded({ flood, answers }: Bounded): Promise<Served> {
  const heap = IDLE_HEAP_MB + (answers * LIMIT) / MB;
  const env = {
    OFFSHOOT_MAX_ANSWER_BYTES: String(LIMIT),
    NODE_OPTIONS: `--max-old-space-size=${heap}`,
  };
  return await serve({ args: floodModel(flood), env });
}

/** Returns the response, whose text is what came within the limit, at that many bytes for each character. */
function checkCut(body: unknown, bytesPerChar = 1): EmittedResponse {
  const response = typeof body === "string" ? lastResponse(body) : (body as EmittedResponse);
  const { status, error, output_text, usage } = response;
  assert.deepEqual([status, error?.code], ["failed", "server_error"]);
  assert.match(error?.message ?? "", /`max_answer_bytes`/);
  const chars = LIMIT / bytesPerChar;
  assert.ok(output_text.length > chars / 2 && output_text.length <= chars);
  assert.ok((usage?.output_tokens ?? 0) > output_text.length / 8);
  return response;
}

/** Memory that the limit of the heap does not count: young objects, buffers, SQLite. */
async function checkGrowth(served: Served, before: number, answers: number): Promise<void> {
  const grown = (await peakBytes(served)) - before;
  assert.ok(grown < answers * LIMIT, `grown by ${grown} bytes`);
}

async function createInBackground(served: Served): Promise<unknown> {
  const { id } = await served.create({ input: "Hi", background: true });
  return await until(async () => {
    const { body } = await served.ask("GET", `/v1/responses/${id}`);
    return (body as EmittedResponse).status === "failed" ? body : undefined;
  }, "it has ended");
}

describe("a model that never stops", () => {
  it("costs the memory of four answers, and its response ends with the partial text", async () => {
    await using flood = await startFlood(Number.POSITIVE_INFINITY);
    await using served = await serveBounded({ flood, answers: 4 });
    const before = await residentBytes(served);
    let id = "";
    for (const store of [false, true]) {
      // One document, if it is not streamed.
      for (const stream of [false, true]) {
        const asked = { input: "Hi", store, stream };
        id = checkCut((await served.ask("POST", "/v1/responses", asked)).body).id;
      }
    }
    for (const query of ["", "?stream=true"]) {
      checkCut((await served.ask("GET", `/v1/responses/${id}${query}`)).body);
    }
    checkCut(await createInBackground(served));
    assert.equal(flood.asked, 5, "it is not asked again");
    await checkGrowth(served, before, 8);
  });

  it("costs the memory of seven in a conversation, with text beyond Latin-1", async () => {
    // Eight units of UTF-16, and seventeen bytes of UTF-8.
    await using flood = await startFlood(Number.POSITIVE_INFINITY, "жизнь\u{1f98a}\u2026");
    await using served = await serveBounded({ flood, answers: 7 });
    const before = await residentBytes(served);
    const conversation = (await served.ask("POST", "/v1/conversations", {})).body as { id: string };
    for (const stream of [false, true]) {
      const asked = { input: "Hi", conversation: conversation.id, stream };
      checkCut((await served.ask("POST", "/v1/responses", asked)).body, 2);
    }
    assert.equal(flood.asked, 2, "it is not asked again");
    await checkGrowth(served, before, 12);
  });
});

describe("two servers on one record", () => {
  it("follow, cancel and delete each other's responses", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    const options = { place, args: slowModel(upstream) };
    await using one = await serve(options);
    await using other = await serve(options);
    const made = await Promise.all([1, 2].map(() => one.create({ input: "Hi", background: true })));
    const [first = assert.fail(), second = assert.fail()] = made.map(({ id }) => id);
    await until(async () => (upstream.open === 2 ? true : undefined), "both are asked");
    const heard = [one, other, other].map((served) => follow(served, first, -1));
    upstream.say(" two");
    const cancelled = await other.ask("POST", `/v1/responses/${first}/cancel`);
    assert.equal((cancelled.body as EmittedResponse).status, "cancelled");
    const [here = assert.fail(), ...there] = await Promise.all(heard);
    checkEvents(here);
    for (const events of there) assert.deepEqual(events, here);
    assert.deepEqual((await one.ask("GET", `/v1/responses/${first}`)).body, cancelled.body);

    const next = { input: "And?", previous_response_id: second };
    const early = await other.ask("POST", "/v1/responses", next);
    checkError(early, { status: 409, param: "previous_response_id" });
    const follows = await Promise.all(
      [one, other].map(({ url }) => fetch(`${url}/v1/responses/${second}?stream=true`)),
    );
    assert.equal((await other.ask("DELETE", `/v1/responses/${second}`)).status, 200);
    // A reader that is too late for the ending finds nothing, and gets an error.
    for (const answer of follows) {
      assert.match(await answer.text(), /"status":"cancelled"|"code":"not_found"/);
    }
    await until(
      async () => (upstream.open === 0 ? true : undefined),
      "no request is open any more",
    );
    for (const served of [one, other]) {
      checkError(await served.ask("GET", `/v1/responses/${second}`), { status: 404 });
    }
    upstream.finish();
    const chained = { input: "And?", previous_response_id: first };
    const { status } = (await other.ask("POST", "/v1/responses", chained)).body as EmittedResponse;
    assert.equal(status, "completed");
  });

  it("continue each other's responses if one of them is killed", async () => {
    await using upstream = await startSlowUpstream();
    await using place = await createPlace();
    const options = { place, args: slowModel(upstream) };
    await using one = await serve(options);
    await using other = await serve(options);
    const { id } = await one.create({ input: "Hi", background: true });
    await until(async () => (upstream.open === 1 ? true : undefined), "it is asked");
    const heard = follow(other, id, -1);
    one.command.child.kill("SIGKILL");
    upstream.finish();
    const events = await heard;
    checkEvents(events, { takenOver: true });
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    assert.deepEqual(
      last.response.output.map((item) => ("status" in item ? item.status : undefined)),
      ["completed"],
    );
  });
});
