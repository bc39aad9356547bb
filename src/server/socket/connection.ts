/**
 * One WebSocket of a client: its messages, its streams, what it remembers, and when it ends. It closes itself when it
 * is old, idle or dead. The code that opened it may drain or destroy it.
 */

import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { Failure, toFailure } from "../../base/failure.ts";
import { isLargeJson, parseJsonBytes, parseLargeBytes } from "../json-text.ts";
import { type CreateEvent, parseClientEvent } from "./client-event.ts";
import { createContexts } from "./contexts.ts";
import { toErrorEvent, toLifetimeFailure } from "./error-event.ts";
import { injectItems } from "./injector.ts";
import { createLanes, type Lanes } from "./lanes.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import type { SocketSettings } from "./socket-settings.ts";
import { createSteering, type Steering, type Successor } from "./steering.ts";
import { isLeft, runTurn, type SocketTurnParts } from "./turn.ts";
import { createTurns, type RunningTurn, type SocketTurns } from "./turns.ts";

export interface ConnectionParts
  extends Pick<SocketTurnParts, "api" | "guard" | "clock" | "request" | "onDefect" | "watch"> {
  readonly socket: WebSocket;
  /** The tenant of the socket: tenants take turns with large messages. */
  readonly tenant: string;
  /** The stream that the socket writes to. */
  readonly wire: Duplex;
  readonly settings: SocketSettings;
}

export interface OpenSocket {
  /** Stops starting turns, and closes when the running ones have ended. */
  drain(): void;
  /** Ends the running turns: each says why. */
  cut(reason: Failure): void;
  /** Closes it at once, whatever runs. */
  destroy(): void;
}

export function openConnection(parts: ConnectionParts): OpenSocket {
  const connection = new SocketConnection(parts);
  return {
    drain: () => connection.drain(),
    cut: (reason) => connection.cut(reason),
    destroy: () => parts.socket.terminate(),
  };
}

const MESSAGE = "The message";

