import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import {
  createEmbeddedEngine,
  createManualClock,
  reply,
  respond,
  type Script,
  type ScriptEngine,
  script,
} from "../../src/testing/index.ts";
import { untilTrue } from "../patience.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { readEvents, type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly isReplayed: boolean;
  /** The id of an answer that is a response. */
  readonly id: string;
}

async function send(
  { url }: Pick<TestServer, "url">,
  key: string | undefined,
  body: object,
  path = "/v1/responses",
): Promise<Sent> {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, init);
  const text = await answer.text();
  const isReplayed = answer.headers.get("idempotent-replayed") === "true";
  const isJson = text.startsWith("{");
  const id = isJson ? String((JSON.parse(text) as EmittedResponse).id) : "";
  return { status: answer.status, text, isReplayed, id };
}

/** Says another word each time. */
function createCounter(): Script {
  let count = 0;
  return respond(() => reply.text(`Answer ${++count}.`));
}

/** An engine that answers when it is let go. */
function createHeld(): { engine: ScriptEngine; release(): void } {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const embedded = createEmbeddedEngine();
  return {
    async *engine(request, call) {
      await held;
      yield* embedded(request, call);
    },
    release: () => release(),
  };
}

const HI = { input: "Hi" };

describe("a request that is sent again with its `Idempotency-Key`", () => {
  it("gets the response that the first one made", async (t) => {
    const server = await startServer(t, createCounter());
    const first = await send(server, "one", HI);
    const again = await send(server, "one", HI);
    assert.equal(again.text, first.text);
    assert.deepEqual([first.isReplayed, again.isReplayed], [false, true]);
    assert.equal(server.upstream.requests.length, 1);
    const other = await send(server, "two", HI);
    assert.notEqual(other.id, first.id);
    const none = await send(server, undefined, HI);
    assert.notEqual(none.id, first.id);
  });

  it("gets the same stream, event by event", async (t) => {
    const server = await startServer(t, createCounter());
    const body = { ...HI, stream: true };
    const first = await send(server, "one", body);
    const again = await send(server, "one", body);
    assert.ok(readEvents(first.text).length > 3);
    assert.equal(again.text, first.text);
    assert.equal(again.isReplayed, true);
  });

  it("waits for the one that is on its way", async (t) => {
    const { engine, release } = createHeld();
    const server = await startServer(t, engine);
    const both = [send(server, "one", HI), send(server, "one", HI)];
    await server.upstream.waitForRequest(1);
    const third = send(server, "one", HI);
    release();
    const [a, b, c] = await Promise.all([...both, third]);
    assert.deepEqual([b?.text, c?.text], [a?.text, a?.text]);
    assert.equal(server.upstream.requests.length, 1);
    const runs = await server.responses.durable.record.listRuns({ limit: 10 });
    assert.equal(runs.length, 1);
  });

  it("makes one response of two that both find the key unused", async (t) => {
    const server = await startServer(t, createCounter());
    let asked = 0;
    let release = (): void => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    for (const { shelf } of server.replicas) {
      const get = shelf.get.bind(shelf);
      shelf.get = async (name) => {
        const found = await get(name);
        if (name.kind !== "idempotency_key") return found;
        if (++asked === 2) release();
        await both;
        return found;
      };
    }
    const [a, b] = await Promise.all([send(server, "one", HI), send(server, "one", HI)]);
    assert.deepEqual([a.status, b.text], [200, a.text]);
    assert.equal(server.upstream.requests.length, 1);
    assert.ok(asked > 2);
  });

  it("gets a background response as it began", async (t) => {
    const server = await startServer(t, createCounter());
    const first = await send(server, "one", { ...HI, background: true });
    await server.responses.durable.idle();
    const again = await send(server, "one", { ...HI, background: true });
    assert.equal(again.id, first.id);
    assert.equal(server.upstream.requests.length, 1);
  });

  it("is refused with another body, and with another address", async (t) => {
    const server = await startServer(t, createCounter());
    await send(server, "one", HI);
    const other = await send(server, "one", { input: "Bye" });
    assert.equal(other.status, 422);
    assert.match(
      other.text,
      /was sent before with another request.*"code":"idempotency_key_reused"/,
    );
    const elsewhere = await send(server, "one", HI, "/v1/conversations");
    assert.equal(elsewhere.status, 422);
    assert.equal(server.upstream.requests.length, 1);
  });

  it("is refused if the `Idempotency-Key` is invalid", async (t) => {
    const server = await startServer(t, createCounter());
    for (const key of ["", "k".repeat(256)]) {
      const { status, text } = await send(server, key, HI);
      assert.equal(status, 400, text);
      assert.match(text, /must have 1 to 255 characters/);
    }
  });

  it("is made again if the first one failed, or was never begun", async (t) => {
    const engine = script(reply.status(400, "No."), reply.text("Yes."));
    const server = await startServer(t, engine);
    const first = await send(server, "one", HI);
    assert.equal(first.status, 400);
    const again = await send(server, "one", HI);
    assert.equal(again.status, 200, again.text);
    const third = await send(server, "one", HI);
    assert.deepEqual([third.text, third.isReplayed], [again.text, true]);
    const wrong = await send(server, "two", { input: 7 });
    assert.equal(wrong.status, 400);
    const right = await send(server, "one", HI);
    assert.equal(right.id, again.id);
  });

  it("is made again when the response was deleted", async (t) => {
    const server = await startServer(t, createCounter());
    const { id } = await send(server, "one", HI);
    await server.ask("DELETE", `/v1/responses/${id}`);
    const again = await send(server, "one", HI);
    assert.deepEqual([again.status, again.isReplayed], [200, false]);
    assert.notEqual(again.id, id);
  });

  it("is made again after 24 hours", async (t) => {
    const clock = createManualClock();
    const server = await startServer(t, createCounter(), { clock });
    const { id } = await send(server, "one", HI);
    await clock.advance(24 * 3_600_000 - 1000);
    assert.equal((await send(server, "one", HI)).id, id);
    await clock.advance(2000);
    const again = await send(server, "one", { input: "Bye" });
    assert.deepEqual([again.status, again.isReplayed], [200, false]);
  });

  it("is made again where nothing is stored, and leaves nothing", async (t) => {
    const server = await startServer(t, createCounter());
    const body = { ...HI, store: false };
    const first = await send(server, "one", body);
    const again = await send(server, "one", body);
    assert.notEqual(again.id, first.id);
    assert.deepEqual([first.isReplayed, again.isReplayed], [false, false]);
    assert.equal(server.upstream.requests.length, 2);
    const held = await server.responses.shelf.get(nameOf("one"));
    assert.equal(held, undefined);
  });

  it("keeps no word of the request beside its key", async (t) => {
    const server = await startServer(t, createCounter());
    await send(server, "one", { input: "A secret." });
    const { body } = (await server.responses.shelf.get(nameOf("one"))) ?? assert.fail();
    assert.deepEqual(Object.keys(body as object).sort(), ["fingerprint", "made"]);
    assert.doesNotMatch(JSON.stringify(body), /secret/);
  });

  it("is another tenant's own", async (t) => {
    const storePath = newDatabasePath();
    const one = await startServer(t, createCounter(), { storePath });
    const two = await startServer(t, createCounter(), { storePath, caller: { tenant: "other" } });
    const first = await send(one, "one", HI);
    const other = await send(two, "one", { input: "Bye" });
    assert.equal(other.status, 200, other.text);
    assert.notEqual(other.id, first.id);
  });

  it("makes one conversation with its items", async (t) => {
    const server = await startServer(t, createCounter());
    const items = [{ type: "message", role: "user", content: "One" }];
    const path = "/v1/conversations";
    const all = await Promise.all([1, 2, 3].map(() => send(server, "one", { items }, path)));
    assert.equal(new Set(all.map(({ id }) => id)).size, 1);
    const { body } = await server.ask("GET", `${path}/${all[0]?.id}/items`);
    assert.equal((body as { data: unknown[] }).data.length, 1);
  });
});

