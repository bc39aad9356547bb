/** How what happens on sockets is told to whoever counts requests: the app sees nothing of it. */

/** Called when something is asked; what it gives is called once, when that was answered. */
export type WatchSocket = (method: SocketMethod, route: string) => (answer: SocketAnswer) => void;

/** `GET` for the handshake, `WS` for each turn. */
export type SocketMethod = "GET" | "WS";

export interface SocketAnswer {
  readonly status: number;
  readonly tenant?: string | undefined;
  readonly keyId?: string | null | undefined;
  /** The response that was made. */
  readonly target?: string | undefined;
  /** Whether the client had gone before the answer was whole. */
  readonly isLeft?: boolean | undefined;
}
