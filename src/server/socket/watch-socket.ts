/**
 * Reports what happens on sockets to the code that counts requests, because the app does not see it.
 */

import type { IncomingMessage } from "node:http";

/**
 * Called when something is requested. The returned function is called once, when that was answered.
 */
export type WatchSocket = (asked: SocketAsked) => (answer: SocketAnswer) => void;

interface SocketAsked {
  /** `GET` for the handshake, `WS` for each turn. */
  readonly method: "GET" | "WS";
  /** Undefined without a route for the address. */
  readonly route: string | undefined;
  /** The request of the handshake, also for a turn. */
  readonly request: IncomingMessage;
  /** The id in the client's answer, unless a response is made. */
  readonly requestId: string;
}

/** The header of the handshake's answer, and of error events. */
export const REQUEST_ID = "x-request-id";

export interface SocketAnswer {
  readonly status: number;
  readonly tenant?: string | undefined;
  readonly keyId?: string | null | undefined;
  /** The id of the response that was made. */
  readonly target?: string | undefined;
  /** True if the client had gone before the answer was complete. */
  readonly isLeft?: boolean | undefined;
}