const SILENT = new Failure("store_busy", "The record does not answer.");

describe("a response whose beginning fails", () => {
  /** The first run is written down, and its answer is lost. It is taken up when the test says so. */
  function loseFirst({ responses: { durable } }: TestServer): void {
    const submit = durable.submit.bind(durable);
    let isLost = false;
    durable.submit = async (name, input, options) => {
      if (isLost) return await submit(name, input, options);
      isLost = true;
      await submit(name, input, { ...options, isHeld: true });
      throw SILENT;
    };
  }

  it("leaves no run that cannot be found, although it was written down", async (t) => {
    const server = await startOne(t, createCounter());
    loseFirst(server);
    const { status } = await send(server, undefined, { ...HI, background: true });
    assert.equal(status, 503);
    const { record } = server.responses.durable;
    await untilTrue(async () => (await record.listRuns({ limit: 1 })).length === 0, "no run");
    assert.equal(server.upstream.requests.length, 0);
  });

  it("leaves no run that ended before it could be found", async (t) => {
    const server = await startOne(t, createCounter());
    const { durable } = server.responses;
    const noteEnded = durable.noteEnded.bind(durable);
    let noted = 0;
    durable.noteEnded = async (...given) => {
      await noteEnded(...given);
      noted++;
      throw SILENT;
    };
    durable.submit = () => Promise.reject(SILENT);
    assert.equal((await send(server, undefined, HI)).status, 503);
    assert.equal(noted, 1);
    const none = async () => (await durable.record.listRuns({ limit: 1 })).length === 0;
    await untilTrue(none, "no run");
  });

  it("is found by the next request with its key, and the model is asked once", async (t) => {
    const server = await startOne(t, createCounter());
    loseFirst(server);
    assert.equal((await send(server, "one", HI)).status, 503);
    const { durable } = server.responses;
    const again = send(server, "one", HI);
    const [run] = await durable.record.listRuns({ limit: 2 });
    await durable.resume(run?.id ?? "");
    const { status, id, text } = await again;
    assert.equal(status, 200, text);
    assert.equal(id, run?.id.replace("run_", "resp_"));
    assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 200);
    assert.equal(server.upstream.requests.length, 1);
  });

  it("does not begin after a request with its key has begun it and its client deleted it", async (t) => {
    const server = await startOne(t, createCounter());
    const { durable } = server.responses;
    const submit = durable.submit.bind(durable);
    let isFirst = true;
    durable.submit = async (...given) => {
      if (!isFirst) return await submit(...given);
      isFirst = false;
      // The first request has claimed the key. The second one finds the response without a run.
      const { id } = await send(server, "one", HI);
      assert.equal((await server.ask("DELETE", `/v1/responses/${id}`)).status, 200);
      await submit(...given);
    };
    const { status, text } = await send(server, "one", HI);
    assert.equal(status, 409, text);
    assert.match(text, /was deleted before it began/);
    assert.equal(server.upstream.requests.length, 1);
    assert.deepEqual(await durable.record.listRuns({ limit: 2 }), []);
  });

  it("does not come back if it was deleted while a second request was beginning it", async (t) => {
    const server = await startOne(t, createCounter());
    const { durable } = server.responses;
    const submit = durable.submit.bind(durable);
    const ids: string[] = [];
    durable.submit = async (name, input, options) => {
      const id = options.id.replace("run_", "resp_");
      ids.push(id);
      // The process of the first request dies here; the second one begins its response.
      if (ids.length === 1) throw SILENT;
      await server.ask("DELETE", `/v1/responses/${id}`);
      await submit(name, input, options);
    };
    assert.equal((await send(server, "one", HI)).status, 503);
    assert.equal((await send(server, "one", HI)).status, 409);
    assert.equal(ids[0], ids[1]);
    assert.equal((await server.ask("GET", `/v1/responses/${ids[0]}`)).status, 404);
    assert.equal(server.upstream.requests.length, 0);
  });

  it("is kept if another request with its key has begun it meanwhile", async (t) => {
    const server = await startOne(t, createCounter());
    const { durable } = server.responses;
    const submit = durable.submit.bind(durable);
    let isFirst = true;
    let other: Promise<Sent> | undefined;
    durable.submit = async (...given) => {
      if (!isFirst) return await submit(...given);
      isFirst = false;
      other = send(server, "one", HI);
      await other;
      throw new Failure("store_failed", "The record failed.");
    };
    assert.equal((await send(server, "one", HI)).status, 500);
    const { status, id, text } = (await other) ?? assert.fail();
    assert.equal(status, 200, text);
    assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 200);
    assert.equal((await send(server, "one", HI)).id, id);
    assert.equal(server.upstream.requests.length, 1);
  });
});

