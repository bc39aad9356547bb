/** An endpoint of webhooks on the loopback: what it heard, and what it answers. */

import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookEvent } from "../../src/protocol/webhook-event.ts";
import { readWebhookSecret } from "../../src/responses/webhooks/webhook-secret.ts";
import type { ResponsesSettings } from "../../src/runtime/open-responses.ts";
import { untilTrue } from "../patience.ts";

export interface HeardEvent {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: WebhookEvent;
}

export interface Receiver extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  readonly heard: readonly HeardEvent[];
  /** Answers whatever comes from now on; nothing is answered where it is left out. */
  answer: ((response: ServerResponse) => void) | undefined;
  /** Resolves with the events once there are as many. */
  until(count: number): Promise<readonly HeardEvent[]>;
}

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";

export async function startReceiver(): Promise<Receiver> {
  const heard: HeardEvent[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    heard.push({ headers: request.headers, body, event: JSON.parse(body) as WebhookEvent });
    receiver.answer?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    answer: (response) => response.writeHead(200).end(),
    async until(count) {
      await untilTrue(() => heard.length >= count, `${count} events of webhooks`);
      return heard;
    },
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
  return receiver;
}

/** The settings of a server that tells this receiver of everything. */
export function toWebhookSettings({
  host,
}: Pick<Receiver, "host">): Pick<ResponsesSettings, "webhooks" | "web"> {
  const key = readWebhookSecret(SECRET) ?? assert.fail();
  const events = ["completed", "failed", "incomplete", "cancelled"].map(
    (status) => `response.${status}` as WebhookEvent["type"],
  );
  return {
    webhooks: [{ name: "orders", url: `http://${host}/hook`, keys: [key], events }],
    web: { privateHosts: [host] },
  };
}
