/**
 * Reads one JSON-RPC message on each line, from pieces of any size, within a limit.
 *
 * A longer line is dropped while it arrives. Its two ends are kept, because one of them says which request
 * it answers; that request then fails at once and not at the end of its timeout.
 */

import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

export interface MessageLines {
  push(bytes: Buffer): void;
}

interface LineOptions {
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  /** Called with the beginning and the end of a line that was too long. */
  readonly onTooLong: (head: string, tail: string) => void;
  /** Called once, inside a line without end; nothing is called afterwards. */
  readonly onRunaway: () => void;
}

const END_BYTES = 256;

/** A line of this many limits will not end. */
const RUNAWAY_LIMITS = 20;

export function createMessageLines(options: LineOptions): MessageLines {
  const { maxBytes, onLine, onTooLong, onRunaway } = options;
  let pieces: Buffer[] = [];
  let bytes = 0;
  /** Set inside a line that is too long. */
  let head: string | undefined;
  let isOver = false;

  function add(piece: Buffer): void {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes <= maxBytes) return;
    head ??= firstBytes(pieces).toString("utf8");
    pieces = [lastBytes(pieces)];
    if (bytes <= maxBytes * RUNAWAY_LIMITS) return;
    isOver = true;
    onRunaway();
  }

  function end(): void {
    const [first = Buffer.alloc(0)] = pieces;
    const line = (pieces.length > 1 ? Buffer.concat(pieces) : first).toString("utf8");
    const start = head;
    pieces = [];
    bytes = 0;
    head = undefined;
    if (start === undefined) onLine(line);
    else onTooLong(start, line);
  }

  return {
    push(chunk) {
      let from = 0;
      while (!isOver) {
        const at = chunk.indexOf(10, from);
        add(chunk.subarray(from, at === -1 ? undefined : at));
        if (at === -1 || isOver) return;
        end();
        from = at + 1;
      }
    },
  };
}

/** The id of the request that a line answers, if one of its ends has it. */
export function findRequestId(head: string, tail: string): number | undefined {
  const found =
    /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /^\s*\{\s*"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found ? Number(found[1]) : undefined;
}

/** The message in place of an answer that was dropped. */
export function tooLarge(id: number, maxBytes: number): JSONRPCMessage {
  const message = `The answer is larger than ${Math.floor(maxBytes / 1_000_000)} MB and was thrown away.`;
  return { jsonrpc: "2.0", id, error: { code: -32_603, message } };
}

function firstBytes(pieces: readonly Buffer[]): Buffer {
  const start: Buffer[] = [];
  let length = 0;
  for (const piece of pieces) {
    if (length >= END_BYTES) break;
    start.push(piece.subarray(0, END_BYTES));
    length += piece.length;
  }
  return Buffer.concat(start).subarray(0, END_BYTES);
}

/** A copy, because a view would keep the whole dropped piece in memory. */
function lastBytes(pieces: readonly Buffer[]): Buffer {
  const [last = Buffer.alloc(0), before = Buffer.alloc(0)] = pieces.toReversed();
  if (last.length >= END_BYTES) return Buffer.from(last.subarray(-END_BYTES));
  return Buffer.concat([before, last]).subarray(-END_BYTES);
}
