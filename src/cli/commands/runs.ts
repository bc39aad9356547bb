/** `offshoot runs`: the record of runs, all of it read from their logs. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import { toAbandoned, toEnded, toNewerJournal } from "../../engine/ending.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { INDEX_BODY } from "../../responses/vector-stores/index-runs.ts";
import type { Config } from "../../runtime/config/config.ts";
import type { Run } from "../../runtime/runtime.ts";
import { JOURNAL_VERSION } from "../../store/journal-version.ts";
import type { RunReader } from "../../store/run-reader.ts";
import { createAskOnTerminal } from "../ask-on-terminal.ts";
import type { CommandCall, RunCommand } from "../command.ts";
import { readDenials, renderDenial } from "../denials.ts";
import { findNode, findRun } from "../find-run.ts";
import type { Io } from "../io.ts";
import { openAgain } from "../open-again.ts";
import { openConfig } from "../open-config.ts";
import { type OpenedRecord, openRecord } from "../open-record.ts";
import { createLiveBlock } from "../output/live-block.ts";
import { type OutputFormatName, openProjection } from "../output/output.ts";
import { skipCutTurns } from "../output/skip-cut-turns.ts";
import { createStateOf, isServers, type RunState } from "../run-state.ts";
import { isStructured, showRun } from "../show-run.ts";
import { cleanForTerminal, toOneLine } from "../terminal.ts";
import { createTreeControls } from "../tree-controls.ts";

export const run: RunCommand = async (call, io) => {
  const [subcommand = "list", id] = call.words;
  checkWords(subcommand, call.words.slice(1));
  if (subcommand === "approve" || subcommand === "deny") {
    (await import("./runs-approve.ts")).refuseTools(io);
  }
  const config = await openConfig({ store: call.options["store"] }, io);
  if (subcommand === "cost" && (await showKeyCost(call, { config, io }))) return 0;
  if (subcommand === "resume") return resume(requireId(subcommand, id), call, { config, io });
  if (subcommand === "replay") {
    const { readChange, replay } = await import("./runs-replay.ts");
    const asked = readChange(call.options);
    let change = asked;
    const stored = await lookUp({ config, io }, requireId(subcommand, id), async ({ record }) => {
      change = asked && { ...asked, node: await findNode(record, asked.node) };
    });
    return replay(stored, { change, call, config, io });
  }
  const opened = await openRecord(config, io);
  try {
    return (await onRecord(subcommand, opened, { call, config, io })) ?? 0;
  } finally {
    await opened.close();
  }
};

interface Asked {
  readonly call: CommandCall;
  readonly config: Config;
  readonly io: Io;
}

/** Subcommands that need only the record. Resolves with the exit code if it is not 0. */
async function onRecord(
  subcommand: string,
  opened: OpenedRecord,
  asked: Asked,
): Promise<number | undefined> {
  const { call, io } = asked;
  if (subcommand === "list") await list(opened, call, io);
  else if (subcommand === "waiting") await showWaiting(opened, asked);
  else if (subcommand === "cost") await showCosts(opened.record, asked);
  else {
    const stored = await findRun(opened.record, requireId(subcommand, call.words[1]));
    return await onRun(subcommand, stored, { ...asked, opened });
  }
  return undefined;
}

async function onRun(
  subcommand: string,
  stored: RunRecord,
  { opened, ...asked }: Asked & { readonly opened: OpenedRecord },
): Promise<number | undefined> {
  const { call, io } = asked;
  const { record, engine } = opened;
  switch (subcommand) {
    case "show": {
      const { show } = await import("./runs-show.ts");
      await show(opened, stored, asked);
      break;
    }
    case "why-denied":
      await whyDenied(record, stored, asked);
      break;
    case "tree": {
      const { showTree } = await import("../output/show-tree.ts");
      await showTree(record, stored.id, { call, io, stateOf: createStateOf(engine) });
      break;
    }
    case "events": {
      const { showEvents } = await import("./runs-events.ts");
      await showEvents(record, stored.id, asked);
      break;
    }
    case "export": {
      const { exportRun } = await import("./runs-export.ts");
      await exportRun(record, stored.id, asked);
      break;
    }
    case "steer": {
      const { steer } = await import("./runs-steer.ts");
      await steer(opened, stored, { words: call.words.slice(2), io });
      break;
    }
    case "approve":
    case "deny": {
      const { answer } = await import("./runs-approve.ts");
      await answer(subcommand, { record, engine, stored, ...asked });
      break;
    }
    case "follow": {
      const { follow } = await import("./runs-follow.ts");
      return await follow(opened, stored, asked);
    }
    default:
      await remove(opened, stored, asked);
  }
  return undefined;
}

