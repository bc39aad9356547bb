/** How what happens on sockets is told to whoever counts requests: the app sees nothing of it. */

import type { IncomingMessage } from "node:http";

/** Called when something is asked; what it gives is called once, when that was answered. */
export type WatchSocket = (asked: SocketAsked) => (answer: SocketAnswer) => void;

interface SocketAsked {
  /** `GET` for the handshake, `WS` for each turn. */
  readonly method: "GET" | "WS";
  /** Undefined where there is nothing at the address. */
  readonly route: string | undefined;
  /** The handshake's, also for a turn. */
  readonly request: IncomingMessage;
  /** What the client is told it by, unless a response is made. */
  readonly requestId: string;
}

/** The header of the handshake's answer, and of error events. */
export const REQUEST_ID = "x-request-id";

export interface SocketAnswer {
  readonly status: number;
  readonly tenant?: string | undefined;
  readonly keyId?: string | null | undefined;
  /** The response that was made. */
  readonly target?: string | undefined;
  /** Whether the client had gone before the answer was whole. */
  readonly isLeft?: boolean | undefined;
}