/** On a record of its own, also where the suite runs with several servers: the test changes one server's engine. */
function startOne(t: TestContext, engine: Script): Promise<TestServer> {
  return startServer(t, engine, { storePath: newDatabasePath() });
}

function nameOf(id: string): { tenant: string; kind: string; id: string } {
  return { tenant: "tenant", kind: "idempotency_key", id };
}

describe("an `Idempotency-Key` over one record", () => {
  async function startTwo(
    t: TestContext,
    engine: Script | ScriptEngine,
  ): Promise<[TestServer, TestServer]> {
    const setup: ServerSetup = { storePath: newDatabasePath() };
    return [await startServer(t, engine, setup), await startServer(t, engine, setup)];
  }

  it("makes one response in several processes at once", async (t) => {
    const { engine, release } = createHeld();
    const servers = await startTwo(t, engine);
    const sent = servers.flatMap((server) => [send(server, "one", HI), send(server, "one", HI)]);
    await Promise.race(servers.map(({ upstream }) => upstream.waitForRequest(1)));
    release();
    const all = await Promise.all(sent);
    assert.deepEqual([...new Set(all.map(({ text }) => text))], [all[0]?.text]);
    const asked = servers.reduce((sum, { upstream }) => sum + upstream.requests.length, 0);
    assert.equal(asked, 1);
  });

  it("is known after a restart", async (t) => {
    const [one, two] = await startTwo(t, createCounter());
    const first = await send(one, "one", HI);
    const again = await send(two, "one", HI);
    assert.deepEqual([again.text, again.isReplayed], [first.text, true]);
  });

  it("begins a response that was written down by a process that died before it began it", async (t) => {
    const [one, two] = await startTwo(t, createCounter());
    const { id } = await send(one, "one", HI);
    // The record after a crash between the two: the response, and no run.
    await one.responses.durable.delete(id.replace("resp_", "run_"));
    const again = await send(two, "one", HI);
    assert.equal(again.status, 200, again.text);
    assert.equal(again.id, id);
  });
});
