/** A model as responses use it. The runtime opens it, because it knows vendors, keys and prices. */

import type { LoopParts } from "../../agent/loop.ts";
import type { Item } from "../../protocol/items.ts";
import type { Native } from "../../protocol/native.ts";
import type { ModelTarget } from "./model-target.ts";

export interface ResponseModel
  extends Pick<
    LoopParts,
    "provider" | "contextTokens" | "costOf" | "tellsCost" | "reasoning" | "own"
  > {
  /** What its vendor does itself; nothing where it is left out. */
  readonly native?: Native | undefined;
  /** Rejects items of a kind that the model is known not to take. */
  readonly checkInput: (items: readonly Item[]) => void;
}

/** Makes a model usable. Rejects with what is missing (`key_missing`) or wrong; sends nothing. */
export type OpenModel = (wish: ModelTarget & ThinkingWish) => Promise<ResponseModel>;

/** Whether the model is asked to think where the request does not say how much. */
export interface ThinkingWish {
  readonly think: boolean;
}
