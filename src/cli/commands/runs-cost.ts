/**
 * `offshoot runs cost [ID] --by agent|run|model|tool|user`: shows where tokens, money and time went.
 */

import { Failure } from "../../base/failure.ts";
import { COST_KEYS, type CostKey, readCosts } from "../../delegation/ledger/costs.ts";
import type { RecordReader } from "../../engine/engine.ts";
import { renderCosts } from "../output/cost-table.ts";
import type { RecordCall } from "../output/show-tree.ts";

/** For one tree, or for the trees of the newest runs if `id` is undefined. */
export async function showCost(
  record: RecordReader,
  id: string | undefined,
  { call, io, limit }: Omit<RecordCall, "clock"> & { readonly limit: number },
): Promise<void> {
  const by = readKey(call.options["by"]);
  const ids = id === undefined ? await newestRoots(record, limit) : [id];
  const rows = await readCosts(record, ids, by);
  if (call.options["json"]) {
    await io.stdout.write(`${JSON.stringify({ by, runs: ids, rows })}\n`);
    return;
  }
  if (rows.length === 0) await io.stderr.write("Nothing was called.\n");
  else await io.stdout.write(renderCosts(by, rows));
}

function readKey(given: unknown): CostKey {
  const key = given ?? "agent";
  if (typeof key === "string" && Object.hasOwn(COST_KEYS, key)) return key as CostKey;
  const known = Object.keys(COST_KEYS).join(", ");
  throw new Failure("invalid_request", `--by takes one of ${known}, not \`${String(given)}\`.`);
}

async function newestRoots(record: RecordReader, limit: number): Promise<string[]> {
  return (await record.listRuns({ limit, parent_id: null })).map(({ id }) => id);
}
