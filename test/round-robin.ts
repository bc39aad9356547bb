/**
 * A plain round-robin proxy, as a load balancer without sticky sessions and without health checks: each connection
 * goes to the next server, or to the one after it where that takes none. It reads nothing of what it carries.
 */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface RoundRobin extends AsyncDisposable {
  readonly url: string;
}

/** `servers` gives the addresses as they are at the moment: servers come and go. */
export async function startRoundRobin(servers: () => readonly string[]): Promise<RoundRobin> {
  const open = new Set<Socket>();
  let next = 0;
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on("close", () => open.delete(socket)).on("error", () => {});
  };
  // Half-open: a client may have said all that it says, and wait for the answer.
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, async (client) => {
    keep(client);
    const all = servers();
    const first = next++;
    for (let tries = 0; tries < all.length; tries++) {
      const { hostname, port } = new URL(all[(first + tries) % all.length] ?? "");
      const found = keep(connect({ host: hostname, port: Number(port), allowHalfOpen: true }));
      if (!(await isConnected(found))) continue;
      join(client, found);
      return;
    }
    client.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function isConnected(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true)).once("close", () => resolve(false));
  });
}

/** What one of them breaks off is broken off for the other, too. */
function join(client: Socket, server: Socket): void {
  client.pipe(server);
  server.pipe(client);
  client.on("close", () => server.destroy());
  server.on("close", () => client.destroy());
}
