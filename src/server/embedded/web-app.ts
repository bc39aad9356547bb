/**
 * Lets our app answer two other shapes of requests: a `Request`, and a request whose body was already read.
 */

import { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { WebAnswer } from "./web-answer.ts";
import { toMessage } from "./web-message.ts";

/**
 * Rejects if the app fails before it has sent the head. A body that is cut later is an error of the stream.
 */
export async function answerWeb(app: App, request: Request): Promise<Response> {
  const { pathname, search, host } = new URL(request.url);
  const message = toMessage(request, `${pathname}${search}`);
  // These servers have the host in the address. The guard checks the header.
  message.headers.host ??= host;
  const answer = new WebAnswer(message);
  const onAbort = (): void => {
    // As `fetch` does: the reason given to `abort` is the error.
    answer.destroy(toError(request.signal.reason));
    message.socket.destroy();
  };
  request.signal.addEventListener("abort", onAbort, { once: true });
  if (request.signal.aborted) onAbort();
  const handled = app(message, answer).finally(() => {
    request.signal.removeEventListener("abort", onAbort);
    message.socket.destroy();
  });
  handled.catch((thrown: unknown) => answer.destroy(toError(thrown)));
  return await answer.response;
}

/** Frameworks that parse JSON bodies leave the value in `body` and nothing on the stream. */
export function withParsedBody(request: IncomingMessage): IncomingMessage {
  const { body } = request as { readonly body?: unknown };
  if (!request.readableEnded || body === undefined) return request;
  const again = new IncomingMessage(request.socket);
  const bytes = toBytes(body);
  const { method, url, httpVersion, headers, rawHeaders } = request;
  Object.assign(again, { method, url, httpVersion, rawHeaders });
  Object.assign(again.headers, headers, { "content-length": String(bytes.length) });
  again.push(bytes);
  again.push(null);
  again.complete = true;
  return again;
}

/** What the reader of bodies refuses with its own words. */
const TOO_DEEP = "[".repeat(1000);
const NO_JSON = "";

/**
 * A value that no text can hold is refused as its text would be. It must not throw: a client chooses how deep a body
 * is, and the program may not wait for the answer.
 */
function toBytes(body: unknown): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (typeof body === "string") return Buffer.from(body);
  try {
    return Buffer.from(JSON.stringify(body) ?? NO_JSON);
  } catch (thrown) {
    return Buffer.from(thrown instanceof RangeError ? TOO_DEEP : NO_JSON);
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
