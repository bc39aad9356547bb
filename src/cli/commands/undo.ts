/**
 * `offshoot undo`: restores files as they were before a run, or after a turn of this folder's last session.
 */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { clip, plural } from "../../base/text.ts";
import { openEngine } from "../../engine/open-engine.ts";
import { toRecordAddress } from "../../runtime/config/store-address.ts";
import type { Sessions } from "../../runtime/sessions/session.ts";
import { createSessions } from "../../runtime/sessions/sessions.ts";
import { openUndo } from "../../runtime/undo/open-undo.ts";
import type { Undo, UndoReport, UndoWish } from "../../runtime/undo/undo.ts";
import { openKept } from "../../store/open-kept.ts";
import type { RunReader } from "../../store/run-reader.ts";
import type { CommandCall, RunCommand } from "../command.ts";
import { findRun } from "../find-run.ts";
import type { Io } from "../io.ts";
import { toNothingUndone } from "../nothing-undone.ts";
import { openConfig } from "../open-config.ts";
import { toOneLine } from "../terminal.ts";

export const run: RunCommand = async (call, io) => {
  const [, extra] = call.words;
  if (extra !== undefined) {
    const message = `\`undo\` takes one run or turn, but got \`${clip(extra, 60)}\` too.`;
    throw new Failure("invalid_request", message);
  }
  const [named] = call.words;
  if (call.options["list"] && named !== undefined) {
    const message = `\`undo --list\` takes no run or turn, but got \`${clip(named, 60)}\`: it lists the runs of this folder's last session.`;
    throw new Failure("invalid_request", message);
  }
  const config = await openConfig({ store: call.options["store"] }, io);
  const kept = await openKept(toRecordAddress(config, io.env));
  const clock = systemClock;
  const engine = await openEngine(kept, { clock });
  try {
    const sessions = createSessions({ shelf: await kept.shelf(), clock, place: engine });
    const undo = openUndo({ engine, sessions, clock, env: io.env });
    const asked = { call, io, undo, sessions, record: await kept.record() };
    return call.options["list"] ? await list(asked) : await undoOne(asked);
  } finally {
    // The engine owns the store, and closes it for both.
    await engine.stop();
  }
};

interface Asked {
  readonly call: CommandCall;
  readonly io: Io;
  readonly undo: Undo;
  readonly sessions: Sessions;
  readonly record: RunReader;
}

async function undoOne(asked: Asked): Promise<number> {
  const { call, io, undo } = asked;
  const wish = await toWish(asked);
  const dryRun = call.options["dry-run"] === true;
  const force = call.options["force"] === true;
  let report = await undo(wish, { dryRun, force });
  const isHindered = report.obstacles.length > 0 && !force;
  if (isHindered && !dryRun && (await isForced(report, io))) {
    report = await undo(wish, { force: true });
  } else if (isHindered && !dryRun) {
    throw toRefusal(report);
  }
  if (call.options["json"]) await io.stdout.write(`${JSON.stringify(report)}\n`);
  else if ("turn" in wish && report.runs.length === 0) {
    await io.stderr.write(`Nothing to undo: there is no turn after turn ${wish.turn}.\n`);
  } else await show(report, { io, dryRun, isLast: call.words.length === 0 });
  return 0;
}

/**
 * Without a name: the last run of this folder's last session. A number is a turn of that session.
 */
async function toWish({ call, io, sessions, record }: Asked): Promise<UndoWish> {
  const [name] = call.words;
  if (name !== undefined && !/^\d+$/.test(name)) return { run: (await findRun(record, name)).id };
  const { id, runs } = await sessions.get("last", { folder: io.cwd });
  if (name !== undefined) return { session: id, turn: Number(name) };
  const last = runs.at(-1);
  if (last !== undefined) return { run: last };
  throw new Failure("not_found", `Session ${id} has no runs yet: there is nothing to undo.`);
}

async function isForced({ obstacles }: UndoReport, io: Io): Promise<boolean> {
  const terminal = io.openTerminal();
  if (!terminal) return false;
  for (const { path, why } of obstacles) terminal.show(toOneLine(`${path} ${why}`).concat("\n"));
  const question = "Restore the files anyway? What cannot be restored stays. [y/N] ";
  const answer = await terminal.ask(question, new AbortController().signal);
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

const MOST_NAMED = 10;

function toRefusal({ obstacles }: UndoReport): Failure {
  const named = obstacles.slice(0, MOST_NAMED).map(({ path, why }) => `${path} ${why}`);
  const more = obstacles.length > MOST_NAMED ? [`${obstacles.length - MOST_NAMED} more`] : [];
  const hint = obstacles.some(({ canForce }) => canForce)
    ? "`--force` restores the files anyway"
    : "`--force` restores the other files";
  const message = `Not undone, and nothing was changed: ${[...named, ...more].join("; ")}. ${hint}.`;
  return new Failure("conflict", message);
}

interface Showing {
  readonly io: Io;
  readonly dryRun: boolean;
  /** True if no run was named, so that an earlier one may be meant. */
  readonly isLast: boolean;
}

async function show(report: UndoReport, { io, dryRun, isLast }: Showing): Promise<void> {
  const { files, obstacles, unseen, undo, root, runs } = report;
  for (const call of unseen) {
    await io.stderr.write(toLine(`May have changed files that are not restored: ${call}`));
  }
  if (files.length === 0 && obstacles.length === 0) {
    await io.stderr.write(toLine(toNothingUndone(report)));
    if (isLast) await io.stderr.write("Earlier runs of the session: offshoot undo --list\n");
    return;
  }
  for (const { path, change } of files) await io.stdout.write(toLine(`${change}  ${path}`));
  for (const { path, why, canForce } of obstacles) {
    // If it was forced, the others are among the files.
    if (!dryRun && canForce) continue;
    await io.stderr.write(toLine(`${dryRun ? "in the way" : "left alone"}: ${path} ${why}`));
  }
  const what = dryRun ? "Would be undone" : "Undone";
  await io.stderr.write(
    toLine(`${what}: ${plural(files.length, "file")} in ${root} (${runs.join(", ")})`),
  );
  if (undo !== null) await io.stderr.write(toLine(`To undo this: offshoot undo ${undo}`));
}

async function list({ call, io, undo, sessions, record }: Asked): Promise<number> {
  const { runs } = await sessions.get("last", { folder: io.cwd });
  const reports = [];
  for (const id of runs) {
    const report = await undo({ run: id }, { dryRun: true });
    reports.push({ ...report, title: (await record.getRun(id))?.title ?? "" });
  }
  if (call.options["json"]) {
    await io.stdout.write(`${JSON.stringify(reports)}\n`);
    return 0;
  }
  for (const {
    runs: [id = ""],
    files,
    obstacles,
    title,
  } of reports) {
    const hindered = obstacles.length > 0 ? `, ${obstacles.length} in the way` : "";
    await io.stdout.write(toLine(`${id}  ${plural(files.length, "file")}${hindered}  ${title}`));
  }
  if (reports.length === 0) await io.stderr.write("There is nothing to undo yet.\n");
  return 0;
}

function toLine(text: string): string {
  return `${toOneLine(text)}\n`;
}
