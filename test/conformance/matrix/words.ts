/** Words that are recognized wherever they arrive. */

import type { JsonObject } from "../../../src/base/json.ts";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import type { Cell } from "./cells.ts";

/** Long enough that a model which counts its input shows that it has read them. */
export const MARK = "zebra ".repeat(40).trim();

export const ARRIVED = /zebra zebra/;

/** A conversation with the items in its middle. */
export function between(...items: readonly JsonObject[]): JsonObject {
  const user = (content: string): JsonObject => ({ type: "message", role: "user", content });
  return { input: [user("Hello"), ...items, user("Go on.")] };
}

/** For the embedded model, to which nothing is sent: it counts what it was given to read. */
export function isRead(cell: Cell): (response: EmittedResponse) => Cell | boolean {
  return ({ usage }) => ((usage?.input_tokens ?? 0) >= 40 ? cell : false);
}
