/**
 * Temporary folders whose names say which process made them, so that the next process can remove what
 * one that was killed has left: `offshoot-home-HOST.BOOT.NAMESPACE.PID.START-RANDOM`.
 */

import { createHash } from "node:crypto";
import { lstat, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { hasProcess, readMachine, readStartTime } from "../../base/processes.ts";

export interface OwnFolderOptions {
  readonly tempDir?: string;
  /** How one that was left is removed; rejections do not count. */
  readonly remove?: (path: string) => Promise<void>;
}

/** The real path of a new folder. Whoever makes it removes it. */
export async function makeOwnFolder(
  kind: string,
  { tempDir = tmpdir(), remove = removeAll }: OwnFolderOptions = {},
): Promise<string> {
  await removeLeft(tempDir, remove);
  return await realpath(await mkdtemp(join(tempDir, `offshoot-${kind}-${ownName()}-`)));
}

/** Once for each place and process: nothing is left by the living. */
function removeLeft(tempDir: string, remove: (path: string) => Promise<void>): Promise<void> {
  const known = looked.get(tempDir) ?? lookThrough(tempDir, remove);
  looked.set(tempDir, known);
  return known;
}

const looked = new Map<string, Promise<void>>();

async function lookThrough(
  tempDir: string,
  remove: (path: string) => Promise<void>,
): Promise<void> {
  const names = await readdir(tempDir).catch(() => []);
  for (const name of names.filter(isLeft)) {
    const path = join(tempDir, name);
    const stats = await lstat(path).catch(() => undefined);
    // Anybody may make a name like ours in a place that all users share.
    const isOurs = stats?.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid);
    if (isOurs) await remove(path).catch(() => undefined);
  }
}

async function removeAll(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

const NAME = /^offshoot-[a-z]+-([0-9a-f]{8})\.([0-9a-f]*)\.(\d*)\.(\d+)\.(\d*)-[A-Za-z0-9]{6}$/;

/** Whether the process that made a folder of this name is surely gone. */
export function isLeft(name: string): boolean {
  const [, host, boot, namespace, pid = "", started] = NAME.exec(name) ?? [];
  const own = ownParts();
  if (host !== own.host) return false;
  if (boot !== own.boot) return true;
  if (namespace !== own.namespace) return false;
  if (!hasProcess(Number(pid))) return true;
  return started !== "" && readStartTime(Number(pid)) !== started;
}

function ownName(): string {
  const { host, boot, namespace } = ownParts();
  return [host, boot, namespace, process.pid, readStartTime(process.pid)].join(".");
}

function ownParts(): { readonly host: string; readonly boot: string; readonly namespace: string } {
  const { boot, pidNamespace } = readMachine();
  return {
    host: createHash("sha256").update(hostname()).digest("hex").slice(0, 8),
    boot: boot.replaceAll("-", "").slice(0, 8),
    namespace: pidNamespace,
  };
}
