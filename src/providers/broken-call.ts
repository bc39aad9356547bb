/** Answers about calls that no API promises, as the failures they are on every wire. */

import { Failure } from "../base/failure.ts";

export function toNamelessCall(): Failure {
  return new Failure("provider_broke_protocol", "A tool call came without the name of its tool.");
}

/** The answer's ending asks for results of calls that it has not made. */
export function toMissingCall(): Failure {
  return new Failure(
    "provider_broke_protocol",
    "The model's server says that a tool is called, and named none.",
  );
}
