/** Facts about single streams of the Responses API, for the suites that read a folder of them. */

import type { FailureCode } from "../../../src/base/failure.ts";

/** By the name of the file. Everything else is the same as for most servers. */
export interface StreamFacts {
  /** Streams that fail, and how. */
  readonly failing: Readonly<Record<string, FailureCode>>;
  /** Streams whose server gives an item another id in every event. */
  readonly changesIds: readonly string[];
  /** Streams from which most deltas were removed. */
  readonly shortened: readonly string[];
  /** How many lines of a stream are not JSON, because their last braces are missing. */
  readonly cutLines: Readonly<Record<string, number>>;
  /**
   * Events that we pass on unchanged and that OpenAI's description does not have: a picture before it
   * exists, a shell call without its index, a search without its query. The response with such an item
   * differs as well.
   */
  readonly unpublished: Readonly<Record<string, readonly string[]>>;
  /** Errors in the order of the events that we make of a stream. */
  readonly outOfOrder: Readonly<Record<string, readonly RegExp[]>>;
}

/** A fact about a missing file is out of date. */
export function namesIn(facts: StreamFacts): string[] {
  const { failing, changesIds, shortened, cutLines, unpublished, outOfOrder } = facts;
  const tables = { ...failing, ...cutLines, ...unpublished, ...outOfOrder };
  return [...Object.keys(tables), ...changesIds, ...shortened];
}

/** For the project's own streams. */
export const OWN_STREAM_FACTS: StreamFacts = {
  failing: {
    "error-before-failed.jsonl": "provider_rejected",
    "failed-in-the-middle.jsonl": "provider_failed",
  },
  changesIds: ["ids-that-change-with-each-event.jsonl"],
  shortened: [],
  cutLines: { "payload-without-its-last-brace.jsonl": 2 },
  unpublished: {
    "picture-before-an-empty-message.jsonl": ["response.output_item.added image_generation_call"],
    "search-whole-from-its-start.jsonl": [
      "response.output_item.added web_search_call",
      "response.output_item.done web_search_call",
      "response.completed",
    ],
    "two-answers-in-a-row.jsonl": [
      "response.output_item.added shell_call",
      "response.output_item.done shell_call",
      "response.completed",
    ],
  },
  outOfOrder: {
    // The service reports a call by a program as done and in progress.
    "call-made-by-a-program.jsonl": [/is done and in progress/],
    // This vendor reports its searches without any details.
    "search-whole-from-its-start.jsonl": [/is completed and was not told so/],
  },
};
