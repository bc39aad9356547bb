/**
 * How an answer says what of its request was left out: all of it in a field of our own, and what the API
 * does not know at all in the metadata too, where clients of other servers look. Metadata is the client's
 * otherwise: a published parameter that this model's API has no word for is not put there.
 */

import { clip } from "../../base/text.ts";
import type { StopDetail } from "../../protocol/model-events.ts";
import { CreateResponse } from "../../protocol/request.ts";

/** The field of an answer that is this server's own. */
export interface OwnField {
  /** What of the request was left out, by name. */
  ignored: string[];
  /** Why exactly the answer ended, where the model's vendor says more than the API has words for. */
  stop?: StopDetail;
}

interface Answer {
  metadata: Record<string, string>;
  offshoot?: OwnField | undefined;
}

/** The pair of an answer's metadata that says what of the request nobody knows. */
const IGNORED_KEY = "offshoot_ignored";
const MAX_PAIRS = 16;
const MAX_CHARS = 512;
/** Names are the client's own: an answer is not made of them. */
const MAX_NAMES = 100;
const MAX_NAME_CHARS = 200;

/** Fills both in. `metadata` is the client's; its own pairs win where there is no room for ours. */
export function tellIgnored(
  answer: Answer,
  metadata: Readonly<Record<string, string>>,
  ignored: Iterable<string>,
  isPublished: IsPublished = isPublishedHere,
): void {
  const names = [...new Set(ignored)];
  answer.metadata = withUnknown(
    metadata,
    names.filter((name) => !PART_FIELDS.has(name) && !isPublished(rootOf(name))),
  );
  if (names.length === 0) return;
  const shown = names.slice(0, MAX_NAMES).map((name) => clip(name, MAX_NAME_CHARS));
  answer.offshoot = { ...answer.offshoot, ignored: shown };
}

/** Published fields of parts of the input, which are named without their place. */
const PART_FIELDS: ReadonlySet<string> = new Set(["prompt_cache_breakpoint"]);

function withUnknown(
  metadata: Readonly<Record<string, string>>,
  unknown: readonly string[],
): Record<string, string> {
  if (unknown.length === 0 || Object.keys(metadata).length >= MAX_PAIRS) return { ...metadata };
  const names = unknown.join(", ");
  const text = names.length <= MAX_CHARS ? names : `${names.slice(0, MAX_CHARS - 1)}…`;
  return { ...metadata, [IGNORED_KEY]: text };
}

/** Whether a parameter is the API's own. */
export type IsPublished = (parameter: string) => boolean;

/** Lists of things of many kinds: what is left out of them is a kind that nobody knows. */
const LISTS: ReadonlySet<string> = new Set(["tools", "input", "include"]);

function isPublishedHere(parameter: string): boolean {
  return Object.hasOwn(CreateResponse.shape, parameter) && !LISTS.has(parameter);
}

/** `text` of `text.verbosity`, `tools` of `tools[1] (acme)`. */
function rootOf(name: string): string {
  return /^\w+/.exec(name)?.[0] ?? name;
}
