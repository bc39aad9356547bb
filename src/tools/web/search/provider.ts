/** A search service as a row: where it is asked, what for a key, how its answer reads. */

import type { Json } from "../../../base/json.ts";

export interface SearchProvider {
  readonly name: string;
  /** As it calls itself, for messages. */
  readonly title: string;
  readonly summary: string;
  /** What must be set to use it, for the documents. */
  readonly needs: string;
  /** The variables that hold its keys, all needed; each may go by several names. */
  readonly keys: readonly (readonly [string, ...string[]])[];
  /** Where it is asked. Undefined where `search_url` says it. */
  readonly url: string | undefined;
  /** The requests for this question, in order: one a page of results. */
  ask(question: Question): readonly SearchRequest[];
  /** Undefined where the answer is not what the service promises. */
  read(answer: SearchText, signal: AbortSignal): Promise<readonly SearchResult[] | undefined>;
  /** Whether the answer asks for a proof that a person searches, in place of results. */
  isWall?(answer: SearchText): boolean;
  /** What to do about a status that is the service's own. */
  readonly advice?: Readonly<Record<number, string>>;
}

export interface Question {
  readonly query: string;
  /** How many results are wanted, 1 to 20. */
  readonly count: number;
  readonly url: string;
  /** In the order of the provider's `keys`. */
  readonly keys: readonly string[];
}

export interface SearchRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SearchText {
  readonly status: number;
  readonly text: string;
  /** The text as JSON, where it is that. */
  readonly json: Json | undefined;
}

/** Title and description may hold tags and entities until they are cleaned. */
export type SearchResult = {
  readonly title: string;
  readonly url: string;
  readonly description: string;
};
