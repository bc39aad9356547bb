/**
 * The model that a session asked before. A session may change its model with every run, and a run without `-m` takes
 * the usual one, so the user is told where this is not the model of the last answer.
 */

import { isJsonObject } from "../base/json.ts";
import type { RecordReader } from "../engine/engine.ts";

/** Undefined if the run asked this model too, or is not in the record. */
export async function readEarlierModel(
  record: Pick<RecordReader, "getRun">,
  run: string | undefined,
  model: string,
): Promise<string | undefined> {
  const { input } = (run === undefined ? undefined : await record.getRun(run)) ?? {};
  const before = isJsonObject(input) ? input["model"] : undefined;
  return typeof before === "string" && before !== model ? before : undefined;
}
