/**
 * `offshoot sessions`: lists, shows, renames, exports and deletes sessions, by the folder in which they were used.
 */

import { resolve } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { clip, plural } from "../../base/text.ts";
import { openEngine } from "../../engine/open-engine.ts";
import { toRecordAddress } from "../../runtime/config/store-address.ts";
import type { SessionSummary, Sessions } from "../../runtime/sessions/session.ts";
import { createSessions } from "../../runtime/sessions/sessions.ts";
import { openKept } from "../../store/open-kept.ts";
import type { CommandCall, Options, RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { cleanForTerminal, toOneLine } from "../terminal.ts";
import { DAY_MS, readDayMs } from "./read-day.ts";

export const run: RunCommand = async (call, io) => {
  const [subcommand = "list", ...words] = call.words;
  const action = ACTIONS[subcommand] ?? list;
  checkWords(subcommand, words);
  const config = await openConfig({ store: call.options["store"] }, io);
  const kept = await openKept(toRecordAddress(config, io.env));
  const clock = systemClock;
  const engine = await openEngine(kept, { clock });
  try {
    const sessions = createSessions({ shelf: await kept.shelf(), clock, place: engine });
    await action({ sessions, call, io, clock });
    return 0;
  } finally {
    // The engine owns the store, and closes it for both.
    await engine.stop();
  }
};

interface Asked {
  readonly sessions: Sessions;
  readonly call: CommandCall;
  readonly io: Io;
  readonly clock: Clock;
}

const ACTIONS: Readonly<Record<string, ((asked: Asked) => Promise<void>) | undefined>> = {
  list,
  show,
  rename,
  export: exportSession,
  delete: remove,
};

/** The most words of each subcommand: the session, and a title. */
const MOST_WORDS: Readonly<Record<string, number>> = { list: 0, rename: 2 };

function checkWords(subcommand: string, words: readonly string[]): void {
  const most = MOST_WORDS[subcommand] ?? 1;
  const extra = words[most];
  if (extra !== undefined) {
    const message = `\`sessions ${subcommand}\` takes ${plural(most, "word")}, but got \`${clip(extra, 60)}\` too.`;
    throw new Failure("invalid_request", message);
  }
  if (words.length === most) return;
  const what = words.length === 0 ? "the id of a session, or `last`" : "a title";
  const message = `\`sessions ${subcommand}\` needs ${what}; \`offshoot sessions list\` has the ids.`;
  throw new Failure("invalid_request", message);
}

async function list({ sessions, call, io, clock }: Asked): Promise<void> {
  const { options } = call;
  const { folder, search } = options;
  const day = options["day"] === undefined ? undefined : readDayMs(options["day"], clock.now());
  const found = await sessions.list({
    folder: typeof folder === "string" ? resolve(io.cwd, folder) : undefined,
    text: typeof search === "string" ? search : undefined,
    sinceMs: day,
    untilMs: day === undefined ? undefined : day + DAY_MS,
    limit: toLimit(options),
  });
  if (options["json"]) {
    await io.stdout.write(`${JSON.stringify(found)}\n`);
    return;
  }
  if (found.length === 0) {
    await io.stderr.write('No sessions here. Start one: offshoot run "…"\n');
  }
  for (const { id, used_at_ms, runs, title, folder: where } of found) {
    const line = `${id}  ${toWhen(used_at_ms)}  ${String(runs.length).padStart(3)}  ${title}  (${where ?? "server"})`;
    await io.stdout.write(`${toOneLine(line)}\n`);
  }
}

function toLimit({ limit }: Options): number | undefined {
  if (limit === undefined) return undefined;
  const count = Number(limit);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Failure("invalid_request", `--limit takes a whole number above 0, not \`${limit}\`.`);
}

function toWhen(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

async function find({ sessions, call, io }: Asked): Promise<SessionSummary> {
  return await sessions.get(call.words[1] ?? "", { folder: io.cwd });
}

async function show(asked: Asked): Promise<void> {
  const { sessions, call, io } = asked;
  const summary = await find(asked);
  const turns = await sessions.turns(summary.id);
  if (call.options["json"]) {
    await io.stdout.write(`${JSON.stringify({ ...summary, turns })}\n`);
    return;
  }
  const { forked_from: from } = summary;
  const rows: readonly (readonly [string, string])[] = [
    ["session", summary.id],
    ["title", summary.title],
    ["folder", summary.folder ?? "none: a client of a server began it"],
    ["used", toWhen(summary.used_at_ms)],
    ...(from ? [["fork", `of ${from.session} at turn ${from.turn}`] as const] : []),
    ["runs", summary.runs.join(", ")],
  ];
  for (const [key, value] of rows) {
    await io.stdout.write(`${key.padEnd(7)}  ${toOneLine(value)}\n`);
  }
  for (const { turn, prompt, text, calls } of turns) {
    if (prompt !== null) await io.stdout.write(`\n     > ${toOneLine(clip(prompt, 200))}\n`);
    const called = calls.length === 0 ? "" : `[${calls.join(", ")}] `;
    const line = toOneLine(clip(`${called}${text}`, 200));
    await io.stdout.write(`${String(turn).padStart(4)} ${line}\n`);
  }
}

async function rename(asked: Asked): Promise<void> {
  const { id } = await find(asked);
  await asked.sessions.rename(id, asked.call.words[2] ?? "");
  await asked.io.stderr.write(`renamed ${id}\n`);
}

async function remove(asked: Asked): Promise<void> {
  const { id } = await find(asked);
  await asked.sessions.delete(id);
  await asked.io.stderr.write(`deleted ${id}\n`);
}

async function exportSession(asked: Asked): Promise<void> {
  const { sessions, call, io } = asked;
  const summary = await find(asked);
  const items = await sessions.items(summary.id);
  const { renderItems } = await import("../output/session-text.ts");
  for (const piece of renderItems(summary, items, call.options["format"] === "jsonl")) {
    await io.stdout.write(io.stdout.isTerminal ? cleanForTerminal(piece) : piece);
  }
}
