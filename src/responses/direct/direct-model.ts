/** The models that direct responses ask, as their opener passes them. */

import type { Item } from "../../protocol/items.ts";
import type { Native } from "../../protocol/native.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelTarget } from "../models/model-target.ts";
import type { ResponseModel } from "../models/response-model.ts";

export interface DirectModel extends Pick<ResponseModel, "provider" | "contextTokens" | "own"> {
  /** True if the model gives its reasoning in a sealed form; undefined if that is not known. */
  readonly sealed: boolean | undefined;
  /** The work that the vendor does itself, as far as the settings leave it to the vendor. */
  readonly native: Native;
  /** Rejects items of a kind that it is known not to take. */
  readonly checkInput: (items: readonly Item[]) => void;
  /** Undefined where its price is not known. */
  readonly costOf: (usage: Usage, deployment?: string) => number | undefined;
}

export interface DirectModels {
  /** The model of a target, if it was opened before. */
  known(target: ModelTarget): DirectModel | undefined;
  /** Rejects with what is missing (`key_missing`) or wrong; sends nothing. */
  open(target: ModelTarget): Promise<DirectModel>;
}
