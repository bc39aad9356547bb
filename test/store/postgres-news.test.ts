import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { PostgresDatabase } from "../../src/store/postgres/postgres-database.ts";
import type { Client } from "../../src/store/postgres/postgres-driver.ts";
import { createPostgresNews } from "../../src/store/postgres/postgres-news.ts";
import { settle } from "../engine/engine-fixture.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

class FakeClient extends EventEmitter {
  isEnded = false;
  readonly #connected: Promise<void>;

  constructor(connected: Promise<void>) {
    super();
    this.#connected = connected;
  }

  connect(): Promise<void> {
    return this.#connected;
  }

  async query(): Promise<void> {}

  async end(): Promise<void> {
    this.isEnded = true;
  }
}

const PROBE_MS = 5000;

/** News whose connections the test opens and loses. `self` is the message by which the process hears itself. */
async function openNews(t: TestContext, connected = Promise.resolve()) {
  t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  const clients: FakeClient[] = [];
  let self = "";
  const get = async (_sql: string, _channel: unknown, payload: unknown): Promise<undefined> => {
    self = String(payload);
  };
  const news = createPostgresNews({ get } as unknown as PostgresDatabase, () => {
    const client = new FakeClient(connected);
    clients.push(client);
    return client as unknown as Client;
  });
  t.after(() => news.close());
  news.listen(() => {});
  await settle();
  const probe = async (): Promise<void> => {
    t.mock.timers.tick(PROBE_MS);
    await settle();
  };
  return { news, clients, probe, self: () => ({ payload: self }) };
}

describe("the connection that hears news", () => {
  it("stays when the one before it reports an error late", async (t) => {
    const { clients, probe } = await openNews(t);
    clients[0]?.emit("end");
    await probe();
    clients[0]?.emit("error", new Error("Connection terminated"));
    await settle();
    assert.deepEqual(
      clients.map(({ isEnded }) => isEnded),
      [false, false],
    );
  });

  it("is not confirmed by a message that the one before it received", async (t) => {
    const { news, clients, probe, self } = await openNews(t);
    clients[0]?.emit("end");
    await probe();
    clients[0]?.emit("notification", self());
    assert.equal(news.isLive, false);
    clients[1]?.emit("notification", self());
    assert.equal(news.isLive, true);
  });

  it("is opened once, however long that takes", async (t) => {
    let connect = (): void => {};
    const connected = new Promise<void>((resolve) => {
      connect = resolve;
    });
    const { clients, probe } = await openNews(t, connected);
    await probe();
    await probe();
    connect();
    await settle();
    assert.deepEqual(
      clients.map(({ isEnded }) => isEnded),
      [false],
    );
  });
});

describe("news of runs", () => {
  it("keeps nothing of messages that were sent", async () => {
    const answers: WeakRef<object>[] = [];
    let sent = (): void => {};
    const get: PostgresDatabase["get"] = async () => {
      const row = { pg_notify: "" };
      answers.push(new WeakRef(row));
      sent();
      return row;
    };
    const news = createPostgresNews({ get } as PostgresDatabase);
    for (let count = 0; count < 20; count++) {
      const done = new Promise<void>((resolve) => {
        sent = resolve;
      });
      news.tell(`run_${count}`);
      await done;
    }
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    const left = answers.filter((answer) => answer.deref() !== undefined);
    assert.equal(answers.length, 20);
    assert.ok(left.length <= 1, `${left.length} of 20 answers are kept`);
    await news.close();
  });
});
