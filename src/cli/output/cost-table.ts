/** The costs of runs as a table: a row for each agent, run, model, tool or user. Pure. */

import { clip, withThousands } from "../../base/text.ts";
import type { CostKey, CostRow } from "../../delegation/ledger/costs.ts";
import { cleanForTerminal } from "../terminal.ts";
import { toPartialMoney, toSeconds } from "./amounts.ts";

export function renderCosts(by: CostKey, rows: readonly CostRow[]): string {
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
