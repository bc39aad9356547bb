/** Faults in the frames of an event stream. A plain JSON answer passes through them unchanged. */

import { encodeSse } from "../../base/sse.ts";
import type { Piece } from "../exchange/exchange.ts";
import { mapBytes, startWith } from "./byte-faults.ts";
import type { Fault, Pieces } from "./fault.ts";
import { dataOf, isDelta, isTerminal, shareCallIds, withField } from "./frames.ts";

/** Sends a comment before every frame, as servers do to keep a connection alive. */
export function comments(): Fault {
  return { name: "comments", frames: mapFrames((frame) => [": keep-alive\n\n", frame]) };
}

/** Ends the body right after the last line's text: no line end, no blank line. */
export function noFinalBlankLine(): Fault {
  return {
    name: "noFinalBlankLine",
    async *frames(frames) {
      let held: Piece | undefined;
      for await (const frame of frames) {
        if (held !== undefined) yield held;
        held = frame;
      }
      if (held !== undefined) yield typeof held === "string" ? held.trimEnd() : held;
    },
  };
}

/** Sends a `data:` line that is not JSON after the first delta, and continues. */
export function garbageLine(): Fault {
  const garbage = 'data: {"no JSON\n\n';
  return {
    name: "garbageLine",
    frames: (frames) => afterFirstDelta(frames, { extra: () => [garbage], after: "go on" }),
  };
}

/** Stops inside a character of UTF-8, then closes the socket. */
export function halfCharacter(): Fault {
  const half = Buffer.concat([Buffer.from('data: {"half":"'), Buffer.from("€").subarray(0, 2)]);
  return {
    name: "halfCharacter",
    frames: (frames) =>
      afterFirstDelta(frames, { extra: () => [half, { act: "cut" }], after: "stop" }),
  };
}

/** Sends every character that has several bytes in two writes. A comment with one comes first. */
export function splitCharacter(): Fault {
  return {
    name: "splitCharacter",
    frames: (frames) => startWith(": é\n\n", frames),
    bytes: mapBytes(splitCharacters),
  };
}

/** Pads the first delta's event, which is still valid, to a line of this many bytes. */
export function longLine(bytes = 10 * 1024 * 1024): Fault {
  return {
    name: "longLine",
    async *frames(frames) {
      let isPadded = false;
      for await (const frame of frames) {
        if (isPadded || typeof frame !== "string" || !isDelta(frame)) {
          yield frame;
          continue;
        }
        isPadded = true;
        // The real API pads its events under this name, so that their size reveals nothing.
        yield withField(frame, "obfuscation", "x".repeat(bytes));
      }
    },
  };
}

/** Stops sending after this many events and keeps the connection open. */
export function silence({ after = 2 }: { after?: number } = {}): Fault {
  return {
    name: "silence",
    async *frames(frames) {
      // No bytes, but it sends the head: the client sees an answer that has begun.
      yield Buffer.alloc(0);
      let left = after;
      for await (const frame of frames) {
        if (left-- <= 0) break;
        yield frame;
      }
      yield { act: "wait" };
    },
  };
}

/**
 * An error event after the first delta, then the end of the body. `flat` is the published form of
 * the Responses API, `nested` the one it really sends, `chat` that of chat completions.
 */
export function errorInStream({
  shape = "nested",
}: {
  shape?: "flat" | "nested" | "chat";
} = {}): Fault {
  return {
    name: "errorInStream",
    frames: (frames) =>
      afterFirstDelta(frames, { extra: (sent) => [errorFrame(shape, sent)], after: "stop" }),
  };
}

/** Gives every tool call the id of the first one; they differ only by their index. */
export function duplicateIds(): Fault {
  return { name: "duplicateIds", frames: (frames) => mapFrames(shareCallIds())(frames) };
}

/** TCP reset after the first delta. */
export function reset(): Fault {
  return {
    name: "reset",
    frames: (frames) => afterFirstDelta(frames, { extra: () => [{ act: "reset" }], after: "stop" }),
  };
}

/** Ends the body, cleanly, before the event that says the answer is over. */
export function noTerminal(): Fault {
  return {
    name: "noTerminal",
    async *frames(frames) {
      for await (const frame of frames) {
        if (typeof frame === "string" && isTerminal(frame)) return;
        yield frame;
      }
    },
  };
}

/** Says twice that the answer is over. */
export function doneTwice(): Fault {
  return {
    name: "doneTwice",
    frames: mapFrames((frame) =>
      dataOf(frame) === "[DONE]" ||
      /^event: (response\.completed|message_stop|message-end)\n/.test(frame)
        ? [frame, frame]
        : [frame],
    ),
  };
}

function mapFrames(change: (frame: string) => Iterable<Piece>): (frames: Pieces) => Pieces {
  return async function* (frames) {
    for await (const frame of frames) {
      if (typeof frame === "string") yield* change(frame);
      else yield frame;
    }
  };
}

/** Inserts pieces after the first delta, or before the terminal event of an answer without one. */
async function* afterFirstDelta(
  frames: Pieces,
  { extra, after }: { extra: (sent: number) => readonly Piece[]; after: "stop" | "go on" },
): Pieces {
  let sent = 0;
  let isDue = false;
  let isDone = false;
  for await (const frame of frames) {
    const text = typeof frame === "string" ? frame : "";
    isDue ||= isTerminal(text);
    if (isDue && !isDone) {
      isDone = true;
      yield* extra(sent);
      if (after === "stop") return;
    }
    yield frame;
    sent += 1;
    isDue ||= isDelta(text);
  }
}

function* splitCharacters(bytes: Buffer): Generator<Buffer, void> {
  let start = 0;
  for (const [at, byte] of bytes.entries()) {
    // 11xxxxxx starts a character of several bytes.
    if (byte < 0xc0) continue;
    yield bytes.subarray(start, at + 1);
    start = at + 1;
  }
  yield bytes.subarray(start);
}

function errorFrame(shape: "flat" | "nested" | "chat", sent: number): string {
  const message = "The model stopped in the middle of its answer.";
  const error = { message, type: "server_error", param: null, code: "server_error" };
  if (shape === "chat") return `data: ${JSON.stringify({ error })}\n\n`;
  const event = shape === "nested" ? { error } : { message, param: null, code: "server_error" };
  return encodeSse("error", { type: "error", sequence_number: sent, ...event });
}
