import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it, type TestContext } from "node:test";
import { chatWire } from "../../../src/providers/chat/wire.ts";
import { createHttpProvider } from "../../../src/providers/http/http-provider.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { PATIENT_TIMEOUTS } from "../../patience.ts";
import { eventsOf, request } from "../provider-contract.ts";

const transport = createTransport({});
after(() => transport.close());

const ANSWER = JSON.stringify({
  id: "chatcmpl-1",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
});

/** Asks a server that sends this body, with this content type or none. */
async function ask(t: TestContext, body: string, type?: string): Promise<unknown> {
  const server = createServer((_, response) => {
    response.writeHead(200, type === undefined ? {} : { "content-type": type });
    response.end(body);
  });
  const provider = createHttpProvider({
    vendor: "gpu1",
    wire: chatWire,
    baseUrl: await listen(server, t),
    headers: {},
    quirks: {},
    transport,
    retry: { attempts: 1, baseMs: 1, maxMs: 1, maxRetryAfterMs: 1 },
    timeouts: PATIENT_TIMEOUTS,
  });
  return await eventsOf(provider, request());
}

async function listen(server: Server, t: TestContext): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("the answer of a model's server", () => {
  it("is named with its beginning if it has no content type and is not a stream", async (t) => {
    await assert.rejects(ask(t, ANSWER), {
      code: "provider_broke_protocol",
      message:
        /^gpu1 answered without a content-type, and not with a stream\. It begins with `\{"id":"chatcmpl-1",.*`\. The server must send `text\/event-stream`/,
    });
  });

  it("is named with its type if that is not one of a stream", async (t) => {
    await assert.rejects(ask(t, "Bad gateway\n", "text/plain"), {
      message: /^gpu1 answered with `text\/plain`, .* It begins with `Bad gateway`\./,
    });
    await assert.rejects(ask(t, ""), { message: /without a content-type, .* It is empty\./ });
  });

  it("is a stream that broke if the server says that it is a stream", async (t) => {
    await assert.rejects(ask(t, ": ping\n\n", "text/event-stream; charset=utf-8"), {
      message: /^The stream ended before the answer did/,
    });
  });
});
