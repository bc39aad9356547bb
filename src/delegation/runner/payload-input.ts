/**
 * Reads the payload from standard input. Usually it is everything up to the end of the input. A parent of ours sends
 * it as one line that says `"lifeline": true`, and keeps the input open as long as it lives. What it writes later are
 * lines too.
 */

import type { Readable } from "node:stream";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject, parseJson, tryParseJson } from "../../base/json.ts";
import { createLineReader } from "../../base/lines.ts";

/** Larger than any model's window; a larger input was not meant for us. */
export const MAX_PAYLOAD_BYTES = 10 * 1024 * 1024;

export interface PayloadInput {
  readonly document: JsonObject;
  /** Aborts when the parent is gone; undefined without a life line. */
  readonly parentGone: AbortSignal | undefined;
  /**
   * Calls `listener` with each line after the payload, also with those that came before it listened: a parent may
   * write at once. They are kept, because they are few and short.
   */
  onLine(listener: (line: string) => void): void;
  /** Stops reading the input, which would keep the process alive. */
  close(): void;
}

/** Rejects with `Failure("invalid_request")` for input that is not a JSON document, or is too large. */
export async function readPayload(input: Readable): Promise<PayloadInput> {
  const gone = new AbortController();
  const listeners: ((line: string) => void)[] = [];
  const lines: string[] = [];
  const { text, isLine } = await readText(input, gone, (line) => {
    lines.push(line);
    for (const listener of listeners) listener(line);
  });
  const onLine = (listener: (line: string) => void): void => {
    listeners.push(listener);
    for (const line of [...lines]) listener(line);
  };
  const close = (): void => void input.destroy();
  try {
    if (text.trim() === "")
      throw invalid("Standard input is empty. Write the payload to it: one JSON document.");
    const document = parseJson(text, "The payload");
    if (!isJsonObject(document)) throw invalid("The payload must be a JSON object.");
    return { document, parentGone: isLine ? gone.signal : undefined, onLine, close };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

interface Text {
  readonly text: string;
  readonly isLine: boolean;
}

function readText(
  input: Readable,
  gone: AbortController,
  onLine: (line: string) => void,
): Promise<Text> {
  const later = createLineReader({ endings: "lf", onLine });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isOpen = true;
    const finish = (text: string, isLine: boolean): void => {
      isOpen = false;
      resolve({ text, isLine });
    };
    input.on("data", (chunk: Uint8Array | string) => {
      const piece = Buffer.from(chunk);
      if (!isOpen) return later.push(piece);
      const isFirstBreak = piece.includes(10) && !chunks.some((one) => one.includes(10));
      bytes += piece.length;
      chunks.push(piece);
      if (bytes > MAX_PAYLOAD_BYTES) {
        isOpen = false;
        input.destroy();
        reject(invalid(`The payload is larger than ${MAX_PAYLOAD_BYTES / 1024 / 1024} MB.`));
      } else if (isFirstBreak) {
        const all = Buffer.concat(chunks);
        const line = all.toString("utf8", 0, all.indexOf(10));
        if (!holdsLine(line)) return;
        finish(line, true);
        later.push(all.subarray(all.indexOf(10) + 1));
      }
    });
    const end = (): void => {
      if (isOpen) finish(Buffer.concat(chunks).toString("utf8"), false);
      gone.abort();
    };
    input.once("end", end);
    input.once("close", end);
    input.once("error", end);
  });
}

function holdsLine(line: string): boolean {
  const document = tryParseJson(line);
  return isJsonObject(document) && document["lifeline"] === true;
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
