/** What is known of single streams of the Responses API, for the suites that read a folder of them. */

import type { FailureCode } from "../../../src/base/failure.ts";

/** All by the name of the file. What is not named is as most servers have it. */
export interface StreamFacts {
  /** Streams that fail, and how. */
  readonly failing: Readonly<Record<string, FailureCode>>;
  /** Streams whose server gives an item another id in every event. */
  readonly changesIds: readonly string[];
  /** Streams of which somebody removed most deltas. */
  readonly shortened: readonly string[];
  /** How many lines of a stream are not JSON, because their last braces are missing. */
  readonly cutLines: Readonly<Record<string, number>>;
  /**
   * Events that we pass on word for word and OpenAI's description does not have: a picture before there
   * is one, a shell call without its place, a search without its query. The response that holds such an
   * item differs with it.
   */
  readonly unpublished: Readonly<Record<string, readonly string[]>>;
  /** What is wrong with the order of the events that we make of a stream. */
  readonly outOfOrder: Readonly<Record<string, readonly RegExp[]>>;
}

/** A fact about a file that is not there is out of date. */
export function namesIn(facts: StreamFacts): string[] {
  const { failing, changesIds, shortened, cutLines, unpublished, outOfOrder } = facts;
  const tables = { ...failing, ...cutLines, ...unpublished, ...outOfOrder };
  return [...Object.keys(tables), ...changesIds, ...shortened];
}

/** Of the project's own streams. */
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
    // The service says of a call that a program makes that it is done and in progress.
    "call-made-by-a-program.jsonl": [/is done and in progress/],
    // This vendor tells nothing of its searches except that there are some.
    "search-whole-from-its-start.jsonl": [/is completed and was not told so/],
  },
};
