/** What of a request's options an API can be told; the names of the others are for whoever asked. */

import { MODEL_OPTIONS, type ModelOptions, type ModelRequest } from "./provider.ts";

export type OptionName = keyof ModelOptions;

interface Fitted {
  readonly request: ModelRequest;
  /** As requests spell them. */
  readonly dropped: readonly string[];
}

const NAMES = Object.keys(MODEL_OPTIONS) as readonly OptionName[];

/** The request without the options that `isKnown` does not know. Costs nothing where there are none. */
export function keepOptions(request: ModelRequest, isKnown: (name: OptionName) => boolean): Fitted {
  const { options } = request;
  if (!options) return { request, dropped: [] };
  const lost = NAMES.filter((name) => options[name] !== undefined && !isKnown(name));
  if (lost.length === 0) return { request, dropped: [] };
  const kept = Object.fromEntries(lost.map((name) => [name, undefined]));
  return {
    request: { ...request, options: { ...options, ...kept } },
    dropped: lost.map((name) => MODEL_OPTIONS[name]),
  };
}
