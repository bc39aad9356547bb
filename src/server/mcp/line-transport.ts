/**
 * Sends and receives messages over standard input and output, one on each line, within a size limit. Ends with the
 * input.
 */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { createMessageLines } from "../../tools/mcp/session/message-lines.ts";
import { createIncoming } from "./incoming.ts";

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
  let isClosed = false;
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const incoming = createIncoming({
    deliver: (message) => transport.onmessage?.(message),
    say: (answers) => void write(`${JSON.stringify(answers)}\n`),
  });
  const lines = createMessageLines({
    maxBytes: MAX_MESSAGE_BYTES,
    onLine(line) {
      if (line.trim() !== "" && !isClosed) incoming.receive(line);
    },
    onTooLong: () => incoming.refuse(TOO_LONG),
    onRunaway: () => void transport.close(),
  });

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
      if (isClosed || incoming.keep(message)) return;
      await write(`${JSON.stringify(message)}\n`);
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
