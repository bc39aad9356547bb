/**
 * Decides which of a vendor's own fields a caller may send. For `options`, a field that the key may not set is
 * refused. Fields that clients of other servers add are left out, and reported. Pure.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { findOptionsProblem } from "../../protocol/own-options.ts";
import type { Caller } from "../tenant/caller.ts";
import type { AskedResponse } from "./asked-response.ts";

/** More than any client sends; each of them is in the log of the run. */
const MAX_EXTRAS = 32;
const MAX_NAME_CHARS = 64;

/**
 * Rejects with `invalid_request` a field that no key may set, and with `forbidden` one that this key may not set.
 */
export function allowOptions(asked: AskedResponse, caller: Caller): AskedResponse {
  const { options } = asked.request;
  if (options) checkOptions(options, caller);
  const { extras } = asked;
  if (!extras) return asked;
  const kept: [string, Json | undefined][] = [];
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(extras)) {
    const isFit =
      kept.length < MAX_EXTRAS && name.length <= MAX_NAME_CHARS && !isOwned(name, value);
    if (isFit && maySet(name, caller)) kept.push([name, value]);
    else ignored.push(name);
  }
  return {
    ...asked,
    extras: kept.length > 0 ? Object.fromEntries(kept) : undefined,
    ignored: ignored.length > 0 ? [...asked.ignored, ...ignored] : asked.ignored,
  };
}

function checkOptions(options: JsonObject, caller: Caller): void {
  const problem = findOptionsProblem(options);
  if (problem)
    throw new Failure("invalid_request", `\`options\` ${problem}.`, { param: "options" });
  const refused = Object.keys(options).find((name) => !maySet(name, caller));
  if (refused === undefined) return;
  const name = clip(refused, MAX_NAME_CHARS);
  const message = `This key may not set the option \`${name}\`. Leave it out, or ask for a key with \`--options ${name}\`.`;
  throw new Failure("forbidden", message, { param: `options.${name}` });
}

/**
 * A client must not write the values of the server's template: the server has checked another text.
 */
function isOwned(name: string, value: Json | undefined): boolean {
  return findOptionsProblem({ [name]: value }) !== undefined;
}

/**
 * A router's list of models could name others than the key's, and some fields switch on tools of the vendor. Both
 * need a key that names them, not a pattern.
 */
function maySet(name: string, { options, models, kinds }: Caller): boolean {
  const isBeyond = (models && NAMES_MODELS.has(name)) || (kinds && NAMES_TOOLS.has(name));
  if (isBeyond) return options?.includes(name) ?? false;
  return !options || options.some((glob) => matchesGlob(name, glob));
}

const NAMES_MODELS: ReadonlySet<string> = new Set(["models", "route", "fallbacks", "preset"]);

const NAMES_TOOLS: ReadonlySet<string> = new Set([
  ...["plugins", "web_search_options", "search_parameters", "search_options", "enable_search"],
  ...["mcp_servers", "compound_custom"],
]);
