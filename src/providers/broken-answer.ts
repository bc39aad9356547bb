/**
 * What a model's answer looks like where no API promises it, as the failures they are on every wire. The
 * server is there and works: another one is asked in its place, and nothing is held against it.
 */

import { Failure } from "../base/failure.ts";

export function toNamelessCall(): Failure {
  return new Failure("broken_answer", "A tool call came without the name of its tool.");
}

/** The answer's ending asks for results of calls that it has not made. */
export function toMissingCall(): Failure {
  const message = "The model's server says that a tool is called, and named none.";
  return new Failure("broken_answer", message);
}

/** In the vendor's own words: its server could not read what the model wrote. Asking again may help. */
export function toUnreadable(vendorCode: string, message: string | undefined): Failure {
  const told = message ? `${vendorCode}: ${message}` : vendorCode;
  const said = `The model wrote what its server cannot read (${told}). Ask it again.`;
  return new Failure("broken_answer", said, { vendorCode });
}

/** Fields of wrong types: the same request gets the same form again. */
export function toMisshapen(problem: string): Failure {
  return new Failure("broken_answer", problem, { retryable: false });
}
