/** What a WebSocket may take and hold. */

export interface SocketSettings {
  /** Largest message; a larger one closes the connection. */
  readonly maxMessageBytes: number;
  /** How long a connection lives; a turn on its way is ended first. */
  readonly lifetimeMs: number;
  /** How long one may be silent between two turns. */
  readonly idleMs: number;
  /** How often it is asked whether anybody is still there. */
  readonly pingMs: number;
  /** Responses on their way at once, each in a stream of its own. */
  readonly maxRunning: number;
  /** Different `stream_id`s in the life of a connection. */
  readonly maxStreams: number;
  /** Messages that wait for their turn. */
  readonly maxWaiting: number;
  /** What may wait to be sent before the next event is asked for. */
  readonly maxBufferedBytes: number;
  /** What is kept of unstored responses, so that the next turn can go on with them. */
  readonly maxContextBytes: number;
}

/** The hour, 16 and 32 are those of the published API; the rest is this server's own. */
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
