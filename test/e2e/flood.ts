/** A model with more output than any process can hold. */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Flood extends AsyncDisposable {
  readonly url: string;
  /** How many bytes of it were read. */
  readonly sent: number;
  readonly open: number;
  /** How many requests have come. */
  readonly asked: number;
}

/** The text that it repeats. */
const WORDS = "0123456789abcdef";

/**
 * A chat server whose answer has that many bytes, sent as fast as they are read: a stream, or one document
 * if the request does not stream.
 */
export async function startFlood(maxBytes: number, words = WORDS): Promise<Flood> {
  let sent = 0;
  let open = 0;
  let asked = 0;
  const content = words.repeat(8192 / words.length);
  const server = createServer(async (request, response) => {
    const form = (await isStreamed(request)) ? toStream(content) : toDocument(content);
    asked++;
    response.writeHead(200, { "content-type": form.type });
    open++;
    const closed = once(response, "close").then(() => open--);
    response.write(form.first);
    for (; sent < maxBytes && !response.destroyed; sent += form.piece.length) {
      if (response.write(form.piece)) continue;
      await Promise.race([once(response, "drain"), closed]);
    }
    response.end(form.last);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get sent() {
      return sent;
    },
    get open() {
      return open;
    },
    get asked() {
      return asked;
    },
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

async function isStreamed(request: IncomingMessage): Promise<boolean> {
  return (JSON.parse(await text(request)) as { stream?: boolean }).stream === true;
}

interface Form {
  readonly type: string;
  readonly first: string;
  readonly piece: Buffer;
  readonly last: string;
}

function toStream(content: string): Form {
  const toFrame = (choice: object): string =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, ...choice }] })}\n\n`;
  return {
    type: "text/event-stream",
    first: toFrame({ delta: { role: "assistant" } }),
    piece: Buffer.from(toFrame({ delta: { content } })),
    last: `${toFrame({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`,
  };
}

function toDocument(content: string): Form {
  const message = { role: "assistant", content: "" };
  const body = JSON.stringify({
    id: "c",
    choices: [{ index: 0, message, finish_reason: "stop" }],
  });
  const at = body.indexOf('""') + 1;
  return {
    type: "application/json",
    first: body.slice(0, at),
    piece: Buffer.from(content),
    last: body.slice(at),
  };
}

/** The flags that select it as the model. */
export function floodModel({ url }: Flood): string[] {
  return ["-m", "custom/flood", "--provider", "openai-chat", "--url", url];
}
