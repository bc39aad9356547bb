/** What a service of AWS says to a request it does not take: the kind in a header, words in the body. */

import { type Exchange, textExchange } from "../exchange.ts";

export interface AwsRejection {
  readonly status: number;
  /** `ValidationException`. */
  readonly type: string;
  readonly message: string;
}

/** Every rejection that a check finds; the first one is the answer. */
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

/** What the model behind the API refused, as the API passes it on. */
export function refusedByModel(message: string): AwsRejection {
  return invalid(`The model returned the following errors: ${message}`);
}

/** `place` is where the value stands: `messages.1.member.role`. */
export function unfit(value: unknown, place: string, constraint: string): AwsRejection {
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  return invalid(
    `1 validation error detected: Value '${shown}' at '${place}' failed to satisfy constraint: ${constraint}`,
  );
}

export function denied(type: string, message: string): AwsRejection {
  return { status: 403, type, message };
}
