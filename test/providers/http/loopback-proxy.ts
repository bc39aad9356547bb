/** A proxy for tunnels, like those of companies. It leads every host to the loopback. */

import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";

export interface LoopbackProxy {
  readonly url: string;
  /** The requested tunnels, in order. */
  readonly asked: string[];
  /** Closed by the caller that started it. */
  readonly server: Server;
}

/** Refuses the first tunnels with `refusals`, one status line each, and opens later ones. */
export async function startLoopbackProxy(refusals: readonly string[] = []): Promise<LoopbackProxy> {
  const asked: string[] = [];
  const statuses = [...refusals];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end("through the proxy");
  });
  server.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const refusal = statuses.shift();
    if (refusal) return void socket.end(`HTTP/1.1 ${refusal}\r\ncontent-length: 0\r\n\r\n`);
    const port = Number(request.url?.split(":")[1]);
    const target = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    target.on("error", () => socket.destroy());
    socket.on("error", () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server };
}
