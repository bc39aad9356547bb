/**
 * Ends an answer to a request whose body was not read to its end. A connection that is closed with unread bytes is
 * reset by the system, and a reset discards an answer that the client, or a proxy, has not read yet. So the rest of
 * the body is read and thrown away for a while.
 */

import type { ServerResponse } from "node:http";

/**
 * Long enough for a client to read an answer of a few lines; a client that never stops sending is disconnected after
 * it.
 */
const LINGER_MS = 2000;

/** The head was written; it says how long `text` is, so that the client has the whole answer at once. */
export function endLingering(response: ServerResponse, text: string): void {
  const { req: request } = response;
  if (response.destroyed || request.complete) {
    response.end(text);
    return;
  }
  const end = (): void => {
    clearTimeout(late);
    request.off("end", end);
    response.off("close", end);
    response.end();
  };
  const late = setTimeout(end, LINGER_MS);
  request.on("end", end);
  response.on("close", end);
  response.write(text);
  request.resume();
}
