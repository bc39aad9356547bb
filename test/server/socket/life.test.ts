import assert from "node:assert/strict";
import { request } from "node:http";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { Guard, Outcome } from "../../../src/server/guard.ts";
import { reply, respond, script } from "../../../src/testing/index.ts";
import { withGrowingLimit } from "../../patience.ts";
import { ANYBODY } from "../server-fixture.ts";
import { createHeldModel, startSocketServer } from "./socket-fixture.ts";

/** Lets in who shows the key, as long as it is not revoked. */
function createKeyGuard(): Guard & { revoke(): void; readonly done: Outcome[] } {
  let isRevoked = false;
  const done: Outcome[] = [];
  return {
    async admit({ headers }, _scope, about) {
      about?.answer?.setHeader("x-ratelimit-remaining-requests", "9");
      if (isRevoked || headers.authorization !== "Bearer key") {
        throw new Failure("unauthorized", "This key is not known.");
      }
      return {
        caller: ANYBODY,
        async countMore() {},
        done: (outcome) => void done.push(outcome),
      };
    },
    revoke() {
      isRevoked = true;
    },
    done,
  };
}

interface Answer {
  readonly status: number;
  readonly body: { error?: { code: string; type: string } };
}

/** The HTTP answer to a request for a socket. */
type HeaderTexts = Readonly<Record<string, string>>;

