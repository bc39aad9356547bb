/** Limits of a WebSocket. */

export interface SocketSettings {
  /** The largest message; a larger one closes the connection. */
  readonly maxMessageBytes: number;
  /** How long a connection lives. A turn in progress is finished first. */
  readonly lifetimeMs: number;
  /** How long a connection may be silent between two turns. */
  readonly idleMs: number;
  /** How often a ping is sent. */
  readonly pingMs: number;
  /** The most responses in progress at once, each in a stream of its own. */
  readonly maxRunning: number;
  /** The most different `stream_id`s in the life of a connection. */
  readonly maxStreams: number;
  /** The most messages that wait for their turn. */
  readonly maxWaiting: number;
  /** The most bytes that wait to be sent before the next event is requested. */
  readonly maxBufferedBytes: number;
  /** The most bytes kept of unstored responses, so that the next turn can continue them. */
  readonly maxContextBytes: number;
}

/** The hour, 16 and 32 are those of the published API. The other values are this server's own. */
export const SOCKET_SETTINGS: SocketSettings = {
  maxMessageBytes: 32_000_000,
  lifetimeMs: 60 * 60_000,
  idleMs: 20 * 60_000,
  pingMs: 30_000,
  maxRunning: 16,
  maxStreams: 32,
  maxWaiting: 32,
  maxBufferedBytes: 1_000_000,
  maxContextBytes: 64_000_000,
};