class SocketConnection {
  readonly #parts: ConnectionParts;
  readonly #outbox: Outbox;
  readonly #lanes: Lanes;
  readonly #turns: SocketTurns = createTurns();
  readonly #steering: Steering;
  readonly #turnParts: SocketTurnParts;
  readonly #gone = new AbortController();
  readonly #idle: NodeJS.Timeout;
  /** Resolves when all received messages are handled; undefined if none waits. */
  #hearing: Promise<void> | undefined;
  /**
   * The reason why no further turns are started. The socket closes when the running ones have ended.
   */
  #ending: Failure | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    const { socket, wire, settings } = parts;
    const contexts = createContexts({ maxBytes: settings.maxContextBytes });
    this.#outbox = createOutbox(socket, wire, { ...settings, owner: parts.tenant });
    this.#lanes = createLanes(settings, () => this.#rest());
    this.#steering = createSteering({ turns: this.#turns, outbox: this.#outbox });
    this.#turnParts = { ...parts, outbox: this.#outbox, contexts, signal: this.#gone.signal };
    this.#idle = setTimeout(() => this.#close("Nothing was asked for a while."), settings.idleMs);
    const life = setTimeout(() => this.#expire(), settings.lifetimeMs);
    const pulse = createPulse(socket, settings.pingMs);
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary));
    // For broken frames and messages that are too large, the socket closes itself with the right code.
    socket.on("error", () => {});
    socket.on("close", () => {
      for (const timer of [this.#idle, life]) clearTimeout(timer);
      pulse.stop();
      this.#gone.abort();
    });
  }

  drain(): void {
    this.#end(new Failure("draining", "The server is about to stop. Open another connection."));
  }

  cut(reason: Failure): void {
    this.#gone.abort(reason);
  }

  #expire(): void {
    this.#end(toLifetimeFailure(this.#parts.settings.lifetimeMs));
  }

  #end(reason: Failure): void {
    this.#ending ??= reason;
    if (this.#lanes.isIdle()) this.#rest();
  }

  /** Called when no turn runs. */
  #rest(): void {
    this.#idle.refresh();
    if (!this.#ending) return;
    this.#outbox.say(toErrorEvent(this.#ending));
    this.#close(this.#ending.message);
  }

  #close(reason: string): void {
    if (!this.#lanes.isIdle()) return;
    // 1001, going away: clients of the published API then connect again by themselves.
    this.#parts.socket.close(1001, reason);
  }

  /**
   * Messages are handled in the order in which they came: one that follows a large one waits until that is parsed.
   */
  #receive(data: RawData, isBinary: boolean): void {
    this.#idle.refresh();
    if (isBinary) {
      this.#outbox.say(toErrorEvent(new Failure("invalid_request", "Messages must be text.")));
      return;
    }
    // Lists of buffers or an `ArrayBuffer` come only if the socket was asked for them.
    const bytes = data as Buffer;
    if (!this.#hearing && !isLargeJson(bytes)) {
      this.#hear(bytes, () => parseJsonBytes(bytes, MESSAGE));
      return;
    }
    const hearing = Promise.resolve(this.#hearing).then(() => this.#hearLarge(bytes));
    this.#hearing = hearing;
    // The client can send no faster than its messages are handled.
    this.#parts.socket.pause();
    void hearing.then(() => {
      if (this.#hearing !== hearing) return;
      this.#hearing = undefined;
      this.#parts.socket.resume();
    });
  }

  async #hearLarge(bytes: Buffer): Promise<void> {
    try {
      const event = await parseLargeBytes(bytes, { what: MESSAGE, owner: this.#parts.tenant });
      this.#hear(bytes, () => event);
    } catch (thrown) {
      this.#outbox.say(toErrorEvent(toFailure(thrown)));
    }
  }

  #hear({ length }: Buffer, parse: () => unknown): void {
    try {
      const event = parseClientEvent(parse());
      if (event.type === "response.create") this.#create(event, length);
      if (event.type === "response.steer") this.#steering.steer(event);
      if (event.type === "response.inject") {
        void injectItems({ ...this.#turnParts, turns: this.#turns }, event);
      }
    } catch (thrown) {
      this.#outbox.say(toErrorEvent(toFailure(thrown)));
    }
  }

  #create(event: CreateEvent, bytes: number): void {
    const { streamId } = event;
    try {
      if (this.#ending) throw this.#ending;
      this.#lanes.add({ streamId, bytes, run: () => this.#run(event, bytes) });
    } catch (thrown) {
      this.#outbox.say(toErrorEvent(toFailure(thrown), { streamId }));
    }
  }

  async #run(asked: CreateEvent, bytes: number, successor?: Successor): Promise<void> {
    if (isLeft(this.#gone.signal)) return;
    const { streamId } = asked;
    if (this.#ending) return this.#outbox.say(toErrorEvent(this.#ending, { streamId }));
    const event = this.#steering.join(asked);
    let running: RunningTurn | undefined;
    const end = await runTurn(this.#turnParts, {
      event,
      bytes,
      onBegin: (responseId, caller) => {
        running = { responseId, event, caller, sequenceNumber: 0 };
        this.#turns.begin(running);
      },
      onTold: (sequenceNumber) => {
        if (running) running.sequenceNumber = sequenceNumber;
      },
    });
    if (!running) return successor?.fail();
    this.#turns.end(running.responseId);
    const next = this.#steering.end(running, end);
    if (!next) return;
    const run = (): Promise<void> => this.#run(next.event, bytes, next);
    this.#lanes.addFirst({ streamId, bytes, run });
  }
}

/**
 * Sends pings to check that the client is still there. A connection without answers is cut off.
 *
 * A busy client answers late; one that is gone never does.
 */
const MAX_MISSED = 3;

function createPulse(socket: WebSocket, everyMs: number): { stop(): void } {
  let missed = 0;
  const isAlive = (): void => {
    missed = 0;
  };
  const timer = setInterval(() => {
    if (missed >= MAX_MISSED) return socket.terminate();
    missed++;
    socket.ping();
  }, everyMs);
  socket.on("pong", isAlive);
  socket.on("message", isAlive);
  return { stop: () => clearInterval(timer) };
}
