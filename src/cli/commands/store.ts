/** `offshoot store`: checks, backs up, shrinks and moves the record of runs. */

import { resolve } from "node:path";
import { Failure } from "../../base/failure.ts";
import { plural } from "../../base/text.ts";
import { toDbosPlace } from "../../engine/engines.ts";
import { withoutPassword } from "../../runtime/config/address-text.ts";
import { toRecordAddress } from "../../runtime/config/store-address.ts";
import type { Maintenance, VectorReport } from "../../store/kept.ts";
import { isPostgres, openKept } from "../../store/open-kept.ts";
import type { RunCommand } from "../command.ts";
import { openConfig } from "../open-config.ts";
import { cleanForTerminal } from "../terminal.ts";
import { type Copying, copyStore } from "./store-copy.ts";

export const run: RunCommand = async ({ words, options }, io) => {
  const [action = "", ...names] = words;
  const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (act && names.length < act.words.length) {
    throw new Failure("invalid_request", `\`store ${action}\` needs a file name.`);
  }
  if (!act || names.length !== act.words.length) {
    const lines = Object.entries(ACTIONS).map(([name, row]) => [name, ...row.words].join(" "));
    throw new Failure("invalid_request", `Write \`offshoot store ${lines.join(" | ")}\`.`);
  }
  const config = await openConfig({ store: options["store"] }, io);
  const address = toRecordAddress(config, io.env);
  const kept = await openKept(address);
  const { maintenance } = kept;
  try {
    const path = withoutPassword(address);
    const record = { path, maintenance, cwd: io.cwd, io, config, to: options["to"] };
    const { exit = 0, line, facts } = await act.run(record, names[0] ?? "");
    const shown = options["json"] ? JSON.stringify(facts) : cleanForTerminal(line);
    await io.stdout.write(`${shown}\n`);
    return exit;
  } finally {
    await kept.close();
  }
};

interface Done {
  readonly exit?: number;
  readonly line: string;
  readonly facts: object;
}

interface ActionRow {
  /** The words after the subcommand. */
  readonly words: readonly string[];
  run(record: Looked, name: string): Promise<Done>;
}

interface Looked extends Copying {
  readonly path: string;
  readonly maintenance: Maintenance;
  readonly cwd: string;
}

const ACTIONS: Readonly<Record<string, ActionRow>> = {
  check: { words: [], run: check },
  backup: { words: ["FILE"], run: backUp },
  vacuum: { words: [], run: vacuum },
  migrate: { words: [], run: migrate },
  copy: { words: [], run: copyStore },
};

async function check({ path, maintenance }: Looked): Promise<Done> {
  const found = await maintenance.check();
  const { problems, more_problems, runs, bytes, free_bytes } = found;
  const facts = { path, ok: problems.length === 0, ...found };
  if (problems.length > 0) {
    const more = more_problems > 0 ? [`and ${more_problems} more`] : [];
    const lines = [...problems, ...more].map((problem) => `  ${problem}`);
    const advice = isPostgres(path)
      ? "Restore a backup, or use another database."
      : "Restore a backup, or move the file away.";
    return { exit: 1, line: [`${path} is damaged:`, ...lines, advice].join("\n"), facts };
  }
  const line = `ok: ${path} has ${plural(runs, "run")} in ${toSize(bytes)}, ${toSize(free_bytes)} of it free`;
  return { line: [line, ...toVectorLines(found.vectors)].join("\n"), facts };
}

function toVectorLines(vectors: VectorReport | undefined): string[] {
  if (!vectors) return [];
  const where = vectors.search === "pgvector" ? "by the database" : "in the memory of each process";
  return [`Vectors are searched ${where} (${vectors.detail})`];
}

async function backUp({ path, maintenance, cwd }: Looked, name: string): Promise<Done> {
  const target = resolve(cwd, name);
  const bytes = await maintenance.backUp(target);
  return {
    line: `${target} is a copy of ${path}, ${toSize(bytes)}`,
    facts: { path, target, bytes },
  };
}

async function vacuum({ path, maintenance }: Looked): Promise<Done> {
  const { before, after } = await maintenance.vacuum();
  const line = `${path} has ${toSize(after)} now, ${toSize(before)} before`;
  return { line, facts: { path, bytes: after, bytes_before: before } };
}

async function migrate({ path, maintenance, config, io }: Looked): Promise<Done> {
  const dbos = toDbosPlace(config.get("engine"), toRecordAddress(config, io.env));
  const { from, to, vectors } = await maintenance.migrate();
  if (dbos) {
    const { setUpDbos } = await import("../../engine/dbos/set-up-dbos.ts");
    await setUpDbos(dbos.address);
  }
  const line =
    from === to
      ? `${path} has the tables of this version already (${to})`
      : `${path} has the tables of this version now (version ${to}, before: ${from})`;
  const facts = { path, version: to, version_before: from, vectors };
  return { line: [line, ...toVectorLines(vectors)].join("\n"), facts };
}

function toSize(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
