/** A model as responses use it. The runtime opens it, because it knows vendors, keys and prices. */

import type { LoopParts } from "../../agent/loop-parts.ts";
import type { Item } from "../../protocol/items.ts";
import type { Native } from "../../protocol/native.ts";
import type { ModelTarget } from "./model-target.ts";

export interface ResponseModel
  extends Pick<
    LoopParts,
    "provider" | "contextTokens" | "costOf" | "tellsCost" | "reasoning" | "own"
  > {
  /** The tools that its vendor runs itself; none when left out. */
  readonly native?: Native | undefined;
  /** Rejects items of a kind that the model is known not to accept. */
  readonly checkInput: (items: readonly Item[]) => void;
}

/** Opens a model. Rejects with what is missing (`key_missing`) or wrong; sends nothing. */
export type OpenModel = (wish: ModelTarget & ThinkingWish) => Promise<ResponseModel>;

/** Says if the model thinks when the request does not say how much. */
export interface ThinkingWish {
  readonly think: boolean;
}