async function showWaiting(opened: OpenedRecord, asked: Asked): Promise<void> {
  const { showQuestions } = await import("./runs-approve.ts");
  await showQuestions(opened, asked);
}

async function showCosts(record: RunReader, { call, io }: Asked): Promise<void> {
  const { showCost } = await import("./runs-cost.ts");
  const [, id] = call.words;
  const stored = id === undefined ? undefined : await findRun(record, id);
  await showCost(record, stored?.id, { call, io, limit: toLimit(call.options["limit"]) });
}

/** The use of keys is in no run's log. False if the costs are grouped by anything else. */
async function showKeyCost(
  call: CommandCall,
  { config, io }: { config: Config; io: Io },
): Promise<boolean> {
  const { by } = call.options;
  const { isKeyCost, showKeyCosts } = await import("./runs-cost-keys.ts");
  if (!isKeyCost(by)) {
    if (call.options["day"] === undefined) return false;
    throw new Failure("invalid_request", "`--day` goes with `--by key` or `--by tenant`.");
  }
  await showKeyCosts(by, call, { config, io });
  return true;
}

/** The most words of a subcommand; most take the id of a run. */
const MOST_WORDS: Readonly<Record<string, number>> = { list: 0, waiting: 0, approve: 2, deny: 3 };

/** One run at a time: a second id would be ignored in silence. */
function checkWords(subcommand: string, words: readonly string[]): void {
  // All words after the id are the message.
  if (subcommand === "steer") return;
  const most = MOST_WORDS[subcommand] ?? 1;
  const extra = words[most];
  if (extra === undefined) return;
  const takes = ["no words", "one id", "one id and one call", "one id, one call and one reason"][
    most
  ];
  const message = `\`runs ${subcommand}\` takes ${takes}, but got \`${clip(extra, 60)}\` too.`;
  throw new Failure("invalid_request", message);
}

function requireId(subcommand: string, id: string | undefined): string {
  if (id) return id;
  const message = `\`runs ${subcommand}\` needs the id of a run, or \`last\`; \`offshoot runs list\` has the ids.`;
  throw new Failure("invalid_request", message);
}

async function list(
  { record, engine }: OpenedRecord,
  { options }: CommandCall,
  io: Io,
): Promise<void> {
  // Runs that a server starts for files are not prompts of a person.
  const some = options["all"] ? {} : { parent_id: null, without: INDEX_BODY };
  const runs = await record.listRuns({ limit: toLimit(options["limit"]), ...some });
  const stateOf = createStateOf(engine);
  const rows = await Promise.all(runs.map(async (stored) => toRow(stored, await stateOf(stored))));
  if (options["json"]) {
    await io.stdout.write(`${JSON.stringify(rows)}\n`);
    return;
  }
  if (runs.length === 0) await io.stderr.write('No runs yet. Start one: offshoot run "…"\n');
  const lines = rows.map(
    ({ id, when, state, title }) => `${id}  ${when}  ${state.padEnd(11)}  ${toOneLine(title)}\n`,
  );
  await io.stdout.write(lines.join(""));
}

function toLimit(value: unknown): number {
  if (value === undefined) return 20;
  const limit = Number(value);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new Failure("invalid_request", `--limit takes a whole number above 0, not \`${value}\`.`);
}

interface Row {
  readonly id: string;
  readonly when: string;
  readonly state: RunState;
  readonly title: string;
}

function toRow(stored: RunRecord, state: RunState): Row {
  const when = new Date(stored.created_at_ms).toISOString().slice(0, 19).replace("T", " ");
  return { id: stored.id, when, state, title: stored.title };
}

/**
 * Prints every refused call of a run and of the runs below it, from their logs: the call, who decided, by which rule,
 * and where that rule is.
 */
async function whyDenied(record: RunReader, stored: RunRecord, { call, io }: Asked): Promise<void> {
  const denials = await readDenials(record, stored.id);
  if (call.options["json"]) {
    await io.stdout.write(`${JSON.stringify(denials)}\n`);
    return;
  }
  if (denials.length === 0) {
    await io.stderr.write(`No tool call of ${stored.id}, or of a run below it, was denied.\n`);
  }
  await io.stdout.write(cleanForTerminal(denials.map(renderDenial).join("")));
}

