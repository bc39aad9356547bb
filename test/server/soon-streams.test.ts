/**
 * A stored response that is streamed and comes without a pause is written down when it is answered. Clients and the
 * record are told the same as of a run that was followed from its beginning, which an `Idempotency-Key` asks for here.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import {
  createEmbeddedEngine,
  reply,
  respond,
  type Script,
  type ScriptEngine,
  script,
} from "../../src/testing/index.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { ANYBODY, startServer, type TestServer } from "./server-fixture.ts";
import {
  createHeld,
  onlyRun,
  retrieved,
  stillClock,
  tell,
  waitForStatus,
  withoutNames,
} from "./soon-record.ts";

const KIND = respond(() => reply.text("Foxes are kind."));
/** As `LOOK_MS` of the response says. */
const PAUSE_MS = 4;

describe("a stored stream that comes without a pause", () => {
  const SAME: readonly (readonly [string, object])[] = [
    ["a question", { input: "Hi" }],
    ["instructions and metadata", { input: "Hi", instructions: "Be kind.", metadata: { a: "b" } }],
    ["several items", { input: [1, 2].map((n) => ({ role: "user", content: `Say ${n}` })) }],
    ["fields that the model ignores", { input: "Hi", service_tier: "flex", top_k: 3 }],
  ];
  for (const [name, body] of SAME) {
    it(`is sent and stored like any other: ${name}`, async (t) => {
      const storePath = newDatabasePath();
      const server = await startServer(t, KIND, { storePath, clock: stillClock() });
      const noted = countNotes(server);
      const soon = await stream(server, body);
      const run = await stream(server, body, "once");
      assert.deepEqual(withoutNames(soon), withoutNames(run));
      assert.deepEqual(
        await tell(server, idOf(soon), storePath),
        await tell(server, idOf(run), storePath),
      );
      assert.equal(noted(), 1);
    });
  }

  const MORE: readonly (readonly [string, () => Script])[] = [
    ["reasoning", () => script(reply.reasoning("Hm.", reply.text("Kind.")))],
    ["a refusal", () => script(reply.refusal("No."))],
    ["an answer that reached its limit", () => script(reply.length("Foxes"))],
    ["a failure", () => script(reply.status(400, { error: { message: "Not this." } }))],
  ];
  for (const [name, engine] of MORE) {
    it(`is a run like any other for what is more than text: ${name}`, async (t) => {
      const [soon, run] = await Promise.all(
        [undefined, "once"].map(async (once) => {
          const storePath = newDatabasePath();
          const server = await startServer(t, engine(), { storePath, clock: stillClock() });
          const given = await post(server, { input: "Hi" }, once);
          const text = withoutNames({ status: given.status, text: await given.text() });
          const told = await tell(server, await onlyRun(storePath), storePath);
          return { text, told, asked: server.upstream.requests.map((one) => one.body) };
        }),
      );
      assert.deepEqual(soon, run);
      assert.equal(soon?.asked.length, 1);
    });
  }
});

describe("a stored stream that pauses", () => {
  it("becomes a run, which takes the call over in the middle", async (t) => {
    const clock = stillClock();
    const storePath = newDatabasePath();
    const { engine, release, hasBegun } = createPausing();
    const server = await startServer(t, engine, { clock, storePath });
    const live = await server.responses.api.create({ input: "Say it", stream: true }, ANYBODY);
    const told = collect(live.events());
    await hasBegun;
    assert.equal((await server.ask("GET", `/v1/responses/${live.id}`)).status, 404);
    await advanceUntil(clock, async () => {
      return (await server.ask("GET", `/v1/responses/${live.id}`)).status === 200;
    });
    await waitForStatus(server, live.id, "in_progress");
    release();
    const events = await told;
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, at) => at),
    );
    const last = events.at(-1);
    assert.equal(last?.type, "response.completed");
    assert.deepEqual(
      await retrieved(server, live.id),
      withoutNames("response" in last && last.response),
    );
    assert.equal(server.upstream.requests.length, 1);
    const { body } = await server.ask("POST", "/v1/responses", { input: "Say it" });
    assert.deepEqual(toTexts(body), toTexts("response" in last ? last.response : undefined));
  });

  it("continues when its client left before the first word", async (t) => {
    const { engine, release } = createHeld();
    const server = await startServer(t, engine, { clock: stillClock() });
    const live = await server.responses.api.create({ input: "Hi", stream: true }, ANYBODY);
    const leaves = new AbortController();
    const told = collect(live.events(leaves.signal)).catch(() => []);
    await server.upstream.waitForRequest(1);
    leaves.abort();
    await told;
    await waitForStatus(server, live.id, "in_progress");
    release();
    await waitForStatus(server, live.id, "completed");
    assert.equal(server.upstream.requests.length, 1);
  });
});

/** A model that stops after the first two letters until it is let go. */
function createPausing() {
  let release = (): void => {};
  let begin = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const embedded = createEmbeddedEngine();
  const engine: ScriptEngine = async function* (request, call) {
    for await (const batch of embedded(request, call)) {
      for (const event of batch) {
        if (event.type !== "text_delta") {
          yield [event];
          continue;
        }
        yield [{ ...event, delta: event.delta.slice(0, 2) }];
        begin();
        await held;
        yield [{ ...event, delta: event.delta.slice(2) }];
      }
    }
  };
  return { engine, hasBegun, release: () => release() };
}

/** How often a response was written down whole. */
function countNotes({ responses: { durable } }: TestServer): () => number {
  let count = 0;
  const { noteEnded } = durable;
  durable.noteEnded = (...given) => {
    count++;
    return noteEnded.apply(durable, given);
  };
  return () => count;
}

async function advanceUntil(
  clock: ReturnType<typeof stillClock>,
  isDone: () => Promise<boolean>,
): Promise<void> {
  while (!(await isDone())) await clock.advance(PAUSE_MS);
}

async function collect(events: AsyncIterable<readonly EmittedEvent[]>): Promise<EmittedEvent[]> {
  const all: EmittedEvent[] = [];
  for await (const batch of events) all.push(...batch);
  return all;
}

function post({ url }: TestServer, body: object, key?: string): Promise<Response> {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  const init = { method: "POST", headers, body: JSON.stringify({ ...body, stream: true }) };
  return fetch(`${url}/v1/responses`, init);
}

async function stream(server: TestServer, body: object, key?: string): Promise<EmittedEvent[]> {
  const given = await post(server, body, key);
  assert.equal(given.status, 200);
  return (await given.text())
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as EmittedEvent);
}

/** All that a response says. */
function toTexts(response: unknown): string[] {
  const { output } = response as EmittedResponse;
  const parts = output.flatMap((item) => ("content" in item ? (item.content ?? []) : []));
  return parts.flatMap((part) => ("text" in part ? [part.text] : []));
}

function idOf([first]: readonly EmittedEvent[]): string {
  return toRunId(first && "response" in first ? first.response.id : "");
}
