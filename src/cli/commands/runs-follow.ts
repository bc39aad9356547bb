/**
 * `offshoot runs follow`: shows a tree that another process runs, as `run` would, with the same keys. Ctrl-C leaves
 * the run as it is.
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { followTree } from "../../delegation/ledger/follow-tree.ts";
import type { Engine } from "../../engine/engine.ts";
import { ENDINGS } from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toRun } from "../../runtime/run-handle.ts";
import type { RunReader } from "../../store/run-reader.ts";
import type { CommandCall, Options } from "../command.ts";
import type { Io } from "../io.ts";
import type { OpenedRecord } from "../open-record.ts";
import { createLiveBlock } from "../output/live-block.ts";
import { type OutputFormatName, openProjection } from "../output/output.ts";
import type { Projection } from "../output/projection.ts";
import { readMarks, skipPast } from "../output/skip-past.ts";
import { createStateOf, isServers } from "../run-state.ts";
import { isStructured, showEnd } from "../show-run.ts";
import { createTreeControls } from "../tree-controls.ts";

interface Following {
  readonly call: CommandCall;
  readonly config: Config;
  readonly io: Io;
  readonly clock?: Clock;
}

/**
 * Resolves with the run's own exit code, or with that of an interrupted command if the run still works.
 */
export async function follow(
  { record, engine }: Pick<OpenedRecord, "record" | "engine">,
  stored: RunRecord,
  { call, config, io, clock = systemClock }: Following,
): Promise<number> {
  const leaving = new AbortController();
  const stopListening = io.onInterrupt(() => leaving.abort(DETACHED));
  try {
    const opening = open(record, stored, { call, config, io, engine });
    return await show(engine, stored, { opening, io, clock, leaving });
  } catch (thrown) {
    if (leaving.signal.reason !== DETACHED) throw thrown;
    await io.stderr.write(`\noffshoot: left ${stored.id}, which continues\n`);
    return ENDINGS.cancelled.exit;
  } finally {
    stopListening();
  }
}

const DETACHED = new Failure("cancelled", "The run is not followed any longer.");

async function open(
  record: RunReader,
  stored: RunRecord,
  { call: { options }, config, io, engine }: Following & { readonly engine: Engine },
): Promise<Projection> {
  const format = toFormat(options, config);
  const shown = {
    brief: config.get("brief"),
    quiet: config.get("quiet"),
    isStructured: isStructured(stored),
    doneMarker: config.get("done_marker"),
    live: createLiveBlock(io.stderr),
    controls: createTreeControls(engine),
  };
  if (!options["from-now"]) return await openProjection(format, { ...io, ...shown });
  const marks = await readMarks(record, stored.id);
  // Before the first event, only this line shows that it follows.
  if (!shown.quiet) await io.stderr.write(`following ${stored.id} from now on\n`);
  return await skipPast(marks, io, (streams) => openProjection(format, { ...streams, ...shown }));
}

function toFormat({ output, sse }: Options, config: Config): OutputFormatName {
  if (sse && output !== undefined && output !== "sse") {
    throw new Failure("invalid_request", `Give either --sse or -o ${output}, not both.`);
  }
  return sse ? "sse" : ((output ?? config.get("output")) as OutputFormatName);
}

interface Showing {
  readonly opening: Promise<Projection>;
  readonly io: Io;
  readonly clock: Clock;
  readonly leaving: AbortController;
}

async function show(engine: Engine, { id }: RunRecord, showing: Showing): Promise<number> {
  const { io, clock, leaving } = showing;
  const over = new AbortController();
  // If the record fails, following it fails too and reports it.
  watchOwner(engine, id, { clock, over: over.signal, leaving }).catch(() => {});
  let projection: Projection | undefined;
  try {
    projection = await showing.opening;
    for await (const batch of followTree(engine, id, { signal: leaving.signal, clock })) {
      await projection.write(batch);
    }
    return await showEnd(await toRun(engine, id).result(), projection, io);
  } finally {
    over.abort();
    projection?.close?.();
  }
}

/**
 * How often to ask for the run's owner, and how many times it may have none: a server's run is soon taken over.
 */
const LOOK_MS = 1000;
const MAX_ALONE = { own: 2, servers: 30 };

interface Watch {
  readonly clock: Clock;
  readonly over: AbortSignal;
  readonly leaving: AbortController;
}

/** Without this check, a run whose process was killed would be waited for forever. */
async function watchOwner(
  engine: Engine,
  id: string,
  { clock, over, leaving }: Watch,
): Promise<void> {
  const stateOf = createStateOf(engine);
  for (let alone = 0; !over.aborted; ) {
    const run = await engine.status(id);
    const isAlone = run !== undefined && (await stateOf(run)) === "interrupted";
    alone = isAlone ? alone + 1 : 0;
    if (run && alone > (isServers(run) ? MAX_ALONE.servers : MAX_ALONE.own)) {
      leaving.abort(toInterrupted(run));
    }
    await clock.sleep(LOOK_MS, over).catch(() => {});
  }
}

function toInterrupted({ id, name }: Pick<RunRecord, "id" | "name">): Failure {
  const next = isServers({ name }) ? "offshoot serve" : `offshoot runs resume ${id.split("/")[0]}`;
  const message = `Run ${id} was interrupted: its process is gone. Resume it: ${next}`;
  return new Failure("conflict", message);
}
