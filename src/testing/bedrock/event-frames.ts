/**
 * Frames of an AWS event stream, with their two checksums.
 *
 * The fault kit knows the frames of event streams in text. So an event is first a text frame under
 * a name that the kit knows. `toBinary` then makes the binary frame, after the faults in frames and
 * before those in bytes.
 */

import { crc32 } from "node:zlib";
import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";
import { encodeSse } from "../../base/sse.ts";
import type { Piece } from "../exchange/exchange.ts";
import type { Fault } from "../faults/fault.ts";
import { dataOf } from "../faults/frames.ts";

const TERMINAL = "response.completed";

/** An event as a text frame. */
export function encodeTextFrame(event: string, payload: JsonObject): string {
  const type = KIT_NAMES[event] ?? event;
  return encodeSse(type, { type, event, payload: withKitCall(payload) });
}

const KIT_NAMES: Readonly<Record<string, string>> = {
  contentBlockDelta: "contentBlock.delta",
  messageStop: TERMINAL,
};

/** Converts text frames to binary ones. Anything else becomes an event that no client knows. */
export async function* toBinary(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void> {
  for await (const piece of pieces) {
    if (typeof piece !== "string") {
      yield piece;
      continue;
    }
    for (const frame of piece.split("\n\n")) if (frame !== "") yield toBinaryFrame(frame);
  }
}

/** A frame with the headers that the service sends. */
export function encodeFrame(
  name: string,
  payload: string,
  kind: "event" | "exception" = "event",
): Buffer {
  const headers = Buffer.concat([
    encodeHeader(`:${kind}-type`, name),
    encodeHeader(":content-type", "application/json"),
    encodeHeader(":message-type", kind),
  ]);
  const body = Buffer.from(payload);
  const frame = Buffer.alloc(12 + headers.length + body.length + 4);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(headers.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  headers.copy(frame, 12);
  body.copy(frame, 12 + headers.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4);
  return frame;
}

/**
 * Flips one bit of the third frame: in the checksum of its head, in its payload, or in the checksum
 * of the whole. Works only with this upstream: other streams have no frames in their bytes.
 */
export function damagedFrame({
  part = "payload",
}: {
  part?: "head" | "payload" | "checksum";
} = {}): Fault {
  return {
    name: "damagedFrame",
    async *bytes(pieces) {
      let left = 3;
      for await (const piece of pieces) {
        const isDue = Buffer.isBuffer(piece) && piece.length > 0 && --left === 0;
        yield isDue ? flip(piece, part) : piece;
      }
    },
  };
}

function flip(frame: Buffer, part: "head" | "payload" | "checksum"): Buffer {
  const at = { head: 8, payload: frame.length - 6, checksum: frame.length - 1 }[part];
  const flipped = Buffer.from(frame);
  flipped[at] = (flipped[at] ?? 0) ^ 1;
  return flipped;
}

function encodeHeader(name: string, value: string): Buffer {
  const text = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), STRING, length, text]);
}

const STRING = Buffer.from([7]);

function toBinaryFrame(frame: string): Buffer {
  const data = dataOf(frame);
  if (data === undefined) return encodeFrame("keepAlive", "{}");
  const value = tryParseJson(data);
  if (!isJsonObject(value)) return encodeFrame("contentBlockDelta", data);
  const { event, payload, type, obfuscation } = value;
  if (typeof event === "string" && isJsonObject(payload)) {
    const padded = obfuscation === undefined ? payload : { ...payload, p: obfuscation };
    return encodeFrame(event, JSON.stringify(withoutKitCall(padded)));
  }
  if (type === "error" || "error" in value) {
    const message = errorText(value);
    return encodeFrame("modelStreamErrorException", JSON.stringify({ message }), "exception");
  }
  // The form of a recording: one event's name and payload.
  const [[name, inner] = ["", {}]] = Object.entries(value);
  const kind = name.endsWith("Exception") ? "exception" : "event";
  return encodeFrame(name, JSON.stringify(inner ?? {}), kind);
}

function errorText({ error, message }: JsonObject): Json {
  if (isJsonObject(error)) return error["message"] ?? "";
  return error ?? message ?? "";
}

/** A call under the names that the kit uses for calls, and back. */
function withKitCall(payload: JsonObject): JsonObject {
  const call = callOf(payload);
  if (!call) return payload;
  const { toolUseId: call_id, type: kind, ...rest } = call;
  return { ...payload, start: { toolUse: { ...rest, kind, type: "function_call", call_id } } };
}

function withoutKitCall(payload: JsonObject): JsonObject {
  const call = callOf(payload);
  if (call?.["type"] !== "function_call") return payload;
  const { type: _, kind: type, call_id: toolUseId, ...rest } = call;
  return { ...payload, start: { toolUse: { toolUseId, ...rest, type } } };
}

function callOf({ start }: JsonObject): JsonObject | undefined {
  const call = isJsonObject(start) ? start["toolUse"] : undefined;
  return isJsonObject(call) ? call : undefined;
}
