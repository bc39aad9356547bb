/**
 * Reports in an answer which fields of its request were left out: all of them in a field of our own, and those that
 * the API does not know also in the metadata, where clients of other servers look. Otherwise metadata belongs to the
 * client: a published parameter that this model's API does not support is not put there.
 */

import { clip } from "../../base/text.ts";
import type { StopDetail } from "../../protocol/model-events.ts";
import { CreateResponse } from "../../protocol/request.ts";

/** The field of an answer that only this server has. */
export interface OwnField {
  /** Names of the request's fields that were left out. */
  ignored: string[];
  /** The exact reason of the end, if the model's vendor says more than the API can. */
  stop?: StopDetail;
}

interface Answer {
  metadata: Record<string, string>;
  offshoot?: OwnField | undefined;
}

/** The metadata key for the request's unknown fields. */
const IGNORED_KEY = "offshoot_ignored";
const MAX_PAIRS = 16;
const MAX_CHARS = 512;
/** The names come from the client: an answer must not be filled with them. */
const MAX_NAMES = 100;
const MAX_NAME_CHARS = 200;

/** Fills in both. `metadata` is the client's; its own pairs win if not all fit. */
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

/** True if a parameter is the API's own. */
export type IsPublished = (parameter: string) => boolean;

/** Lists with values of many kinds: values that are left out of them are of unknown kinds. */
const LISTS: ReadonlySet<string> = new Set(["tools", "input", "include"]);

function isPublishedHere(parameter: string): boolean {
  return Object.hasOwn(CreateResponse.shape, parameter) && !LISTS.has(parameter);
}

/** `text` of `text.verbosity`, `tools` of `tools[1] (acme)`. */
function rootOf(name: string): string {
  return /^\w+/.exec(name)?.[0] ?? name;
}
