/**
 * Turns a fetch-style request into the kind that our app reads: the same head, and a body that is read on demand.
 */

import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { Failure } from "../../base/failure.ts";
import { plural } from "../../base/text.ts";

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
  #bytes = 0;

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
    this.#readOne().catch((cause: unknown) => this.#breakOff(cause));
  }

  /**
   * A body that breaks is not always a client that has gone: a part of the program may have changed the body on its
   * way, or limited it. So it is refused like any other invalid body, and the answer is sent.
   */
  #breakOff(cause: unknown): void {
    this.complete = true;
    const message = `The body broke off after ${plural(this.#bytes, "byte")}. Send the request again.`;
    // Nobody listens if the request was refused before, and the rest of its body is thrown away.
    if (this.listenerCount("error") === 0) this.push(null);
    else this.emit("error", new Failure("invalid_request", message, { cause }));
  }

  async #readOne(): Promise<void> {
    const step = await this.#reader?.read();
    this.#isReading = false;
    const value = step?.value;
    this.complete ||= value === undefined;
    const bytes = value && Buffer.from(value);
    this.#bytes += bytes?.length ?? 0;
    this.push(bytes ?? null);
  }
}
