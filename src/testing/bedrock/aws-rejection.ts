/** How AWS services reject a request: the kind in a header, the message in the body. */

import { type Exchange, textExchange } from "../exchange/exchange.ts";

export interface AwsRejection {
  readonly status: number;
  /** `ValidationException`. */
  readonly type: string;
  readonly message: string;
}

/** Yields every rejection that a check finds; the first one is the answer. */
export type AwsCheck = Generator<AwsRejection, void>;

export function awsRejectionExchange({ status, type, message }: AwsRejection): Exchange {
  return textExchange(status, JSON.stringify({ message }), {
    "content-type": "application/json",
    "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  });
}

export function invalid(message: string): AwsRejection {
  return { status: 400, type: "ValidationException", message };
}

/** A refusal by the model, as the API passes it on. */
export function refusedByModel(message: string): AwsRejection {
  return invalid(`The model returned the following errors: ${message}`);
}

/** `place` is the path of the value: `messages.1.member.role`. */
export function unfit(value: unknown, place: string, constraint: string): AwsRejection {
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  return invalid(
    `1 validation error detected: Value '${shown}' at '${place}' failed to satisfy constraint: ${constraint}`,
  );
}

export function denied(type: string, message: string): AwsRejection {
  return { status: 403, type, message };
}
