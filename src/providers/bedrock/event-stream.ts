/**
 * AWS event-stream framing: bytes to events, wherever the bytes were split.
 *
 * A frame is its length, the length of its headers and a checksum of these two; then headers and payload;
 * then a checksum of everything before it. Both checksums are verified before any byte of the frame is
 * used. Written here and not taken from a package: the vendor's own codec costs 23 ms to load, and the
 * runtime has the CRC.
 *
 * The decoder emits `{"name": payload}`, the form in which the API documents its union of events:
 * `{"messageStop": {"stopReason": "end_turn"}}`. An exception has its name in the same place.
 */

import { crc32 } from "node:zlib";
import { Failure } from "../../base/failure.ts";
import type { LineReader } from "../../base/lines.ts";

const PRELUDE_BYTES = 12;
/** The prelude and the checksum at the end. */
const MIN_FRAME_BYTES = 16;
/** Real events are far smaller. A larger length is noise, and the decoder does not wait for that many bytes. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;

export function createEventStreamReader(onData: (data: string) => void): LineReader {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  /** How many bytes are needed before anything can be read: the prelude, then the whole frame. */
  let wanted = PRELUDE_BYTES;

  /** Joins the pieces once the prelude is complete and once the frame is, not for each piece. */
  function join(): Buffer {
    const first = pieces[0] ?? new Uint8Array();
    const joined =
      pieces.length === 1
        ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
        : Buffer.concat(pieces);
    pieces = [joined];
    return joined;
  }

  function read(): void {
    const buffer = join();
    let from = 0;
    for (;;) {
      wanted = wantedAt(buffer, from);
      if (buffer.length - from < wanted) break;
      onData(readFrame(buffer.subarray(from, from + wanted)));
      from += wanted;
    }
    bytes = buffer.length - from;
    pieces = bytes > 0 ? [buffer.subarray(from)] : [];
  }

  return {
    push(chunk) {
      if (chunk.length === 0) return;
      pieces.push(chunk);
      bytes += chunk.length;
      if (bytes >= wanted) read();
    },
    end() {
      if (bytes > 0) throw broken("it ended inside a frame");
    },
  };
}

function wantedAt(buffer: Buffer, from: number): number {
  if (buffer.length - from < PRELUDE_BYTES) return PRELUDE_BYTES;
  const total = buffer.readUInt32BE(from);
  const headers = buffer.readUInt32BE(from + 4);
  if (crc32(buffer.subarray(from, from + 8)) !== buffer.readUInt32BE(from + 8)) {
    throw broken("the checksum of a frame's head is wrong");
  }
  if (total > MAX_FRAME_BYTES || total < MIN_FRAME_BYTES + headers) {
    throw broken(`a frame claims to be ${total} bytes long`);
  }
  return total;
}

function readFrame(frame: Buffer): string {
  const end = frame.length - 4;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) {
    throw broken("the checksum of a frame is wrong");
  }
  const payloadAt = PRELUDE_BYTES + frame.readUInt32BE(4);
  const headers = readHeaders(frame.subarray(PRELUDE_BYTES, payloadAt));
  return toEvent(headers, frame.toString("utf8", payloadAt, end));
}

function toEvent(headers: ReadonlyMap<string, string>, payload: string): string {
  if (headers.get(":message-type") === "error") {
    const code = headers.get(":error-code");
    return JSON.stringify({ error: { code, message: headers.get(":error-message") } });
  }
  const name = headers.get(":exception-type") ?? headers.get(":event-type") ?? "";
  return `{${JSON.stringify(name)}:${payload === "" ? "{}" : payload}}`;
}

/** Bytes of a value by its type. A type that is not here has its own length in two bytes. */
const VALUE_BYTES: Readonly<Record<number, number>> = {
  0: 0,
  1: 0,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  8: 8,
  9: 16,
};
const STRING_TYPE = 7;

/** Reads the headers that are text and skips the others. */
function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  try {
    while (at < bytes.length) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const name = bytes.toString("utf8", at + 1, nameEnd);
      const type = bytes.readUInt8(nameEnd);
      const fixed = VALUE_BYTES[type];
      const valueAt = nameEnd + (fixed === undefined ? 3 : 1);
      const valueEnd = valueAt + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
      if (type === STRING_TYPE) headers.set(name, bytes.toString("utf8", valueAt, valueEnd));
      at = valueEnd;
    }
  } catch (cause) {
    throw broken("the headers of a frame are cut", cause);
  }
  return headers;
}

function broken(what: string, cause?: unknown): Failure {
  const message = `The stream cannot be read: ${what}.`;
  return new Failure("provider_broke_protocol", message, { cause });
}
