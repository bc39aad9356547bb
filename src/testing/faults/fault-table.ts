/**
 * Every fault of the kit with the result that a client must reach: suites loop over this table, and
 * the documentation is made from it.
 */

import * as answers from "./answer-faults.ts";
import * as bytes from "./byte-faults.ts";
import type { Fault } from "./fault.ts";
import * as streams from "./stream-faults.ts";

export interface FaultRow {
  readonly name: string;
  readonly summary: string;
  /**
   * `same answer`: the client returns what it would have returned without the fault, after a retry
   * if the row says "once". `error`: it says what went wrong, and never returns an incomplete
   * answer.
   */
  readonly expect: "same answer" | "error";
  /** A new fault, sized for an answer of a sentence or more. */
  readonly create: () => Fault;
}

const SAME = "same answer";
const ERROR = "error";

export const FAULTS: readonly FaultRow[] = [
  row("cut", ERROR, "The socket closes in the middle of the body.", () => bytes.cutAfter(200)),
  row("early end", ERROR, "The body ends cleanly in its middle.", () => bytes.endAfter(200)),
  row("pieces of 1 byte", SAME, "Every byte comes alone.", () => bytes.pieces(1)),
  row("pieces of 7 bytes", SAME, "Seven bytes come at a time.", () => bytes.pieces(7)),
  row("CRLF", SAME, "Lines end with CR LF.", bytes.crlf),
  row("CR", SAME, "Lines end with CR alone.", bytes.cr),
  row("BOM", SAME, "The body starts with a byte order mark.", bytes.bom),
  row("comments", SAME, "A comment comes before every event.", streams.comments),
  row("no final blank line", SAME, "The last event has no line end.", streams.noFinalBlankLine),
  row("garbage line", SAME, "One `data:` line is not JSON.", streams.garbageLine),
  row(
    "half a character",
    ERROR,
    "The socket closes inside a UTF-8 character.",
    streams.halfCharacter,
  ),
  row("split character", SAME, "A character comes in two reads.", streams.splitCharacter),
  row("long line", SAME, "One event is a line of 10 MB.", () => streams.longLine()),
  row("silence", ERROR, "Nothing comes after two events, the socket stays open.", () =>
    streams.silence({ after: 2 }),
  ),
  row("no answer", ERROR, "The request is accepted and never answered.", answers.noAnswer),
  row("429 once", SAME, "One 429 with Retry-After, then the answer.", () =>
    answers.tooManyRequests({ retryAfter: 0, times: 1 }),
  ),
  row("429", ERROR, "A 429 to every request.", () => answers.tooManyRequests({ retryAfter: 0 })),
  row("500 once", SAME, "One 500, then the answer.", () => answers.serverError({ times: 1 })),
  row("500", ERROR, "A 500 to every request.", () => answers.serverError()),
  row("502 once", SAME, "One 502, then the answer.", () =>
    answers.serverError({ status: 502, times: 1 }),
  ),
  row("503 once", SAME, "One 503, then the answer.", () =>
    answers.serverError({ status: 503, times: 1 }),
  ),
  row("529 once", SAME, "One 529, then the answer.", () =>
    answers.serverError({ status: 529, times: 1 }),
  ),
  row("529", ERROR, "A 529 to every request.", () => answers.serverError({ status: 529 })),
  row("wrong content type", ERROR, "A 200 with a web page.", answers.wrongContentType),
  row("flat error", ERROR, "A flat `error` event in the stream.", () =>
    streams.errorInStream({ shape: "flat" }),
  ),
  row("nested error", ERROR, "A nested `error` event in the stream.", () =>
    streams.errorInStream({ shape: "nested" }),
  ),
  row("chat error", ERROR, "An `error` object in the stream.", () =>
    streams.errorInStream({ shape: "chat" }),
  ),
  row("duplicate ids", SAME, "All tool calls of an answer carry one id.", streams.duplicateIds),
  row("reset", ERROR, "TCP reset in the middle of the body.", streams.reset),
  row("reset before headers", ERROR, "TCP reset without an answer.", answers.resetBeforeHeaders),
  row("empty body", ERROR, "A 200 with no body.", answers.emptyBody),
  row("no terminal event", ERROR, "The body ends before the answer says so.", streams.noTerminal),
  row("done twice", SAME, "The last event comes twice.", streams.doneTwice),
];

function row(
  name: string,
  expect: FaultRow["expect"],
  summary: string,
  create: () => Fault,
): FaultRow {
  return { name, expect, summary, create };
}
