/** Faults that replace the model's answer; the model is not asked. */

import { type Exchange, sseExchange, textExchange } from "../exchange/exchange.ts";
import {
  reject,
  rejectionExchange,
  serverError as serverRejection,
} from "../exchange/rejection.ts";
import type { Fault } from "./fault.ts";

/** Accepts the request and never answers. */
export function noAnswer(): Fault {
  return { name: "noAnswer", replace: () => sseExchange([{ act: "wait" }]) };
}

/** 429 with `Retry-After` in seconds, that many times, then the answer. */
export function tooManyRequests(options: { retryAfter?: number; times?: number } = {}): Fault {
  const { retryAfter = 1, times = Number.POSITIVE_INFINITY } = options;
  const rejection = reject("Rate limit reached for requests. Please try again later.", {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
  });
  return {
    name: "tooManyRequests",
    replace: repeat(times, () => {
      const exchange = rejectionExchange(rejection);
      return { ...exchange, headers: { ...exchange.headers, "retry-after": String(retryAfter) } };
    }),
  };
}

/** A server's own failure, that many times, then the answer. */
export function serverError(
  options: { status?: 500 | 502 | 503 | 529; times?: number } = {},
): Fault {
  const { status = 500, times = Number.POSITIVE_INFINITY } = options;
  const message = "The server had an error while processing your request. Sorry about that.";
  return {
    name: "serverError",
    replace: repeat(times, () => rejectionExchange(serverRejection(message, status))),
  };
}

/** 200 with a web page, like the login or error page of a proxy. */
export function wrongContentType(): Fault {
  const page = "<!doctype html><title>Sign in</title><p>Please sign in to go on.</p>";
  return {
    name: "wrongContentType",
    replace: () => textExchange(200, page, { "content-type": "text/html; charset=utf-8" }),
  };
}

/** TCP reset as soon as the request has arrived. */
export function resetBeforeHeaders(): Fault {
  return { name: "resetBeforeHeaders", replace: () => sseExchange([{ act: "reset" }]) };
}

/** 200 and an event stream of no bytes. */
export function emptyBody(): Fault {
  return { name: "emptyBody", replace: () => sseExchange([]) };
}

function repeat(times: number, make: () => Exchange): () => Exchange | undefined {
  let left = times;
  return () => (left-- > 0 ? make() : undefined);
}
