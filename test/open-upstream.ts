/** A chat server that takes every field, as servers of open models do, and tells what a router tells. */

import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../src/base/json.ts";

export interface Sent {
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

export interface OpenUpstream {
  /** With `/v1`. */
  readonly url: string;
  readonly sent: Sent[];
  close(): Promise<void>;
}

export interface Said {
  readonly text?: string;
  /** Beside the tokens, which are 10 and 5. */
  readonly usage?: JsonObject;
  /** Fields of the whole answer: `citations`. */
  readonly more?: JsonObject;
  /** Fields of the message: `annotations`. */
  readonly message?: JsonObject;
  /** Why it ended, where that is not `stop`. */
  readonly finish?: string;
  /** Refuses the request with this in place of an answer. */
  readonly refusal?: string;
}

const TOKENS = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export async function startOpenUpstream(
  say: (body: JsonObject, place: number) => Said = () => ({}),
): Promise<OpenUpstream> {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += String(piece);
    const body = JSON.parse(text) as JsonObject;
    sent.push({ headers: request.headers, body });
    const said = say(body, sent.length - 1);
    if (said.refusal !== undefined) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: said.refusal } }));
      return;
    }
    const { stream } = body;
    response.setHeader("content-type", stream ? "text/event-stream" : "application/json");
    response.end(stream ? toStream(said) : JSON.stringify(toWhole(said)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo | null;
  assert.ok(address);
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    sent,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function toWhole({ text = "Yes.", usage, more, message, finish = "stop" }: Said): JsonObject {
  const said = { role: "assistant", content: text, ...message };
  const choices = [{ index: 0, message: said, finish_reason: finish }];
  return { id: "c1", model: "m", choices, usage: { ...TOKENS, ...usage }, ...more };
}

function toStream({ text = "Yes.", usage, more, message, finish = "stop" }: Said): string {
  const head = { id: "c1", model: "m", ...more };
  const chunks = [
    {
      ...head,
      choices: [{ index: 0, delta: { content: text, ...message }, finish_reason: finish }],
    },
    { ...head, choices: [], usage: { ...TOKENS, ...usage } },
  ];
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
}
