/**
 * A proxy in front of a test's Postgres that does what networks and poolers do: it loses an answer together with the
 * connection, or accepts `listen` and forwards nothing.
 */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface PostgresProxy extends AsyncDisposable {
  /** The same database, over this proxy. */
  readonly address: string;
  /** How many answers were lost. */
  readonly lost: number;
  /** The next message with these words is carried out, and its answer is lost with the connection. */
  loseAnswerTo(words: string): void;
  /** Closes every connection at once. */
  cut(): void;
  /** Passes nothing on until `speak`, and closes nothing: a network that loses everything. */
  silence(): void;
  speak(): void;
}

interface ProxyOptions {
  /**
   * True to accept `listen` and forward nothing, like a pooler that gives connections to others between two
   * transactions.
   */
  readonly isDeaf?: boolean;
}

/** The statement of `src/store/postgres/postgres-news.ts`, and one of the same length that listens to nothing. */
const LISTEN = "listen offshoot";
const DEAF = "select 1       ";

export const COMMIT = "commit\0";

export async function startPostgresProxy(
  address: string,
  { isDeaf = false }: ProxyOptions = {},
): Promise<PostgresProxy> {
  const sockets = new Set<Socket>();
  let words: string | undefined;
  let lost = 0;
  let isSilent = false;
  const server = createServer((client) => {
    const database = connectTo(address);
    const both = [client, database];
    const end = (): void => {
      for (const socket of both) {
        socket.destroy();
        sockets.delete(socket);
      }
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    let isLosing = false;
    client.on("data", (sent: Buffer) => {
      if (words !== undefined && sent.includes(words)) {
        words = undefined;
        isLosing = true;
      }
      const text = sent.toString("latin1");
      const isListening = isDeaf && text.includes(LISTEN);
      database.write(isListening ? Buffer.from(text.replace(LISTEN, DEAF), "latin1") : sent);
    });
    database.on("data", (answer: Buffer) => {
      if (!isLosing) return void client.write(answer);
      lost++;
      end();
    });
    if (isSilent) for (const socket of both) socket.pause();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(address);
  url.searchParams.delete("host");
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: url.href,
    get lost() {
      return lost;
    },
    loseAnswerTo(wanted) {
      words = wanted;
    },
    cut,
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    speak() {
      isSilent = false;
      for (const socket of sockets) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
    },
  };
}

/** Over the socket that the address names, or over TCP. */
function connectTo(address: string): Socket {
  const url = new URL(address);
  const folder = url.searchParams.get("host");
  const port = Number(url.port || 5432);
  return folder === null
    ? connect(port, url.hostname)
    : connect({ path: `${folder}/.s.PGSQL.${port}` });
}
