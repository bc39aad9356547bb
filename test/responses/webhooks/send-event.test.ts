import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { systemClock } from "../../../src/base/clock.ts";
import { createRedact } from "../../../src/base/redact.ts";
import { WEBHOOK_EVENTS, type WebhookEvent } from "../../../src/protocol/webhook-event.ts";
import { createSender, type SentEvent } from "../../../src/responses/webhooks/send-event.ts";
import {
  makeWebhookSecret,
  readWebhookSecret,
} from "../../../src/responses/webhooks/webhook-secret.ts";
import { patience } from "../../patience.ts";

const EVENT: WebhookEvent = {
  id: "evt_1",
  object: "event",
  created_at: 1_700_000_000,
  type: "response.completed",
  data: { id: "resp_1" },
};

interface Heard {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly path: string;
}

async function listen(
  t: TestContext,
  answer: (response: ServerResponse) => void,
): Promise<{ readonly host: string; readonly heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    heard.push({ headers: request.headers, body, path: request.url ?? "" });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const SECRET = makeWebhookSecret();

function send(host: string, privateHosts: readonly string[] = [host]): Promise<SentEvent> {
  const key = readWebhookSecret(SECRET) ?? assert.fail();
  const endpoint = { name: "one", url: `http://${host}/hook`, keys: [key], events: WEBHOOK_EVENTS };
  return createSender({ privateHosts }, systemClock)(endpoint, EVENT, patience());
}

describe("an event for an endpoint", () => {
  it("is signed over its id, the time and its body", async (t) => {
    const { host, heard } = await listen(t, (response) => response.writeHead(204).end());
    assert.deepEqual(await send(host), {
      isTaken: true,
      reason: "",
      isGone: false,
      retryAfterMs: undefined,
    });
    const [{ headers, body } = assert.fail()] = heard;
    assert.deepEqual(JSON.parse(body), EVENT);
    const { "webhook-id": id, "webhook-timestamp": time } = headers;
    const age = Math.abs(Date.now() / 1000 - Number(time));
    assert.ok(id === EVENT.id && age < 600, `${id} ${age}`);
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
    assert.equal(headers["webhook-signature"], `v1,${signature}`);
    assert.equal(headers["content-type"], "application/json");
  });

  it("goes to no private address that the operator has not allowed", async (t) => {
    const { host, heard } = await listen(t, (response) => response.writeHead(204).end());
    const { isTaken, reason } = await send(host, []);
    assert.equal(isTaken, false);
    assert.match(reason, /loopback/);
    assert.equal(heard.length, 0);
  });

  it("an event does not follow a redirect of its endpoint", async (t) => {
    const { host, heard } = await listen(t, (response) =>
      response.writeHead(307, { location: "/elsewhere" }).end(),
    );
    const { isTaken, reason } = await send(host);
    assert.equal(isTaken, false);
    assert.match(reason, /redirects/);
    assert.deepEqual(
      heard.map(({ path }) => path),
      ["/hook"],
    );
  });

  it("is taken by no other status than 2xx; what asks for a wait, or is gone, says so", async (t) => {
    const { host } = await listen(t, (response) =>
      response.writeHead(429, { "retry-after": "7" }).end("no"),
    );
    const { isTaken, reason, retryAfterMs } = await send(host);
    assert.deepEqual([isTaken, retryAfterMs], [false, 7000]);
    assert.equal(reason, "it answered with status 429");
    const gone = await listen(t, (response) => response.writeHead(410).end());
    assert.equal((await send(gone.host)).isGone, true);
  });

  it("fails if nothing listens, and the reason has no secret in it", async (t) => {
    const { host } = await listen(t, (response) => response.destroy());
    const { isTaken, reason } = await send(host);
    assert.equal(isTaken, false);
    assert.ok(reason !== "" && !reason.includes(SECRET.slice(6)));
  });
});

describe("a webhook's secret", () => {
  it("is a key of the standard's size, in its own spelling", () => {
    assert.match(SECRET, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.notEqual(makeWebhookSecret(), SECRET);
    assert.equal(readWebhookSecret(SECRET)?.length, 32);
    const short = `whsec_${Buffer.alloc(23).toString("base64")}`;
    for (const text of ["", "whsec_", short, SECRET.slice(6), "whsec_not base64"]) {
      assert.equal(readWebhookSecret(text), undefined, text);
    }
  });

  it("is kept out of what is written wherever it stands", () => {
    const clean = createRedact([])(`The endpoint has ${SECRET} today.`);
    assert.equal(clean, "The endpoint has whsec_[redacted] today.");
  });
});
