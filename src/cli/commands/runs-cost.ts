/**
 * `offshoot runs cost [ID] --by agent|run|model|tool|user`: shows where tokens, money and time went.
 */

import { Failure } from "../../base/failure.ts";
import { clip, withThousands } from "../../base/text.ts";
import { COST_KEYS, type CostKey, type CostRow, readCosts } from "../../delegation/ledger/costs.ts";
import type { RecordReader } from "../../engine/engine.ts";
import { toPartialMoney, toSeconds } from "../output/amounts.ts";
import { cleanForTerminal } from "../terminal.ts";
import type { RecordCall } from "./runs-tree.ts";

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
  else await io.stdout.write(renderRows(by, rows));
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

export function renderRows(by: CostKey, rows: readonly CostRow[]): string {
  const head = by === "tool" ? TOOL_HEAD : HEAD;
  const table = [[by, ...head], ...rows.map((row) => [toShown(row.key), ...toCells(by, row)])];
  const widths = table[0]?.map((_, at) =>
    Math.max(...table.map((cells) => cells[at]?.length ?? 0)),
  );
  const lines = table.map((cells) =>
    cells
      .map((cell, at) =>
        at === 0 ? cell.padEnd(widths?.[at] ?? 0) : cell.padStart(widths?.[at] ?? 0),
      )
      .join("  "),
  );
  return `${lines.join("\n")}\n`;
}

const HEAD = ["calls", "failed", "input", "cached", "output", "time", "cost"];
const TOOL_HEAD = ["calls", "failed", "time"];

function toCells(by: CostKey, row: CostRow): string[] {
  const calls = [row.calls, row.failed].map(withThousands);
  const time = toSeconds(row.seconds * 1000);
  if (by === "tool") return [...calls, time];
  const tokens = [row.input_tokens, row.cached_tokens, row.output_tokens];
  const used = tokens.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const money = toPartialMoney(row.known_usd ?? 0, row.unknown_calls, used);
  return [...calls, ...tokens.map((count) => withThousands(count ?? 0)), time, money];
}

function toShown(text: string): string {
  return clip(cleanForTerminal(text), 40);
}
