/**
 * Turns a fetch-style request into the kind that our app reads: the same head, and a body that is read on demand.
 */

import { IncomingMessage } from "node:http";
import { Socket } from "node:net";

/**
 * `path` includes the query. The socket is not connected: it stands for the client, and is destroyed when the client
 * has gone.
 */
export function toMessage(
  { method, headers, body }: Pick<Request, "method" | "headers" | "body">,
  path: string,
): IncomingMessage {
  const message = new WebMessage(body);
  message.method = method;
  message.url = path;
  message.httpVersion = "1.1";
  message.httpVersionMajor = 1;
  message.httpVersionMinor = 1;
  for (const [name, value] of headers) {
    message.rawHeaders.push(name, value);
    message.headers[name] = value;
  }
  return message;
}

class WebMessage extends IncomingMessage {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isReading = false;

  constructor(body: ReadableStream<Uint8Array> | null) {
    super(new Socket());
    this.#reader = body?.getReader();
    this.complete = !body;
    this.once("close", () => void this.#reader?.cancel().catch(() => {}));
  }

  override _read(size: number): void {
    // Node's class passes on no data before its own method was called.
    super._read(size);
    if (this.#isReading) return;
    this.#isReading = true;
    this.#readOne().catch((cause: unknown) => {
      this.destroy(cause instanceof Error ? cause : new Error(String(cause)));
    });
  }

  async #readOne(): Promise<void> {
    const step = await this.#reader?.read();
    this.#isReading = false;
    const value = step?.value;
    this.complete ||= value === undefined;
    this.push(value === undefined ? null : Buffer.from(value));
  }
}
