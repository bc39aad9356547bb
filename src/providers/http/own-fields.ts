/** Fields and headers of a vendor's own that a user adds, unchanged. Our types have no name for them. */

import type { JsonObject } from "../../base/json.ts";

/** The fields that a user adds to each request of a model. */
export interface OwnFields {
  /** Merged into the body. Objects are merged, everything else is replaced. */
  readonly options?: JsonObject | undefined;
  /** Beside the vendor's. A value `$NAME` is the value of that variable. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The variable that a header's value names; undefined if it is plain text. */
export function variableIn(value: string): string | undefined {
  return /^\$([A-Za-z_]\w*)$/.exec(value)?.[1];
}

/** A list of features. Those that the request needs and those that the user adds are joined. */
const BETAS = "anthropic-beta";

/** Lays `own` over `head`, and joins the features that both ask for. */
export function addHeaders(
  head: Record<string, string>,
  own: Readonly<Record<string, string>>,
): void {
  const said = head[BETAS];
  Object.assign(head, own);
  if (said !== undefined && own[BETAS] !== undefined) head[BETAS] = `${said},${own[BETAS]}`;
}