function askUpgrade(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const handshake = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { ...handshake, ...headers } }, (response) => {
      let text = "";
      response.on("data", (piece: Buffer) => {
        text += piece.toString();
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: text === "" ? {} : JSON.parse(text) }),
      );
    });
    asked.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, body: {} });
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("the life of a socket", () => {
  it("refuses a wrong key, address or upgrade as HTTP, before there is a socket", async (t) => {
    const server = await startSocketServer(t, script(), { guard: createKeyGuard() });
    const key = { authorization: "Bearer key" };
    const at = `${server.url}/v1/responses`;
    const wrong = await askUpgrade(at, { authorization: "Bearer other" });
    assert.deepEqual([wrong.status, wrong.body.error?.code], [401, "invalid_api_key"]);
    assert.equal((await askUpgrade(at, {})).status, 401);
    assert.equal((await askUpgrade(`${server.url}/v1/other`, key)).status, 404);
    const other = await askUpgrade(at, { ...key, upgrade: "h2c" });
    assert.deepEqual([other.status, other.body.error?.type], [400, "invalid_request_error"]);
    assert.equal((await askUpgrade(at, { ...key, "sec-websocket-key": "short" })).status, 400);
    assert.equal((await askUpgrade(`${at}?beta=true`, key)).status, 101);
    assert.equal((await server.ask("GET", "/v1/responses")).status, 405);
  });

  it("lets in each turn by itself: a key that is revoked asks nothing more", async (t) => {
    const guard = createKeyGuard();
    const server = await startSocketServer(t, script(reply.text("Hello.")), { guard });
    const socket = await server.connect({ authorization: "Bearer key" });
    const events = await socket.turn({ input: "Hi" });
    guard.revoke();
    const [refused] = await socket.turn({ input: "Again" });
    assert.equal(refused?.status, 401);
    assert.equal(refused?.error?.code, "invalid_api_key");
    const { "x-request-id": id, ...headers } = (refused?.["headers"] ?? {}) as HeaderTexts;
    assert.match(id ?? "", /^req_/);
    assert.deepEqual(headers, { "x-ratelimit-remaining-requests": "9" });
    const target = events.at(-1)?.response?.id;
    assert.deepEqual(guard.done, [
      { route: "GET /v1/responses", status: 101, target: undefined },
      { route: "POST /v1/responses", status: 200, target },
    ]);
  });

  it("ends after its time, but not in the middle of a turn", async (t) => {
    // The turn must begin within its time.
    await withGrowingLimit(50, async (lifetimeMs) => {
      const model = createHeldModel((text) => reply.text(text));
      const server = await startSocketServer(t, model.engine, {
        socket: { settings: { lifetimeMs } },
      });
      // One after the other: when the time of the second is over, that of the first is too.
      const busy = await server.connect();
      const idle = await server.connect();
      busy.send({ type: "response.create", input: "Long" });
      // A socket whose time was over before sends nothing more.
      const begun = model.asked("Long").then(() => true);
      assert.ok(
        await Promise.race([begun, busy.closed.then(() => false)]),
        "its turn began in time",
      );
      const said = await idle.next();
      assert.equal(said.error?.code, "websocket_connection_limit_reached");
      assert.equal(await idle.closed, 1001);
      const [refused] = (await busy.turn({ input: "More" })).slice(-1);
      assert.equal(refused?.error?.code, "websocket_connection_limit_reached");
      model.release("Long");
      await busy.until("response.completed");
      assert.equal((await busy.next()).error?.code, "websocket_connection_limit_reached");
      assert.equal(await busy.closed, 1001);
    });
  });

  it("closes when it is not used, and when the client does not answer", async (t) => {
    const server = await startSocketServer(t, script(), { socket: { settings: { idleMs: 20 } } });
    const socket = await server.connect();
    assert.equal(await socket.closed, 1001);
    const pinging = await startSocketServer(t, script(), { socket: { settings: { pingMs: 5 } } });
    const deaf = await pinging.connect();
    let pings = 0;
    deaf.raw.on("ping", () => pings++);
    deaf.raw.pong = () => {};
    assert.equal(await deaf.closed, 1006);
    assert.ok(pings >= 3, `${pings} pings`);
  });

  it("drains: running turns are finished, waiting ones are refused, new ones are turned away", async (t) => {
    const model = createHeldModel((text) => reply.text(text));
    const server = await startSocketServer(t, model.engine);
    const [idle, busy] = await Promise.all([server.connect(), server.connect()]);
    busy.send({ type: "response.create", input: "Runs" });
    busy.send({ type: "response.create", input: "Waits" });
    await model.asked("Runs");
    assert.equal(server.sockets.open(), 2);
    const drained = server.sockets.drain();
    assert.equal((await idle.next()).error?.code, "draining");
    assert.equal(await idle.closed, 1001);
    assert.equal((await askUpgrade(`${server.url}/v1/responses`, {})).status, 503);
    model.release("Runs");
    assert.equal((await busy.until("response.completed")).at(-1)?.response?.output_text, "Runs");
    assert.equal((await busy.next()).error?.code, "draining");
    await drained;
    assert.equal(server.sockets.open(), 0);
  });

  it("says why it ends turns that run when the server cannot wait", async (t) => {
    const model = createHeldModel((text) => reply.text(text));
    const server = await startSocketServer(t, model.engine);
    const socket = await server.connect();
    socket.send({ type: "response.create", input: "Stored", stream_id: "a" });
    socket.send({ type: "response.create", input: "Passing", store: false, stream_id: "b" });
    await Promise.all([model.asked("Stored"), model.asked("Passing")]);
    const drained = server.sockets.drain();
    server.sockets.cut(new Failure("draining", "The server stopped."));
    const errors = new Map<unknown, unknown>();
    while (errors.size < 3) {
      const event = await socket.next();
      if (event.type === "error") errors.set(event.stream_id, event.error?.message);
    }
    const continues = /^The server stopped\. Response `resp_\w+` continues at the next start: GET /;
    assert.match(String(errors.get("a")), continues);
    assert.equal(errors.get("b"), "The server stopped.");
    assert.equal(await socket.closed, 1001);
    await drained;
  });

  it("continues a stored response without its client, and ends others", async (t) => {
    const model = createHeldModel((text) => reply.text(text));
    const server = await startSocketServer(t, model.engine);
    const socket = await server.connect();
    socket.send({ type: "response.create", input: "Stored", stream_id: "a" });
    const [created] = await socket.until("response.created");
    socket.send({ type: "response.create", input: "Passing", store: false, stream_id: "b" });
    await Promise.all([model.asked("Stored"), model.asked("Passing")]);
    socket.raw.terminate();
    const passing = server.upstream.requests.find(({ body }) =>
      JSON.stringify(body).includes("Passing"),
    );
    await passing?.ended;
    assert.equal(passing?.aborted, true);
    model.release("Stored");
    const id = created?.response?.id;
    const { body } = await server.ask("GET", `/v1/responses/${id}?stream=true`);
    assert.match(String(body), /response\.completed/);
  });

  it("closes on a message that is too large", async (t) => {
    const settings = { maxMessageBytes: 1000 };
    const server = await startSocketServer(t, script(), { socket: { settings } });
    const socket = await server.connect();
    socket.send({ type: "response.create", input: "x".repeat(2000) });
    assert.equal(await socket.closed, 1009);
  });

  it("waits for a client that does not read, and cuts off one that only asks", async (t) => {
    const text = "word ".repeat(20_000);
    const settings = { maxBufferedBytes: 50_000 };
    const server = await startSocketServer(
      t,
      respond(() => reply.text(text, { pieceLength: 100 })),
      { socket: { settings } },
    );
    const slow = await server.connect();
    slow.raw.pause();
    slow.send({ type: "response.create", input: "Go", store: false });
    const fast = await server.connect();
    assert.equal((await fast.turn({ input: "Go" })).at(-1)?.response?.output_text, text);
    slow.raw.resume();
    assert.equal((await slow.until("response.completed")).at(-1)?.response?.output_text, text);
    const rude = await server.connect();
    rude.raw.pause();
    const shout = (): void => {
      if (rude.raw.readyState !== rude.raw.OPEN) return;
      for (let count = 0; count < 1000; count++) rude.raw.send("{}");
      setImmediate(shout);
    };
    shout();
    await new Promise((resolve) => {
      const look = (): void => {
        if (server.sockets.open() === 2) resolve(undefined);
        else setImmediate(look);
      };
      look();
    });
    rude.raw.terminate();
  });
});