/** `delete` or `cancel`. */
async function remove(
  opened: OpenedRecord,
  stored: RunRecord,
  { call, config, io }: Asked,
): Promise<void> {
  const { cancelRun, deleteRun } = await import("./runs-delete.ts");
  if (call.words[0] === "delete") {
    await deleteRun(opened, stored, { force: call.options["force"] === true });
    await io.stderr.write(`deleted ${stored.id}\n`);
    return;
  }
  if (stored.status === "ended") throw toEnded(stored);
  const state = await createStateOf(opened.engine)(stored);
  if (state === "newer") throw toNewerJournal(stored, JOURNAL_VERSION);
  if (state !== "interrupted") await cancelRun(opened, stored);
  else if (isServers(stored)) throw toServers(stored, state);
  else await cancelInterrupted(stored, config, io);
  const { ending } = (await opened.engine.status(stored.id)) ?? stored;
  if (ending === null) throw toAbandoned(stored.id);
  const next = stored.parent_id === null ? "" : `; ${stored.parent_id} continues without it`;
  await io.stderr.write(`${stored.id} has ended: ${ending}${next}\n`);
}

/** The run's own body ends it, so that its ending includes what it has used. Nothing is sent. */
async function cancelInterrupted(stored: RunRecord, config: Config, io: Io): Promise<void> {
  const runtime = await openAgain(stored, config, io);
  try {
    await runtime.engine.cancel(stored.id, { tree: true });
    await runtime.engine.ended(stored.id);
  } finally {
    await runtime.close();
  }
}

/** A run that a server began needs the server's settings, keys and budgets. */
function toServers({ id, name }: RunRecord, state: RunState): Failure {
  const what = `Run ${id} is a server's ${name}`;
  if (state === "running") return new Failure("conflict", `${what}, and is running.`);
  return new Failure("conflict", `${what}: start \`offshoot serve\` to continue it.`);
}

async function resume(
  given: string,
  { options }: CommandCall,
  { config, io }: { config: Config; io: Io },
): Promise<number> {
  const stored = await lookUp({ config, io }, given, requireOwn);
  const live = createLiveBlock(io.stderr);
  const asking = createAskOnTerminal(io, live);
  const runtime = await openAgain(stored, config, { ...io, ask: asking?.ask });
  try {
    const resumed = await runtime.resume(stored.id);
    const format = (options["output"] ?? "text") as OutputFormatName;
    const opening = openProjection(format, {
      ...io,
      brief: config.get("brief"),
      quiet: config.get("quiet"),
      isStructured: isStructured(stored),
      doneMarker: false,
      live,
      controls: createTreeControls(runtime.engine),
    });
    // The log's own form shows everything, also work that a takeover abandoned.
    const firstLive = format === "jsonl" ? 0 : stored.next_seq;
    const projection = opening.then((opened) => skipCutTurns(opened, firstLive));
    const follow: Run["follow"] = (signal) => followTree(runtime.engine, resumed.id, { signal });
    const tree = { ...resumed, follow };
    const isRecorded = !config.get("quiet");
    return await showRun(tree, projection, { ...io, quiet: asking?.quiet, live, isRecorded });
  } finally {
    await runtime.close();
  }
}

/** Refuses runs that another command or program continues. */
async function requireOwn({ engine }: OpenedRecord, stored: RunRecord): Promise<void> {
  if (stored.status === "ended") return refuseAtLimit(stored);
  if (!isServers(stored)) return;
  throw toServers(stored, await createStateOf(engine)(stored));
}

/** A run that ended at a limit stays ended; another run continues its conversation. */
function refuseAtLimit({ id, ending, parent_id }: RunRecord): void {
  if (parent_id !== null || (ending !== "budget" && ending !== "max_turns")) return;
  const message = `Run ${id} has ended at a limit (${ending}). To continue its conversation: offshoot run --session ${id} "continue"`;
  throw new Failure("conflict", message);
}

async function lookUp(
  { config, io }: Pick<Asked, "config" | "io">,
  id: string,
  check: (opened: OpenedRecord, stored: RunRecord) => Promise<void> = async () => {},
): Promise<RunRecord> {
  const opened = await openRecord(config, io);
  try {
    const stored = await findRun(opened.record, id);
    await check(opened, stored);
    return stored;
  } finally {
    await opened.close();
  }
}
