/** How Cohere rejects a request: a status, and `{id, message}` in its own words. */

import { type Exchange, textExchange } from "../exchange/exchange.ts";

export interface CohereRejection {
  readonly status: number;
  readonly message: string;
  /** Only for a few kinds of refusals. */
  readonly error_type?: string;
}

export type CohereCheck = Generator<CohereRejection, void>;

/** The rejection of most invalid requests. */
export function invalid(message: string): CohereRejection {
  return { status: 400, message: `invalid request: ${message}` };
}

/** In any part of the request. */
export function unknownField(name: string): CohereRejection {
  const usage = "For proper usage, please refer to https://docs.cohere.com/reference/chat";
  const message = `unknown field: parameter '${name}' is not a valid field. ${usage}`;
  return { status: 422, message };
}

export function tooManyTokens(rest: string): CohereRejection {
  return { status: 400, error_type: "TOO_MANY_TOKENS", message: `too many tokens: ${rest}` };
}

export function rejectionExchange({ status, ...said }: CohereRejection): Exchange {
  const body = { id: "00000000-0000-4000-8000-000000000000", ...said };
  return textExchange(status, JSON.stringify(body));
}
