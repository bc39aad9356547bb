/**
 * Server-sent events, both ways, by the WHATWG rules: CR, LF and CRLF end a line, a BOM is skipped, lines
 * that start with a colon are comments, several `data:` lines are one payload.
 *
 * One deviation: an event still open at the end of the body is passed on, not dropped. Servers that leave
 * out the last blank line are common, and their last event is the one that matters.
 */

import { createLineReader, type LineReader } from "./lines.ts";

/**
 * Reads server-sent events. `onEvent` is called inside `push` and `end`, once for each event; what it
 * throws comes out there.
 */
export function createSseReader(onEvent: (data: string, event: string) => void): LineReader {
  let data: string | undefined;
  let event = "";

  function readLine(line: string): void {
    if (line === "") dispatch();
    // Nearly every line of a model's stream looks like this; it is recognised without splitting it.
    else if (line.startsWith("data:")) addData(line.slice(line.charCodeAt(5) === 32 ? 6 : 5));
    else if (line.startsWith("event:")) event = line.slice(line.charCodeAt(6) === 32 ? 7 : 6);
    else readBareField(line);
  }

  /**
   * Reads a line that is a field name alone: its value is empty. All other fields and comments are ignored.
   */
  function readBareField(line: string): void {
    if (line === "data") addData("");
    if (line === "event") event = "";
  }

  function addData(value: string): void {
    data = data === undefined ? value : `${data}\n${value}`;
  }

  function dispatch(): void {
    const payload = data;
    const name = event;
    data = undefined;
    event = "";
    if (payload !== undefined) onEvent(payload, name);
  }

  const lines = createLineReader({ endings: "any", onLine: readLine });
  return {
    push: lines.push,
    end() {
      lines.end();
      dispatch();
    },
  };
}

/** One event as text. JSON has no line breaks, so its payload is always one `data:` line. */
export function encodeSse(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
