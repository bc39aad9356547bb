/** Large bodies: parsed, kept and sent on in slices, while the server does what else it is asked. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { parseJsonBytes, parseLargeBytes } from "../../src/server/json-text.ts";
import { toJson } from "../../src/server/route.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { countTurns } from "../base/count-turns.ts";
import { startServer } from "./server-fixture.ts";
import { startSocketServer } from "./socket/socket-fixture.ts";

const TEXT = "Grüße ".repeat(2_700_000);

const answering = () => respond(() => reply.text("Read."));
const parse = (text: string): Promise<unknown> =>
  parseLargeBytes(Buffer.from(text), { what: "The body", owner: "tenant" });

/** The request to the model, in the form of the chat API. */
interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

describe("a large body", () => {
  it("is parsed in many turns of the event loop", async () => {
    const text = JSON.stringify({ input: TEXT, tools: [{ type: "function", name: "f" }] });
    const { turns, value } = await countTurns(() => parse(text));
    assert.ok(turns >= 4, `${turns} turns`);
    assert.deepEqual(value, JSON.parse(text));
  });

  it("keeps no other request from its answer", async (t) => {
    let turns = 0;
    const server = await startServer(t, answering(), {
      server: {
        routes: [
          {
            method: "POST",
            path: "/large",
            summary: "",
            scope: null,
            async handle({ json, request }) {
              // From the last byte on, only the parsing takes time.
              const body = json();
              await new Promise((resolve) => request.once("end", resolve));
              const parsed = await countTurns(() => body);
              turns = parsed.turns;
              return toJson({ length: (parsed.value as { input: string }).input.length });
            },
          },
          {
            method: "GET",
            path: "/small",
            summary: "",
            scope: null,
            handle: async () => toJson({ turns }),
          },
        ],
      },
    });
    let isDone = false;
    const large = server.ask("POST", "/large", { input: TEXT }).finally(() => {
      isDone = true;
    });
    let answered = 0;
    while (!isDone) {
      await server.ask("GET", "/small");
      answered++;
    }
    assert.deepEqual((await large).body, { length: TEXT.length });
    assert.ok(turns >= 4, `${turns} turns`);
    assert.ok(answered >= 4, `${answered} answers`);
  });

  for (const store of [false, true]) {
    it(`reaches the model as it was sent (store: ${store})`, async (t) => {
      const server = await startServer(t, answering());
      const { output_text } = await server.create({ input: TEXT, store });
      assert.equal(output_text, "Read.");
      const [request] = server.upstream.requests;
      assert.ok(request);
      const { messages } = request.body as unknown as Sent;
      assert.ok(messages.at(-1)?.content === TEXT, "another text");
      assert.equal(request.headers["content-length"], String(Buffer.byteLength(request.text)));
    });
  }

  it("is there for the next turn, for its list and by the ids of its items", async (t) => {
    const server = await startServer(t, answering());
    const first = await server.create({ input: TEXT });
    const { body } = await server.ask("GET", `/v1/responses/${first.id}/input_items`);
    const [item] = (body as { data: { id: string; content: { text: string }[] }[] }).data;
    assert.ok(item?.content[0]?.text === TEXT, "another text in the list");
    await server.create({ input: "And?", previous_response_id: first.id });
    await server.create({ input: [{ type: "item_reference", id: item.id }] });
    for (const request of server.upstream.requests.slice(1)) {
      const { messages } = request.body as unknown as Sent;
      assert.ok(messages[0]?.content === TEXT, "another text for the model");
    }
    const again = await server.ask("GET", `/v1/responses/${first.id}`);
    assert.equal((again.body as EmittedResponse).output_text, "Read.");
  });

  it("comes back whole where an answer tells it: as JSON and in a stream", async (t) => {
    const server = await startServer(t, answering());
    const { instructions } = await server.create({ input: "Hi", instructions: TEXT, store: false });
    assert.ok(instructions === TEXT, "another text");
    const events = await server.stream({ input: "Hi", instructions: TEXT });
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed" && last.response.instructions === TEXT);
  });

  it("comes back whole on a WebSocket, too", async (t) => {
    const server = await startSocketServer(t, answering());
    const socket = await server.connect();
    const last = (await socket.turn({ input: "Hi", instructions: TEXT, store: false })).at(-1);
    assert.equal(last?.type, "response.completed");
    assert.ok(last.response?.["instructions" as "id"] === TEXT, "another text");
  });

  it("is heard on a WebSocket before what comes after it", async (t) => {
    const server = await startSocketServer(t, answering());
    const socket = await server.connect();
    socket.send({ type: "response.create", input: TEXT, store: false });
    socket.send({ type: "response.create", input: "Second", store: false });
    await socket.until("response.completed");
    await socket.until("response.completed");
    const sent = server.upstream.requests.map(({ body }) => (body as unknown as Sent).messages);
    assert.deepEqual(
      sent.map((messages) => messages.at(-1)?.content.slice(0, 6)),
      ["Grüße ", "Second"],
    );
  });
});

describe("a large body that is refused", () => {
  const LONG = "x".repeat(300_000);

  it("is refused with the words for a small one", async () => {
    const bodies: readonly Buffer[] = [
      Buffer.from(`{"a":"${LONG}`),
      Buffer.from(`${"[".repeat(200)}"${LONG}"${"]".repeat(200)}`),
      Buffer.concat([Buffer.from(`"${LONG}`), Buffer.from([0xff, 0x22])]),
    ];
    for (const bytes of bodies) {
      const small = (): unknown => parseJsonBytes(bytes, "The body");
      let message = "";
      assert.throws(small, (thrown: Error) => {
        ({ message } = thrown);
        return true;
      });
      await assert.rejects(parseLargeBytes(bytes, { what: "The body", owner: "t" }), { message });
    }
  });

  it("has more values than the server should walk over", async () => {
    const code = "invalid_request";
    for (const value of ["1", "[]", '""']) {
      const text = `[${`${value},`.repeat(600_000)}1]`;
      await assert.rejects(parse(text), { code, message: /more than 500000 values/ });
    }
    // The largest request for embeddings that vendors take.
    const tokens = JSON.stringify({ input: Array.from({ length: 300_000 }, () => 100_000) });
    await parse(tokens);
  });

  it("has more items than the server accepts, before their content is examined", async (t) => {
    const server = await startServer(t, answering());
    const wrong = Array.from({ length: 20_000 }, () => 1);
    const refused = await server.ask("POST", "/v1/responses", { input: wrong });
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused.body), /has 20000 input items; the server takes 10000/);
    const chat = await server.ask("POST", "/v1/chat/completions", { messages: wrong });
    assert.match(JSON.stringify(chat.body), /has 20000 messages; the server takes 10000/);
  });

  it("may begin with the mark of UTF-8", async () => {
    const text = `\ufeff{"a":"${LONG}"}`;
    assert.deepEqual(await parse(text), { a: LONG });
  });
});
