/** A model that says more than anybody can hold. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Flood extends AsyncDisposable {
  readonly url: string;
  /** What has been taken of it, in bytes. */
  readonly sent: number;
  readonly open: number;
  /** How many requests have come. */
  readonly asked: number;
}

/** A chat server whose answer has so many bytes, as fast as they are taken. */
export async function startFlood(maxBytes: number): Promise<Flood> {
  let [sent, open, asked] = [0, 0, 0];
  const toFrame = (choice: object): string =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, ...choice }] })}\n\n`;
  const piece = toFrame({ delta: { content: "0123456789abcdef".repeat(512) } });
  const server = createServer(async (request, response) => {
    request.resume();
    asked++;
    response.writeHead(200, { "content-type": "text/event-stream" });
    open++;
    const closed = once(response, "close").then(() => open--);
    for (; sent < maxBytes && !response.destroyed; sent += piece.length) {
      if (response.write(piece)) continue;
      await Promise.race([once(response, "drain"), closed]);
    }
    response.end(`${toFrame({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`);
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

/** The flags that make it the model. */
export function floodModel({ url }: Flood): string[] {
  return ["-m", "custom/flood", "--provider", "openai-chat", "--url", url];
}
