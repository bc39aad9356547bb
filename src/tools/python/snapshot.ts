/**
 * A started Python, kept in a file: most of a start is Python importing its own library, which is the same
 * each time. A process of its own, which gets no code, makes the snapshot. Every interpreter begins with a
 * copy, so none sees data of another.
 */

import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { RunningCommand, Sandbox } from "../sandbox/sandbox.ts";
import type { SnapshotRequest } from "./messages.ts";
import { type PyodideParts, pyodideCommand } from "./pyodide-command.ts";

interface Starting {
  readonly sandbox: Pick<Sandbox, "start">;
  /** The folder of snapshots; if missing, none are kept. */
  readonly folder: string | undefined;
  readonly signal: AbortSignal;
}

/** A started process, and the snapshot to begin with. */
export async function startPyodide(
  parts: PyodideParts,
  starting: Starting,
): Promise<{ readonly command: RunningCommand; readonly snapshot: string | undefined }> {
  const snapshot = await findSnapshot(parts, starting);
  const command = await starting.sandbox.start(pyodideCommand({ ...parts, snapshot }));
  return { command, snapshot };
}

/** Snapshots in progress by path, so that all callers wait for the same one. */
const making = new Map<string, Promise<string | undefined>>();
/** Failed attempts by path. A cancelled run also ends the process that makes the snapshot. */
const failed = new Map<string, number>();
const MAX_TRIES = 3;

/** The file's path; undefined if none can be made, and Python starts without one. */
async function findSnapshot(parts: PyodideParts, starting: Starting): Promise<string | undefined> {
  const { folder } = starting;
  if (folder === undefined) return undefined;
  const path = join(folder, `python-${await versionOf(parts.pyodide)}.bin`);
  if ((await sizeOf(path)) > 0) return path;
  if ((failed.get(path) ?? 0) >= MAX_TRIES) return undefined;
  const known = making.get(path) ?? tryMake(path, parts, starting);
  making.set(path, known);
  return await known;
}

async function tryMake(
  path: string,
  parts: PyodideParts,
  starting: Starting,
): Promise<string | undefined> {
  try {
    return await make(path, parts, starting);
  } catch {
    failed.set(path, (failed.get(path) ?? 0) + 1);
    return undefined;
  } finally {
    making.delete(path);
  }
}

/** The contents of the memory depend on the build of Python and on the engine's features. */
async function versionOf(pyodide: string): Promise<string> {
  const text = await readFile(join(pyodide, "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return `${version}-${process.versions.v8}`.replaceAll(/[^\w.-]/g, "_");
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Longer than a start takes on a busy machine. */
const MAKE_MS = 60_000;

async function make(
  path: string,
  parts: PyodideParts,
  { sandbox, signal }: Starting,
): Promise<string> {
  const { pyodide } = parts;
  const maker = await sandbox.start(pyodideCommand({ ...parts, memBytes: MAKER_BYTES }));
  const request: SnapshotRequest = { op: "snapshot", pyodide, mem: MAKER_BYTES };
  const own = `${path}.${process.pid}`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MAKE_MS)]);
  const end = (): void => void maker.kill();
  limit.addEventListener("abort", end, { once: true });
  try {
    maker.stdin.end(`${JSON.stringify(request)}\n`);
    const pieces: Uint8Array[] = [];
    for await (const piece of maker.stdout) pieces.push(piece);
    const { code } = await maker.exited;
    if (code !== 0) throw new Error(`The snapshot of Python failed (${code}).`);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(own, Buffer.concat(pieces), { mode: 0o600 });
    // Written as a whole, because another process may be about to read it.
    await rename(own, path);
    return path;
  } finally {
    limit.removeEventListener("abort", end);
    await maker.kill();
    await rm(own, { force: true });
  }
}

/** Only Python itself. */
const MAKER_BYTES = 256 * 1024 * 1024;
