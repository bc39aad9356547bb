/**
 * Sends and receives messages over standard input and output, one on each line, within a size limit. Ends with the
 * input.
 */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, type JSONRPCMessage, type RequestId } from "@modelcontextprotocol/sdk/types.js";
import { tryParseJson } from "../../base/json.ts";
import { createMessageLines } from "../../tools/mcp/session/message-lines.ts";
import { readMessage } from "./read-message.ts";

export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const TOO_LONG = `A message has more than ${MAX_MESSAGE_BYTES} bytes.`;

interface Lines {
  chunks(): AsyncIterable<Uint8Array | string>;
  write(text: string): Promise<void> | void;
}

export interface LineTransport extends Transport {
  /** Resolves when the other side has closed its end, or when the transport was closed. */
  readonly over: Promise<void>;
}

export function createLineTransport({ chunks, write }: Lines): LineTransport {
  const inFlight = createInFlight();
  let isClosed = false;
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const lines = createMessageLines({
    maxBytes: MAX_MESSAGE_BYTES,
    onLine: receive,
    onTooLong: () => refuse(ErrorCode.InvalidRequest, TOO_LONG),
    onRunaway: () => void transport.close(),
  });

  function receive(line: string): void {
    if (line.trim() === "" || isClosed) return;
    const value = tryParseJson(line);
    if (value === undefined) return refuse(ErrorCode.ParseError, "A line is not JSON.");
    const read = readMessage(value);
    if ("refusal" in read) {
      const { id, code, message } = read.refusal;
      return refuse(code, message, inFlight.has(id) ? null : id);
    }
    if (!inFlight.receive(read.message)) {
      return refuse(ErrorCode.InvalidRequest, "A request has the id of one that is not answered.");
    }
    transport.onmessage?.(read.message);
  }

  function refuse(...refusal: Parameters<typeof toRefusal>): void {
    void write(`${JSON.stringify(toRefusal(...refusal))}\n`);
  }

  async function read(): Promise<void> {
    for await (const chunk of chunks()) {
      if (isClosed) return;
      lines.push(typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk));
    }
  }

  const transport: LineTransport = {
    over,
    async start() {
      read()
        .catch((error: Error) => transport.onerror?.(error))
        .finally(() => transport.close());
    },
    async send(message: JSONRPCMessage) {
      inFlight.send(message);
      if (!isClosed) await write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      transport.onclose?.();
      end();
    },
  };
  return transport;
}

/** The protocol requires null if it cannot be known which request was meant. */
function toRefusal(code: number, message: string, id: RequestId | null = null) {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

interface InFlight {
  /** True if a request with this id has no answer yet. */
  has(id: RequestId | null): boolean;
  /** False for a request under the id of another one that has no answer yet: two answers could not be told apart. */
  receive(message: JSONRPCMessage): boolean;
  send(message: JSONRPCMessage): void;
}

function createInFlight(): InFlight {
  const ids = new Set<unknown>();
  return {
    has: (id) => ids.has(id),
    receive(message) {
      if (!("method" in message)) return true;
      if ("id" in message) {
        if (ids.has(message.id)) return false;
        ids.add(message.id);
      } else if (message.method === "notifications/cancelled") {
        // A request that was taken back is not answered.
        ids.delete(message.params?.["requestId"]);
      }
      return true;
    },
    send(message) {
      if ("id" in message && !("method" in message)) ids.delete(message.id);
    },
  };
}
