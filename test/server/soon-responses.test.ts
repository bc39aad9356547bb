/**
 * A stored response whose client waits for the whole answer is written down when it is answered. The record says the
 * same of it as of a run that was followed from its beginning, which an `Idempotency-Key` asks for here.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../src/base/json.ts";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, respond, type Script, script } from "../../src/testing/index.ts";
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
const WEATHER = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  strict: true,
};

const SAME: readonly (readonly [string, object])[] = [
  ["a question", { input: "Hi" }],
  [
    "instructions, metadata and a user",
    { input: "Hi", instructions: "Be kind.", metadata: { a: "b" }, user: "u" },
  ],
  [
    "a long list of items",
    { input: [1, 2, 3].map((n) => ({ role: "user", content: `Say ${n}` })) },
  ],
  ["what the model does not know", { input: "Hi", service_tier: "flex", verbosity: 1, top_k: 3 }],
  ["a limit and a temperature", { input: "Hi", max_output_tokens: 500, temperature: 0.5 }],
];

describe("a stored response that is answered soon", () => {
  for (const [name, body] of SAME) {
    it(`is in the record like any other: ${name}`, async (t) => {
      const storePath = newDatabasePath();
      const server = await startServer(t, KIND, { storePath, clock: stillClock() });
      const soon = await create(server, body);
      // The last one: what a model refuses is left out of the next.
      const asked = server.upstream.requests.at(-1)?.body;
      const run = await create(server, body, "once");
      assert.deepEqual(withoutNames(soon), withoutNames(run));
      assert.deepEqual(
        await tell(server, toRunId(soon.id), storePath),
        await tell(server, toRunId(run.id), storePath),
      );
      assert.deepEqual(asked, server.upstream.requests.at(-1)?.body);
    });
  }

  it("is one write, and the other is more", async (t) => {
    const server = await startServer(t, KIND, {
      storePath: newDatabasePath(),
      clock: stillClock(),
    });
    const noted: string[] = [];
    const { durable } = server.responses;
    const { noteEnded, submit } = durable;
    durable.noteEnded = (...given) => {
      noted.push("noteEnded");
      return noteEnded.apply(durable, given);
    };
    durable.submit = (...given) => {
      noted.push("submit");
      return submit.apply(durable, given);
    };
    await create(server, { input: "Hi" });
    await create(server, { input: "Hi" }, "once");
    await create(server, { input: "Hi", top_logprobs: 2 });
    await create(server, { input: "Hi", include: ["message.output_text.logprobs"] });
    await create(server, { input: "Hi", tools: [WEATHER] });
    assert.deepEqual(noted, ["noteEnded", "submit", "submit", "submit", "submit"]);
  });
});

describe("a stored response that is not answered soon", () => {
  it("becomes a run, which takes the call over", async (t) => {
    const clock = stillClock();
    const { engine, release } = createHeld();
    const server = await startServer(t, engine, { clock });
    const live = await server.responses.api.create({ input: "Hi" }, ANYBODY);
    const answered = live.response();
    await server.upstream.waitForRequest(1);
    assert.equal((await server.ask("GET", `/v1/responses/${live.id}`)).status, 404);
    await clock.advance(2000);
    await waitForStatus(server, live.id, "in_progress");
    release();
    const response = await answered;
    assert.equal(response.status, "completed");
    assert.deepEqual(await retrieved(server, live.id), withoutNames(response));
    assert.equal(server.upstream.requests.length, 1);
  });

  it("continues when its client has left", async (t) => {
    const { engine, release } = createHeld();
    const server = await startServer(t, engine, { clock: stillClock() });
    const live = await server.responses.api.create({ input: "Hi" }, ANYBODY);
    const leaves = new AbortController();
    const answered = live.response(leaves.signal);
    await server.upstream.waitForRequest(1);
    leaves.abort();
    await assert.rejects(answered);
    await waitForStatus(server, live.id, "in_progress");
    release();
    await waitForStatus(server, live.id, "completed");
    assert.equal(server.upstream.requests.length, 1);
  });

  const MORE: readonly (readonly [string, () => Script, object])[] = [
    [
      "a call",
      () => script(reply.calls([{ name: "weather", arguments: {} }])),
      { tools: [WEATHER] },
    ],
    ["reasoning", () => script(reply.reasoning("Hm.", reply.text("Kind."))), {}],
    ["a refusal", () => script(reply.refusal("No.")), {}],
    ["an answer that was cut", () => script(reply.length("Foxes")), {}],
    ["a failure", () => script(reply.status(400, { error: { message: "Not this." } })), {}],
  ];
  for (const [name, engine, body] of MORE) {
    it(`is a run like any other: ${name}`, async (t) => {
      const [soon, run] = await Promise.all(
        [undefined, "once"].map(async (once) => {
          const storePath = newDatabasePath();
          const server = await startServer(t, engine(), { storePath, clock: stillClock() });
          const made = await answer(server, { input: "Hi", ...body }, once);
          const told = await tell(server, await onlyRun(storePath), storePath);
          return { made, told, asked: server.upstream.requests.map((one) => one.body) };
        }),
      );
      assert.deepEqual(soon, run);
      assert.equal(soon?.asked.length, 1);
    });
  }

  it("becomes a run where the record cannot be written at once", async (t) => {
    const server = await startServer(t, KIND, { clock: stillClock() });
    const { durable } = server.responses;
    durable.noteEnded = async () => {
      throw new Error("The disk is full.");
    };
    const response = await create(server, { input: "Hi" });
    assert.equal(response.status, "completed");
    assert.deepEqual(await retrieved(server, response.id), withoutNames(response));
    assert.equal(server.upstream.requests.length, 1);
  });
});

async function answer(server: TestServer, body: object, key?: string): Promise<Json> {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const given = await fetch(`${server.url}/v1/responses`, init);
  return withoutNames({ status: given.status, body: await given.json() });
}

async function create(server: TestServer, body: object, key?: string): Promise<EmittedResponse> {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const given = await fetch(`${server.url}/v1/responses`, init);
  assert.equal(given.status, 200);
  return (await given.json()) as EmittedResponse;
}
