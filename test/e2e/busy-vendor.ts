/** A chat server with an account that accepts few calls at once, and that may ask for a wait. */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface BusyVendor extends AsyncDisposable {
  readonly url: string;
  /** The most at once since it was set. */
  most: number;
  readonly taken: number;
  readonly refused: number;
  /** When requests came that had not been told to wait. */
  readonly arrivals: number[];
  /** Tells the next request that the whole account must wait. */
  tellNext(seconds: number): void;
  /** When it did; 0 before. */
  readonly toldAtMs: number;
}

/** Accepts that many at once, for a moment each, and answers 429 to the others. */
export async function startBusyVendor(atOnce: number): Promise<BusyVendor> {
  let open = 0;
  let waitS = 0;
  const vendor = { most: 0, taken: 0, refused: 0, arrivals: [] as number[], toldAtMs: 0 };
  const tell = (response: ServerResponse): void => {
    const headers = { "retry-after": String(waitS), "x-ratelimit-remaining-requests": "0" };
    waitS = 0;
    vendor.toldAtMs = performance.now();
    response.writeHead(429, { ...headers, "x-ratelimit-reset-requests": "1s" }).end("{}");
  };
  const server = createServer((request, response) => {
    if (request.method === "GET") return void response.writeHead(404).end();
    request.resume();
    if (waitS > 0) return tell(response);
    vendor.arrivals.push(performance.now());
    vendor.most = Math.max(vendor.most, open + 1);
    if (open >= atOnce) {
      vendor.refused++;
      return void response.writeHead(429).end("{}");
    }
    open++;
    vendor.taken++;
    setTimeout(() => {
      open--;
      const message = { role: "assistant", content: "One" };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: "c", object: "chat.completion", choices, usage }));
    }, 20);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(vendor, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    tellNext(seconds: number) {
      waitS = seconds;
      vendor.toldAtMs = 0;
    },
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  });
}
