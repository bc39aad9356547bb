/**
 * A server from its start to its end: alone in this process, or as several workers of it. Which of them
 * this process is, it knows by how it was started.
 */

import cluster from "node:cluster";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { type Books, openBooks } from "./books.ts";
import { makeFirstKey } from "./first-key.ts";
import type { LoadedServer } from "./generation.ts";
import { refuseOwnAddress, toModelNote, toOwnAddress } from "./own-address.ts";
import { openPort } from "./port.ts";
import { type RecordCheck, startRecordCheck } from "./record-check.ts";
import { createReloader, watchFiles } from "./reload.ts";
import { openServing, type Serving } from "./serving.ts";
import { openWorkerLink } from "./worker-link.ts";
import { startWorkers } from "./workers.ts";

/** What of the process it may touch. */
export interface ServerProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Standard error, for lines of requests. */
  readonly write: (text: string) => unknown;
  /** A line for the operator. */
  readonly tell: (line: string) => unknown;
  /** Shows the first key, once; where it is left out none is made. */
  readonly showKey?: ((token: string) => unknown) | undefined;
  /** Told where it listens, once it does; nobody when left out. */
  readonly onListening?: ((url: string) => Promise<void>) | undefined;
  /** Calls back at each signal to stop. */
  readonly onStop: (callback: () => void) => () => void;
  /** Calls back when new settings are to be read. */
  readonly onReload: (callback: () => void) => () => void;
  /** Leaves at once. */
  readonly leave: (exitCode: number) => never;
  /** Whether a request failed by a defect: shown without anything of the request. */
  readonly onDefect: (thrown: unknown) => void;
}

export type Load = () => Promise<LoadedServer>;

/** Returns the exit code: 0 where all answers on their way were sent. */
export async function runServer(load: Load, around: ServerProcess): Promise<number> {
  if (cluster.isWorker) return await runWorker(load, around);
  const loaded = await load();
  // Before a first key is made and shown.
  refuseOwnAddress(loaded, loaded.settings);
  return loaded.settings.workers > 1
    ? await runPrimary(loaded, load, around)
    : await runAlone(loaded, load, around, { listens: true });
}

/**
 * A process that serves no HTTP: it works on background responses and subagents of a record that servers write to.
 * Returns the exit code.
 */
export async function runWithoutPort(load: Load, around: ServerProcess): Promise<number> {
  const loaded = await load();
  const { storePath } = loaded.settings;
  if (storePath === undefined) {
    const message = "A worker needs the record of its servers: name it with `--store`.";
    throw new Failure("invalid_request", message);
  }
  return await runAlone(loaded, load, around, { listens: false });
}

const CLOCK: Clock = systemClock;
/** Of a process that was told a second time. */
const LEFT = 130;
const CUT = 1;

async function runAlone(
  loaded: LoadedServer,
  load: Load,
  around: ServerProcess,
  { listens }: { readonly listens: boolean },
): Promise<number> {
  const { env, log, write, onDefect } = around;
  const books = await openRecord(loaded);
  if (listens) await showFirstKey(books, loaded, around);
  let hasDamage = false;
  const isDamaged = (): boolean => hasDamage;
  const parts = { env, log, write, onDefect, books, clock: CLOCK, worker: undefined, isDamaged };
  const serving = await openServing(loaded, { ...parts, listens });
  around.tell(`${listens ? `listening at ${serving.url}` : "working"}${toModelNote(loaded)}`);
  if (listens) await around.onListening?.(serving.url);
  const check = checkUnless(books.isChecked, loaded, around, () => {
    hasDamage = true;
  });
  const reload = createReloader(async () => {
    const next = await load().catch(refuse(around));
    const changed = next && (await serving.reload(next).catch(refuse(around)));
    if (next && changed) {
      await files.set(next.files);
      tellReloaded(around, changed);
    }
  });
  const files = watchFiles(CLOCK, reload);
  await files.set(loaded.files);
  const stopReloading = around.onReload(() => void reload());
  await waitForStop(around, () => around.leave(LEFT));
  stopReloading();
  files.close();
  await check?.stop();
  return await endServing(serving, around);
}

