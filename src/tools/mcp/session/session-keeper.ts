/**
 * Keeps one session to a server: opened when it is needed, and again when the last one has ended, with a
 * limit for a server that keeps ending.
 */

import { throwIfAborted } from "../../../base/async.ts";
import type { Clock } from "../../../base/clock.ts";
import { Failure, toFailure } from "../../../base/failure.ts";
import type { McpServer } from "../server.ts";
import { type McpSessionParts, openSession, type Session, type SessionEvents } from "./session.ts";

export interface SessionKeeper {
  /** The existing session, or a new one. Parallel calls share one attempt. */
  open(): Promise<Session>;
  /** Call it when the server did not answer: the next `open` checks that it is alive. */
  suspect(): void;
  close(): Promise<void>;
}

export interface SessionKeeperParts extends Omit<McpSessionParts, "signal"> {
  readonly clock: Clock;
}

/** How long a server that was silent for a whole timeout has to answer a ping. */
const PING_MS = 5000;

/** `onChange` is called when the known tools are out of date: they changed, or the server ended. */
export function createSessionKeeper(
  server: McpServer,
  parts: SessionKeeperParts,
  onChange: () => void,
): SessionKeeper {
  const starts = createStartLimit(server.name, parts.clock);
  let opened: Promise<Session> | undefined;
  let generation = 0;
  let isSuspect = false;
  const closing = new AbortController();

  function forget(mine: number): void {
    if (generation !== mine) return;
    opened = undefined;
    onChange();
  }

  function start(): Promise<Session> {
    generation += 1;
    const mine = generation;
    isSuspect = false;
    const events = {
      onToolsChanged: () => (generation === mine ? onChange() : undefined),
      onEnd: () => forget(mine),
    };
    const opening = open(events);
    opening.catch(() => forget(mine));
    return opening;
  }

  async function open(events: SessionEvents): Promise<Session> {
    const { signal } = closing;
    await starts.wait(signal);
    try {
      return await openSession(server, { ...parts, signal }, events);
    } catch (thrown) {
      starts.failed(thrown);
      throw thrown;
    }
  }

  async function probe(current: Promise<Session>): Promise<void> {
    isSuspect = false;
    const session = await current;
    await session.client
      .ping({ timeout: PING_MS, signal: closing.signal })
      .catch(() => session.close());
  }

  return {
    async open() {
      throwIfAborted(closing.signal);
      if (opened && isSuspect) await probe(opened);
      opened ??= start();
      return opened;
    },
    suspect() {
      isSuspect = true;
    },
    async close() {
      closing.abort(new Failure("cancelled", "The MCP servers are closed."));
      // A session that could not be opened needs no close.
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

/** The most starts in a minute, the first included. After them the server is left alone. */
const MAX_STARTS = 4;
const MINUTE_MS = 60_000;
const FIRST_WAIT_MS = 500;

interface StartLimit {
  /** Resolves when it may be started. Rejects if it was started too often. */
  wait(signal: AbortSignal): Promise<void>;
  failed(reason: unknown): void;
}

function createStartLimit(server: string, clock: Clock): StartLimit {
  let startsMs: number[] = [];
  let last = "";
  return {
    async wait(signal) {
      const nowMs = clock.now();
      startsMs = startsMs.filter((ms) => nowMs - ms < MINUTE_MS);
      const [firstMs = nowMs] = startsMs;
      if (startsMs.length >= MAX_STARTS) {
        const seconds = Math.ceil((firstMs + MINUTE_MS - nowMs) / 1000);
        throw new Failure(
          "tool_failed",
          `The MCP server \`${server}\` was started ${MAX_STARTS} times within a minute. It is left alone for ${seconds} s. ${last}`.trim(),
        );
      }
      startsMs.push(nowMs);
      const restarts = startsMs.length - 1;
      if (restarts > 1) await clock.sleep(FIRST_WAIT_MS * 2 ** (restarts - 2), signal);
    },
    failed(reason) {
      last = toFailure(reason).message;
    },
  };
}
