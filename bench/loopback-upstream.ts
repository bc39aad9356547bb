/**
 * A model's server in a process of its own, so that no contender pays for its work: it answers
 * every request with the same stream, in one burst. Sends its parent the port.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { makeStream, type WireName } from "./streams.ts";

/** Pieces of text of one answer. */
export const DELTAS = 1024;

/** Forked by the bench, and imported by its clients for the number alone. */
export function startUpstream(): void {
  const bodies = { chat: toBody("chat"), responses: toBody("responses") };
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(request.url?.endsWith("/responses") ? bodies.responses : bodies.chat);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  // It ends with its parent, however that ends.
  process.on("disconnect", () => process.exit());
}

function toBody(wire: WireName): Buffer {
  return Buffer.concat(makeStream(wire, DELTAS).frames);
}