async function runPrimary(
  loaded: LoadedServer,
  load: Load,
  around: ServerProcess,
): Promise<number> {
  const books = await openRecord(loaded);
  await showFirstKey(books, loaded, around).finally(() => books.close());
  const { host, port: number, socket, workers: count } = loaded.settings;
  const port = await openPort({ host, port: number, maxConnections: socket.maxConnections });
  const workers = startWorkers({ count, port, clock: CLOCK, tell: around.tell });
  const started = await workers.ready;
  if ("exitCode" in started) {
    workers.kill();
    return started.exitCode || CUT;
  }
  around.tell(`listening at ${started.url} with ${count} workers${toModelNote(loaded)}`);
  const check = checkUnless(books.isChecked, loaded, around, () => workers.tellDamage());
  // The primary reads the settings first: what is wrong is said once, and no worker hears of it.
  const reload = createReloader(async () => {
    const next = await loadElsewhere(load, started.url).catch(refuse(around));
    if (!next) return;
    workers.reload();
    await files.set(next.files);
    tellReloaded(around, []);
  });
  const files = watchFiles(CLOCK, reload);
  await files.set(loaded.files);
  const stopReloading = around.onReload(() => void reload());
  await waitForStop(around, () => {
    workers.kill();
    around.leave(LEFT);
  });
  stopReloading();
  files.close();
  await check?.stop();
  return await workers.stop();
}

function openRecord({ settings }: LoadedServer): Promise<Books> {
  return openBooks(settings.storePath, settings.startCheckBytes);
}

/** Where the start did not look through the record. Once for all workers. */
function checkUnless(
  isChecked: boolean,
  { settings: { storePath } }: LoadedServer,
  { tell }: ServerProcess,
  onDamage: () => void,
): RecordCheck | undefined {
  return isChecked ? undefined : startRecordCheck({ storePath, tell, onDamage });
}

/** Rejects settings with a model at the address that the server listens at. */
async function loadElsewhere(load: Load, listening: string): Promise<LoadedServer> {
  const loaded = await load();
  refuseOwnAddress(loaded, toOwnAddress(listening));
  return loaded;
}

async function runWorker(load: Load, around: ServerProcess): Promise<number> {
  let serving: Serving | undefined;
  let hasDamage = false;
  const told = createDeferred();
  const reload = createReloader(async () => {
    const next = await load().catch(refuse(around));
    if (next) await serving?.reload(next).catch(refuse(around));
  });
  const link = openWorkerLink({
    onDrain: told.resolve,
    onReload: () => void reload(),
    onDamage: () => {
      hasDamage = true;
    },
    measure: () => serving?.metrics() ?? [],
  });
  // The primary says when; a terminal sends the signal to every process by itself, too.
  const ignore = around.onReload(() => {});
  try {
    const loaded = await load();
    const books = await openRecord(loaded);
    const { env, log, write, onDefect } = around;
    const { collectMetrics, connections, places, limits, number: worker } = link;
    const isDamaged = (): boolean => hasDamage;
    const parts = { env, log, write, onDefect, books, clock: CLOCK, worker, isDamaged };
    const shared = { collectMetrics, connections, places, limits };
    serving = await openServing(loaded, { ...parts, ...shared });
    link.tellReady(serving.url);
    await Promise.race([told.promise, waitForStop(around, () => around.leave(LEFT))]);
    return await endServing(serving, around);
  } finally {
    ignore();
    // The line to the primary would keep the process alive.
    link.close();
  }
}

function createDeferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function showFirstKey(
  books: Books,
  { settings }: LoadedServer,
  around: ServerProcess,
): Promise<void> {
  if (!around.showKey) return;
  const token = await makeFirstKey(books, settings, CLOCK);
  if (token === undefined) return;
  around.tell("there was no key yet; this one is shown once, `offshoot keys` makes more");
  around.showKey(token);
}

/** Resolves with the first signal; the second is `again`. */
function waitForStop(around: ServerProcess, again: () => void): Promise<void> {
  return new Promise((resolve) => {
    let isTold = false;
    around.onStop(() => {
      if (isTold) again();
      isTold = true;
      resolve();
    });
  });
}

async function endServing(serving: Serving, around: ServerProcess): Promise<number> {
  const isClean = await serving.stop();
  if (!isClean) around.tell("stopped; answers that took too long were cut");
  return isClean ? 0 : CUT;
}

/** Says why new settings do not count. */
function refuse({ tell }: ServerProcess): (thrown: unknown) => undefined {
  return (thrown) => {
    tell(`the settings stay as they were: ${toFailure(thrown).message.replace(/\s+/g, " ")}`);
    return undefined;
  };
}

function tellReloaded({ tell }: ServerProcess, changed: readonly string[]): void {
  const later = changed.length === 0 ? "" : `; ${changed.join(", ")} at the next start`;
  tell(`new settings${later}`);
}
