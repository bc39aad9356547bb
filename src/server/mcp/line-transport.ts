/** Messages over standard input and output, one for each line, within a limit. Ends with the input. */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { createMessageLines } from "../../tools/mcp/session/message-lines.ts";

export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

interface Lines {
  chunks(): AsyncIterable<Uint8Array | string>;
  write(text: string): Promise<void> | void;
}

export interface LineTransport extends Transport {
  /** Resolves when the other side has closed its end, or the transport was closed. */
  readonly over: Promise<void>;
}

export function createLineTransport({ chunks, write }: Lines): LineTransport {
  let isClosed = false;
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const lines = createMessageLines({
    maxBytes: MAX_MESSAGE_BYTES,
    onLine: receive,
    onTooLong: () =>
      refuse(ErrorCode.InvalidRequest, `A message has more than ${MAX_MESSAGE_BYTES} bytes.`),
    onRunaway: () => void transport.close(),
  });

  function receive(line: string): void {
    if (line.trim() === "" || isClosed) return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return refuse(ErrorCode.ParseError, "A line is not JSON.");
    }
    const message = JSONRPCMessageSchema.safeParse(value);
    if (message.success) transport.onmessage?.(message.data);
    else refuse(ErrorCode.InvalidRequest, "A line is not a JSON-RPC message.");
  }

  /** The protocol wants null where it cannot be known which request was meant. */
  function refuse(code: number, message: string): void {
    void write(`${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } })}\n`);
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
