/**
 * Answers what is not a valid request: a head that is too large, too slow or not HTTP. The HTTP parser rejects it
 * before the app sees it, and would answer without a body.
 *
 * For `server.on("clientError", answerBrokenRequest)`.
 */

import type { Duplex } from "node:stream";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { toFailureAnswer } from "../failure-answer.ts";

export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The client is gone, or an answer is in progress that must not be interrupted.
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const [status, reason, failure] = read(error);
  const body = JSON.stringify(toFailureAnswer(failure).body);
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${makeId("req")}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function read({ code }: NodeJS.ErrnoException): [number, string, Failure] {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [
        431,
        "Request Header Fields Too Large",
        new Failure("too_large", "The request's headers are larger than the server takes."),
      ];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [
        408,
        "Request Timeout",
        new Failure("slow_request", "The request did not arrive in time."),
      ];
    default:
      return [400, "Bad Request", new Failure("invalid_request", "This is not an HTTP request.")];
  }
}

/** The response that Node has on this socket. The field is not part of the documented interface. */
function isAnswering(socket: Duplex & { _httpMessage?: { headersSent: boolean } }): boolean {
  return socket._httpMessage?.headersSent === true;
}
