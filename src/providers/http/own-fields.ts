/** Fields and headers of a vendor's own, which our vocabulary has no word for: the user's, as they stand. */

import type { JsonObject } from "../../base/json.ts";

/** What a user adds to each request of a model. */
export interface OwnFields {
  /** Laid over the body. Maps are joined, all else is replaced. */
  readonly options?: JsonObject | undefined;
  /** Beside the vendor's. A value `$NAME` is that variable's. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The variable that a header's value stands for; undefined where it is a text of its own. */
export function variableIn(value: string): string | undefined {
  return /^\$([A-Za-z_]\w*)$/.exec(value)?.[1];
}

/** A list of features: those that the request needs and those that the user wants are all asked for. */
const BETAS = "anthropic-beta";

export function joinBetas(
  said: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const lists = [said[BETAS], own[BETAS]].filter((list) => list !== undefined);
  return lists.length === 2 ? { [BETAS]: lists.join(",") } : {};
}
