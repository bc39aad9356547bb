/**
 * The connection to one server, for all runs: opened when it is first needed, opened again after it died.
 *
 * A request is sent once. If it breaks off, it is not known whether it had its effect, so it fails, and the
 * model decides. The next request opens a new session.
 */

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { toAbortFailure, untilAborted } from "../../../base/async.ts";
import { Failure } from "../../../base/failure.ts";
import { type Listing, readListing } from "../listing.ts";
import type { McpServer } from "../server.ts";
import { isAnswer, isTimeout, toRequestFailure } from "./mcp-failure.ts";
import type { Session } from "./session.ts";
import { createSessionKeeper, type SessionKeeperParts } from "./session-keeper.ts";

export interface McpConnection {
  readonly server: McpServer;
  /** The server's present list of tools. Rejects with one line if it is not available. */
  list(signal: AbortSignal): Promise<Listing>;
  /** Sends a request. `check` sees the list as it is when the request is sent, and throws to stop it. */
  request<Out>(ask: ServerQuestion<Out>): Promise<Out>;
  close(): Promise<void>;
}

export interface ServerQuestion<Out> {
  readonly signal: AbortSignal;
  check(listing: Listing): void;
  send(client: Client, options: SendOptions): Promise<Out>;
}

interface SendOptions {
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** How often a list that changes while it is read is read again. */
const LIST_TRIES = 3;

/** `known` is a list to use in place of the server's own, which is then never requested. */
export function createConnection(
  server: McpServer,
  parts: SessionKeeperParts,
  known?: Listing,
): McpConnection {
  const given = known && Promise.resolve(known);
  let listed: Promise<Listing> | undefined = given;
  const sessions = createSessionKeeper(server, parts, () => {
    listed = given;
  });

  /** The session, with a list that includes the server's last change. */
  async function ready(): Promise<{ session: Session; listing: Listing }> {
    for (let tried = 0; tried < LIST_TRIES; tried++) {
      const session = await sessions.open();
      const reading = listed ?? read(session);
      listed = reading;
      const listing = await reading;
      if (listed === reading) return { session, listing };
    }
    const message = `The MCP server \`${server.name}\` changes its tools all the time.`;
    throw new Failure("tool_failed", message);
  }

  async function read(session: Session): Promise<Listing> {
    try {
      return await readListing(session.client, server);
    } catch (thrown) {
      listed = undefined;
      throw fail(thrown, session);
    }
  }

  function fail(thrown: unknown, session: Session): Failure {
    if (isTimeout(thrown)) sessions.suspect();
    const { name, timeoutMs } = server;
    const facts = { server: name, timeoutMs, redact: session.redact, ended: session.ended() };
    // The failure is not an answer of the server: the connection is broken, and the next request opens a
    // new one.
    if (facts.ended === undefined && !isAnswer(thrown)) void session.close();
    return toRequestFailure(thrown, facts);
  }

  async function send<Out>(session: Session, ask: ServerQuestion<Out>): Promise<Out> {
    // A controller of its own, because the SDK never removes its listener from a signal.
    const own = new AbortController();
    const onAbort = (): void => own.abort(ask.signal.reason);
    ask.signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await ask.send(session.client, { timeout: server.timeoutMs, signal: own.signal });
    } catch (thrown) {
      if (ask.signal.aborted) throw toAbortFailure(ask.signal);
      throw fail(thrown, session);
    } finally {
      ask.signal.removeEventListener("abort", onAbort);
    }
  }

  return {
    server,
    list: async (signal) => (await untilAborted(ready(), signal)).listing,
    async request(ask) {
      const { session, listing } = await untilAborted(ready(), ask.signal);
      ask.check(listing);
      return send(session, ask);
    },
    close: sessions.close,
  };
}
