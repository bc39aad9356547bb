/**
 * Divides a request's options into those that an API supports and the names of the others, which are reported
 * to the caller.
 */

import { type ModelOptions, type ModelRequest, toParameter } from "./provider.ts";

export type OptionName = keyof ModelOptions;

interface Fitted {
  readonly request: ModelRequest;
  /** Their names in the request. */
  readonly dropped: readonly string[];
}

const NONE: readonly never[] = [];

function findLost(
  options: ModelOptions,
  isKnown: (name: OptionName) => boolean,
): readonly OptionName[] {
  const lost: OptionName[] = [];
  for (const name in options) {
    const option = name as OptionName;
    if (options[option] !== undefined && !isKnown(option)) lost.push(option);
  }
  return lost;
}

/** The request without the options that `isKnown` rejects. Costs nothing if there are none. */
export function keepOptions(request: ModelRequest, isKnown: (name: OptionName) => boolean): Fitted {
  const { options } = request;
  const lost = options ? findLost(options, isKnown) : NONE;
  if (!options || lost.length === 0) return { request, dropped: NONE };
  const kept = Object.fromEntries(lost.map((name) => [name, undefined]));
  return {
    request: { ...request, options: { ...options, ...kept } },
    dropped: lost.filter((name) => !isUsual(name, options)).map(toParameter),
  };
}

/** True for the default value: nothing is lost if it is left out. */
function isUsual(name: OptionName, { service_tier }: ModelOptions): boolean {
  return name === "service_tier" && (service_tier === "auto" || service_tier === "default");
}

/** The parts of a format that the API cannot express. */
export function omittedOfFormat({ format }: Pick<ModelRequest, "format">): readonly string[] {
  return format.type === "json_schema" && format.description ? FORMAT_DESCRIPTION : NONE;
}

const FORMAT_DESCRIPTION = ["text.format.description"];
