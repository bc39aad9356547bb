/**
 * Runs a server from its start to its end: alone in this process, or as several workers. A process knows from how it
 * was started which of them it is.
 */

import cluster from "node:cluster";
import { systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { describeClock } from "../../store/record-clock.ts";
import { createKey, hasKeys } from "../guard/keys.ts";
import { type Books, openBooks } from "./books.ts";
import type { LoadedServer } from "./generation.ts";
import { refuseOwnAddress, toModelNote, toOwnAddress } from "./own-address.ts";
import { openPort } from "./port.ts";
import { type RecordCheck, startRecordCheck } from "./record-check.ts";
import { createReloader, watchFiles } from "./reload.ts";
import type { ServerSettings } from "./server-settings.ts";
import { openServing, type Serving } from "./serving.ts";
import { openWorkerLink } from "./worker-link.ts";
import { startWorkers } from "./workers.ts";

/** The parts of the process that the server may use. */
export interface ServerProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Writes log lines of requests to standard error. */
  readonly write: (text: string) => unknown;
  /** Writes a line for the operator. */
  readonly tell: (line: string) => unknown;
  /** Shows the first key, once. When left out, no key is made. */
  readonly showKey?: ((token: string) => unknown) | undefined;
  /** Called with its address once it listens. */
  readonly onListening?: ((url: string) => Promise<void>) | undefined;
  /** Calls back at each signal to stop. */
  readonly onStop: (callback: () => void) => () => void;
  /** Calls back when new settings are to be read. */
  readonly onReload: (callback: () => void) => () => void;
  /** Exits the process at once. */
  readonly leave: (exitCode: number) => never;
  /** Called with the defect that made a request fail. Nothing of the request is shown. */
  readonly onDefect: (thrown: unknown) => void;
}

export type LoadServer = () => Promise<LoadedServer>;

/** Resolves with the exit code: 0 if all answers in progress were sent. */
export async function runServer(load: LoadServer, around: ServerProcess): Promise<number> {
  if (cluster.isWorker) return await runWorker(load, around);
  const loaded = await load();
  // Before the first key is made and shown.
  refuseOwnAddress(loaded, loaded.settings);
  return loaded.settings.workers > 1
    ? await runPrimary(loaded, load, around)
    : await runAlone(loaded, load, around, { listens: true });
}

/**
 * Runs a process without HTTP: it works on background responses and subagents of a record that servers write to.
 * Resolves with the exit code.
 */
export async function runWithoutPort(load: LoadServer, around: ServerProcess): Promise<number> {
  const loaded = await load();
  const { storePath } = loaded.settings;
  if (storePath === undefined) {
    const message = "A worker needs the record of its servers: name it with `--store`.";
    throw new Failure("invalid_request", message);
  }
  return await runAlone(loaded, load, around, { listens: false });
}

/** Exit code of a process that got a second signal to stop. */
const LEFT = 130;
const CUT = 1;

async function runAlone(
  loaded: LoadedServer,
  load: LoadServer,
  around: ServerProcess,
  { listens }: { readonly listens: boolean },
): Promise<number> {
  const { env, log, write, onDefect } = around;
  const books = await openRecord(loaded);
  if (listens) await showFirstKey(books, loaded, around);
  let hasDamage = false;
  const isDamaged = (): boolean => hasDamage;
  const parts = { env, log, write, onDefect, books, worker: undefined, isDamaged };
  const serving = await openServing(loaded, { ...parts, listens });
  tellClock(books, around);
  around.tell(`${listens ? `listening at ${serving.url}` : "working"}${toModelNote(loaded)}`);
  tellKey(loaded, around);
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
  const files = watchFiles(systemClock, reload);
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
  load: LoadServer,
  around: ServerProcess,
): Promise<number> {
  const books = await openRecord(loaded);
  tellClock(books, around);
  await showFirstKey(books, loaded, around).finally(() => books.close());
  const { host, port: number, socket, workers: count } = loaded.settings;
  const port = await openPort({ host, port: number, maxConnections: socket.maxConnections });
  const workers = startWorkers({ count, port, clock: systemClock, tell: around.tell });
  const started = await workers.ready;
  if ("exitCode" in started) {
    workers.kill();
    return started.exitCode || CUT;
  }
  around.tell(`listening at ${started.url} with ${count} workers${toModelNote(loaded)}`);
  tellKey(loaded, around);
  const check = checkUnless(books.isChecked, loaded, around, () => workers.tellDamage());
  // The primary reads the settings first: if they are invalid, that is said once, and no worker loads them.
  const reload = createReloader(async () => {
    const next = await loadElsewhere(load, started.url).catch(refuse(around));
    if (!next) return;
    workers.reload();
    await files.set(next.files);
    tellReloaded(around, []);
  });
  const files = watchFiles(systemClock, reload);
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

/** Once at the start; `/readyz` says it at any time. */
function tellClock({ clock }: Books, { tell }: ServerProcess): void {
  const line = describeClock(clock);
  if (line) tell(line);
}

/** The server starts all the same: requests may name other models, and a reload finds a key that was stored. */
function tellKey({ keyProblem }: LoadedServer, { tell }: ServerProcess): void {
  if (keyProblem === undefined) return;
  tell(`requests that name no model fail: ${keyProblem} Then restart, or send SIGHUP.`);
}

function openRecord({ settings }: LoadedServer): Promise<Books> {
  return openBooks(settings.storePath, settings.startCheckBytes);
}

/** Checks the record if the start did not. Once for all workers. */
function checkUnless(
  isChecked: boolean,
  { settings: { storePath } }: LoadedServer,
  { tell }: ServerProcess,
  onDamage: () => void,
): RecordCheck | undefined {
  return isChecked ? undefined : startRecordCheck({ storePath, tell, onDamage });
}

/** Rejects settings with a model at the address on which the server listens. */
async function loadElsewhere(load: LoadServer, listening: string): Promise<LoadedServer> {
  const loaded = await load();
  refuseOwnAddress(loaded, toOwnAddress(listening));
  return loaded;
}

async function runWorker(load: LoadServer, around: ServerProcess): Promise<number> {
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
  // The primary tells the worker to reload. A terminal sends the signal to every process too, so the worker ignores
  // it.
  const ignore = around.onReload(() => {});
  try {
    const loaded = await load();
    const books = await openRecord(loaded);
    const { env, log, write, onDefect } = around;
    const { collectMetrics, connections, places, limits, number: worker } = link;
    const isDamaged = (): boolean => hasDamage;
    const parts = { env, log, write, onDefect, books, worker, isDamaged };
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
  const token = await makeFirstKey(books, settings);
  if (token === undefined) return;
  around.tell(
    "there was no key yet, so this one was made; it is shown only now (`offshoot keys create NAME` makes more)",
  );
  around.showKey(token);
}

/** Resolves with the first signal to stop; the second one calls `again`. */
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
  if (!isClean) around.tell("stopped; answers that took too long were interrupted");
  return isClean ? 0 : CUT;
}

/** Writes why new settings were not loaded. */
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

/**
 * A server that asks for keys and has none could answer no request, so its first start makes a key.
 *
 * Returns the key, which can be shown only now; undefined if none was made.
 */
async function makeFirstKey(
  books: Pick<Books, "shelf" | "clock">,
  { guard }: Pick<ServerSettings, "guard">,
): Promise<string | undefined> {
  if (!guard.auth || guard.fixedToken !== undefined || (await hasKeys(books.shelf)))
    return undefined;
  const { token } = await createKey(books, { name: "first", options: ["*"] });
  return token;
}
