/**
 * Failures for answers of a model that no API allows, the same on every wire. The server is up and works,
 * so a fallback is asked, and the server's health is not lowered.
 */

import { Failure } from "../base/failure.ts";

export function toNamelessCall(): Failure {
  return new Failure("broken_answer", "A tool call came without the name of its tool.");
}

/** The failure for an answer that ends with a request for results of calls that it did not make. */
export function toMissingCall(): Failure {
  const message = "The model's server announced a tool call but named no tool.";
  return new Failure("broken_answer", message);
}

/**
 * The failure for an answer that its own server could not parse, with the vendor's message. A retry may
 * help.
 */
export function toUnreadable(vendorCode: string, message: string | undefined): Failure {
  const told = message ? `${vendorCode}: ${message}` : vendorCode;
  const said = `The model wrote what its server cannot read (${told}). Ask it again.`;
  return new Failure("broken_answer", said, { vendorCode });
}

/** The failure for an answer with fields of wrong types. A retry would get the same form again. */
export function toMisshapen(problem: string): Failure {
  return new Failure("broken_answer", problem, { retryable: false });
}
