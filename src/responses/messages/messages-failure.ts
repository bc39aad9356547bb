/**
 * Words failures as clients of the Messages API expect them. If a conversation does not fit, the vendor's own
 * wording, with its numbers, makes them compact it and continue, or ask for a shorter answer if that is what does not
 * fit. With any other wording their session is stuck.
 */

import { FAILURES, Failure, type FailureCode } from "../../base/failure.ts";
import type { CreateResponse } from "../../protocol/request.ts";
import type { UpstreamFacts } from "./messages-wishes.ts";

export interface Overflow {
  /** Our estimate of the request's tokens. */
  readonly estimate: () => number;
  readonly upstream: Pick<UpstreamFacts, "contextTokens">;
  readonly request: Pick<CreateResponse, "max_output_tokens">;
}

/**
 * The code of a failure that an event of a response names. Of the published codes, one says that the model's server is
 * busy, the others that it failed.
 */
export function toCode(code: string | null): FailureCode {
  if (code === "rate_limit_exceeded") return "provider_overloaded";
  return code !== null && Object.hasOwn(FAILURES, code) ? (code as FailureCode) : "provider_failed";
}

/** A server that took an answer over makes the call again. */
export const CUT_CALL = "A tool call was interrupted. Send the request again.";

/** Returns any other failure unchanged. */
export function toMessagesFailure(failure: Failure, overflow: Overflow): Failure {
  if (failure.code !== "context_exceeded") return failure;
  const { message } = failure;
  if (/exceed context limit: \d+ \+ \d+ > \d+|prompt is too long: \d+ tokens > \d+/.test(message)) {
    return failure;
  }
  return new Failure("context_exceeded", toTold(message, overflow), { cause: failure });
}

function toTold(message: string, overflow: Overflow): string {
  const split = findSplit(message, overflow);
  if (split && split.input < split.window) {
    const { input, output, window } = split;
    return `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${window}, decrease input length or \`max_tokens\` and try again`;
  }
  const { has, most } = split
    ? { has: split.input, most: split.window }
    : toNumbers(message, overflow);
  return `prompt is too long: ${has} tokens > ${most} maximum`;
}

interface Split {
  readonly input: number;
  /** The longest answer that was requested. */
  readonly output: number;
  readonly window: number;
}

/** How servers give the two numbers: OpenAI's older form, SGLang's, and vLLM's newer one. */
const SPLITS: readonly RegExp[] = [
  /maximum context length is (?<window>[\d,]+) tokens.*?(?<input>[\d,]+) (?:tokens )?in the (?:messages|prompt).*?(?<output>[\d,]+) (?:tokens )?in the completion/s,
  /maximum context length of (?<window>[\d,]+) tokens.*?(?<input>[\d,]+) tokens from the input.*?(?<output>[\d,]+) tokens for the completion/s,
  /maximum context length is (?<window>[\d,]+) tokens and your request has (?<input>[\d,]+) input tokens/s,
];

function findSplit(message: string, { request }: Overflow): Split | undefined {
  for (const form of SPLITS) {
    const { window, input, output } = form.exec(message)?.groups ?? {};
    if (window === undefined || input === undefined) continue;
    const asked = output === undefined ? (request.max_output_tokens ?? 0) : toNumber(output);
    return { input: toNumber(input), output: asked, window: toNumber(window) };
  }
  return undefined;
}

function toNumber(text: string): number {
  return Number(text.replace(/[,_]/g, ""));
}

/**
 * The server that refused it has counted it: the largest number is the request's, and the known window is the limit,
 * or else the smallest number. Without such a pair, our own estimate counts.
 */
function toNumbers(
  message: string,
  { estimate, upstream: { contextTokens } }: Overflow,
): { has: number; most: number } {
  const numbers = (message.match(NUMBERS) ?? [])
    .map(toNumber)
    .filter((number) => number >= LEAST_WINDOW);
  const most = Math.min(...numbers);
  const has = Math.max(...numbers);
  if (contextTokens !== undefined && has > contextTokens) return { has, most: contextTokens };
  if (numbers.length > 1 && has > most) return { has, most };
  const window = contextTokens ?? (numbers.length > 0 ? most : undefined);
  const counted = estimate();
  const limit = window ?? Math.max(1, counted - 1);
  return { has: Math.max(counted, limit + 1), most: limit };
}

/** Digits that are joined to a letter or a dash belong to a name or a date, except in `8192-token`. */
const NUMBERS = /(?<![\w.-])\d[\d,_]*\d(?!\w|-(?!token))/g;

/** Smaller numbers in such a message are not about windows. */
const LEAST_WINDOW = 1000;
