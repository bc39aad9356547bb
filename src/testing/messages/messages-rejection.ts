/**
 * How the Messages API rejects a request. The words follow those of the real API; at Google Cloud,
 * Google checks the credentials, and answers in its own form.
 */

import { type Exchange, textExchange } from "../exchange/exchange.ts";

export interface MessagesRejection {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

export type MessagesCheck = Generator<MessagesRejection, void>;

/** A 400, unless `more` says otherwise. */
export function refuse(
  message: string,
  more: { status?: number; type?: string } = {},
): MessagesRejection {
  const { status = 400, type = "invalid_request_error" } = more;
  return { status, type, message };
}

/** `place` is the path of the field, joined by dots. */
export function extraInput(place: string): MessagesRejection {
  return refuse(`${place}: Extra inputs are not permitted`);
}

export function required(place: string): MessagesRejection {
  return refuse(`${place}: Field required`);
}

export function refusalExchange({ status, type, message }: MessagesRejection): Exchange {
  const body = { type: "error", error: { type, message }, request_id: "req_test" };
  return textExchange(status, JSON.stringify(body));
}

export function googleRefusal(): Exchange {
  const message = "Request is missing required authentication credential.";
  const error = { code: 401, message, status: "UNAUTHENTICATED" };
  return textExchange(401, JSON.stringify([{ error }]));
}
