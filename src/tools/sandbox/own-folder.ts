/**
 * Temporary folders whose names say which process made them, so that a later process can remove those of a
 * killed one: `offshoot-home-HOST.BOOT.NAMESPACE.PROCESS-RANDOM`.
 *
 * A hosted shell can read the names in its mount table, so they are hashes that only this machine can make.
 * To find out whether a process is alive, the names of all running processes are made and compared.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { lstat, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { hasProcess, readMachine, readStartTime } from "../../base/processes.ts";

export interface OwnFolderOptions {
  readonly tempDir?: string;
  /** Removes a folder that was left; rejections are ignored. */
  readonly remove?: (path: string) => Promise<void>;
}

/** The real path of a new folder. The caller removes it. */
export async function makeOwnFolder(
  kind: string,
  { tempDir = tmpdir(), remove = removeAll }: OwnFolderOptions = {},
): Promise<string> {
  await removeLeft(tempDir, remove);
  return await realpath(await mkdtemp(join(tempDir, `offshoot-${kind}-${ownName()}-`)));
}

/** Once for each place and process, because running processes leave nothing. */
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
  // One list for all folders: a machine may have a thousand processes.
  let known: ReadonlySet<string> | undefined;
  const owners = (): ReadonlySet<string> => {
    known ??= listOwners();
    return known;
  };
  for (const name of names.filter((one) => isLeft(one, owners))) {
    const path = join(tempDir, name);
    const stats = await lstat(path).catch(() => undefined);
    // Any user may create a name like ours in a folder that all users share.
    const isOurs = stats?.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid);
    if (isOurs) await remove(path).catch(() => undefined);
  }
}

async function removeAll(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

const NAME =
  /^offshoot-[a-z]+-([0-9a-f]{8})\.([0-9a-f]{8})\.([0-9a-f]{8})\.([0-9a-f]{16}|\d+)-[A-Za-z0-9]{6}$/;

/** True if the process that made a folder of this name is certainly gone. Call it after the name was read. */
export function isLeft(name: string, owners = listOwners): boolean {
  const [, host, boot, namespace, owner = ""] = NAME.exec(name) ?? [];
  const own = ownParts();
  if (host !== own.host) return false;
  if (boot !== own.boot) return true;
  if (namespace !== own.namespace) return false;
  return hasList() ? !owners().has(owner) : !hasProcess(Number(owner));
}

function ownName(): string {
  const { host, boot, namespace } = ownParts();
  const owner = hasList() ? toOwner(process.pid) : process.pid;
  return [host, boot, namespace, owner].join(".");
}

/** Each part is a hash that includes the parts before it and a secret of this machine. */
function ownParts(): { readonly host: string; readonly boot: string; readonly namespace: string } {
  const { boot, pidNamespace } = readMachine();
  return {
    host: toHash(8),
    boot: toHash(8, boot),
    namespace: toHash(8, boot, pidNamespace),
  };
}

function toOwner(pid: number): string {
  const { boot, pidNamespace } = readMachine();
  return toHash(16, boot, pidNamespace, String(pid), readStartTime(pid));
}

function toHash(length: number, ...parts: readonly string[]): string {
  secret ??= [hostname(), readMachineId()];
  const text = [...secret, ...parts].join("\n");
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

let secret: readonly string[] | undefined;

/** Random, and not visible to commands of clients; a host's name could be guessed. */
function readMachineId(): string {
  try {
    return readFileSync("/etc/machine-id", "latin1").trim();
  } catch {
    return "";
  }
}

/** True if the system lists its processes; elsewhere the number itself is in the name. */
function hasList(): boolean {
  return readMachine().boot !== "";
}

function listOwners(): ReadonlySet<string> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return new Set(pids.map((pid) => toOwner(Number(pid))));
}
