/** A search service as a row: its address, its keys, and how its answer is read. */

import type { Json } from "../../../base/json.ts";

export interface SearchProvider {
  readonly name: string;
  /** The service's name, for messages. */
  readonly title: string;
  readonly summary: string;
  /** The settings that the service needs, for the documentation. */
  readonly needs: string;
  /** The variables with its keys, all required; each may have several names. */
  readonly keys: readonly (readonly [string, ...string[]])[];
  /** The service's address; undefined if `search_url` has it. */
  readonly url: string | undefined;
  /** The requests for a question, in order: one for each page of results. */
  ask(question: SearchQuestion): readonly SearchHttpRequest[];
  /** Undefined if the answer does not have the service's form. */
  read(answer: SearchText, signal: AbortSignal): Promise<readonly SearchResult[] | undefined>;
  /** True if the answer asks for a proof that the user is human, in place of results. */
  isWall?(answer: SearchText): boolean;
  /** The advice for each status code of this service. */
  readonly advice?: Readonly<Record<number, string>>;
}

export interface SearchQuestion {
  readonly query: string;
  /** How many results are wanted, 1 to 20. */
  readonly count: number;
  readonly url: string;
  /** In the order of the provider's `keys`. */
  readonly keys: readonly string[];
}

export interface SearchHttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SearchText {
  readonly status: number;
  readonly text: string;
  /** The text as JSON, if it is valid JSON. */
  readonly json: Json | undefined;
}

/** A result. Title and description may contain tags and entities until they are cleaned. */
export type SearchResult = {
  readonly title: string;
  readonly url: string;
  readonly description: string;
};
