import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
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
import { newDatabasePath } from "../store/database-path.ts";
import { readEvents, type ServerSetup, startServer, type TestServer } from "./server-bench.ts";

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly isReplayed: boolean;
  /** Of an answer that is a response. */
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
    const { shelf } = server.responses;
    const get = shelf.get.bind(shelf);
    let asked = 0;
    let release = (): void => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    shelf.get = async (name) => {
      const found = await get(name);
      if (name.kind !== "idempotency_key") return found;
      if (++asked === 2) release();
      await both;
      return found;
    };
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

  it("is refused with a key that is none", async (t) => {
    const server = await startServer(t, createCounter());
    for (const key of ["", "k".repeat(256)]) {
      const { status, text } = await send(server, key, HI);
      assert.equal(status, 400, text);
      assert.match(text, /must have 1 to 255 characters/);
    }
  });

  it("is made again where the first one failed, or was never begun", async (t) => {
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
    // What the record holds after a crash between the two: the response, and no run.
    await one.responses.durable.delete(id.replace("resp_", "run_"));
    const again = await send(two, "one", HI);
    assert.equal(again.status, 200, again.text);
    assert.equal(again.id, id);
  });
});
