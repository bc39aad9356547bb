/**
 * `offshoot store copy`: moves a SQLite record to Postgres, and shows its progress on a terminal.
 */

import { plural } from "../../base/text.ts";
import { withoutPassword } from "../../runtime/config/address-text.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toCopyTarget } from "../../runtime/config/store-address.ts";
import { readSealThing } from "../../server/running/seal-key.ts";
import {
  type ComparedTable,
  type CopyBegin,
  type CopyProgress,
  isSameTable,
} from "../../store/copy/store-copy.ts";
import type { Maintenance } from "../../store/kept.ts";
import type { Options } from "../command.ts";
import type { Io } from "../io.ts";
import { canRedraw, draw } from "../terminal.ts";

export interface Copying {
  /** The path for people. */
  readonly path: string;
  readonly maintenance: Maintenance;
  readonly config: Config;
  /** The value of `--to`. */
  readonly to: Options[string];
  readonly io: Io;
}

export async function copyStore({ path, maintenance, config, to, io }: Copying): Promise<{
  readonly exit: number;
  readonly line: string;
  readonly facts: object;
}> {
  const target = toCopyTarget(typeof to === "string" ? to : undefined, io.env);
  const seal = await readSealThing(config.paths.dataDir);
  const meter = createMeter(io);
  try {
    const { isSame, tables } = await maintenance.copyTo(target, {
      things: seal ? [seal] : [],
      onBegin: meter.begin,
      onProgress: meter.show,
    });
    meter.end();
    const names = { path, target: withoutPassword(target) };
    const facts = { ...names, ok: isSame, seal_key: seal !== undefined, tables };
    const line = [...toTable(tables), isSame ? toDone(names, tables) : toDifferent(tables)];
    return { exit: isSame ? 0 : 1, line: line.join("\n"), facts };
  } finally {
    meter.end();
  }
}

const BEGUN: Readonly<Record<CopyBegin, string | undefined>> = {
  new: undefined,
  resumed: "The copy continues where it was interrupted.",
  restarted: "The record has changed since the copy was interrupted: the copy starts again.",
};

/** A line that is overwritten on a terminal, and is not shown elsewhere. */
function createMeter({ stderr }: Io): {
  begin(begun: CopyBegin): void;
  show(progress: CopyProgress): void;
  end(): void;
} {
  let shown = "";
  return {
    begin(begun) {
      if (BEGUN[begun] !== undefined) void stderr.write(`${BEGUN[begun]}\n`);
    },
    show({ phase, table, rows, totalRows }) {
      if (!canRedraw(stderr)) return;
      const percent = totalRows === 0 ? 100 : Math.floor((rows / totalRows) * 100);
      const line = `${phase} ${table}: ${percent}% of ${plural(totalRows, "row")}`;
      if (line === shown) return;
      shown = line;
      void draw(stderr, `\r\x1b[K${line}`);
    },
    end() {
      if (shown !== "") void stderr.write("\n");
      shown = "";
    },
  };
}

/** Digits of a hash that are shown: enough to see that two are equal. `--json` has all. */
const SHOWN_DIGITS = 16;

function toTable(tables: readonly ComparedTable[]): string[] {
  const head = ["table", "rows", "rows copied", "sha256", "sha256 of the copy"];
  const rows = tables.map(({ name, source, copy }) => [
    ...[name, String(source.rows), String(copy.rows)],
    ...[source.sha256.slice(0, SHOWN_DIGITS), copy.sha256.slice(0, SHOWN_DIGITS)],
  ]);
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => (row[at] ?? "").length)));
  const isNumber = (at: number): boolean => at === 1 || at === 2;
  return all.map((row) =>
    row
      .map((cell, at) =>
        isNumber(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

function toDone(
  { path, target }: { readonly path: string; readonly target: string },
  tables: readonly ComparedTable[],
): string {
  const rows = tables.reduce((sum, { copy }) => sum + copy.rows, 0);
  return `ok: ${target} is a copy of ${path}, ${plural(rows, "row")}. Set \`OFFSHOOT_STORE\` to use it.`;
}

function toDifferent(tables: readonly ComparedTable[]): string {
  const names = tables.filter((table) => !isSameTable(table)).map(({ name }) => name);
  return `The copy differs in ${names.join(", ")}, and cannot be used. Make sure that no other program writes to the database, and run the command again: it starts from the beginning.`;
}
