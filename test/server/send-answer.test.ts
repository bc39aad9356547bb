import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { describe, it } from "node:test";
import { nextTurn } from "../../src/base/turn.ts";
import type { EventsAnswer, StreamEvent } from "../../src/server/route.ts";
import { sendAnswer } from "../../src/server/send-answer.ts";
import { patience } from "../patience.ts";

describe("a stream on the wire", () => {
  it("sends all that one turn of the event loop brings with one write", async () => {
    const sent = await stream([["one", "two"], "soon", ["three"]]);
    assert.equal(sent.text, "data: one\n\ndata: two\n\ndata: three\n\ndata: [DONE]\n\n");
    assert.equal(sent.writes, 1);
  });

  it("does not hold back what comes in a later turn", async () => {
    const sent = await stream([["one"], "later", ["two"]]);
    assert.equal(sent.text, "data: one\n\ndata: two\n\ndata: [DONE]\n\n");
    assert.equal(sent.writes, 2);
  });

  it("writes long and short texts alike", async () => {
    const long = "é漢😀 ".repeat(40_000);
    const sent = await stream([["é"], [long], ["漢"]]);
    assert.equal(sent.text, `data: é\n\ndata: ${long}\n\ndata: 漢\n\ndata: [DONE]\n\n`);
  });
});

type Told = readonly string[] | "soon" | "later";

/** The text that a client reads of a stream of frames, and the number of writes of its server. */
async function stream(batches: readonly Told[]): Promise<{ text: string; writes: number }> {
  let writes = 0;
  const server = createServer((_request, response) => {
    const socket = response.socket as Socket;
    const write = socket._writev?.bind(socket);
    socket._writev = (chunks, done) => {
      writes++;
      write?.(chunks, done);
    };
    const answer: EventsAnswer = { kind: "events", events: tell(batches) };
    const settings = { keepAliveMs: 60_000, commitMs: 60_000 };
    void sendAnswer(response, answer, { settings, owner: "default" });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: patience() });
  const text = await answer.text();
  server.closeAllConnections();
  server.close();
  return { text, writes };
}

async function* tell(batches: readonly Told[]): AsyncGenerator<readonly StreamEvent[]> {
  for (const batch of batches) {
    if (batch === "soon") await new Promise<void>((resolve) => process.nextTick(resolve));
    // Two turns: what was written leaves at the end of the first.
    else if (batch === "later") await nextTurn().then(nextTurn);
    else yield batch.map((frame) => ({ frame }));
  }
}
