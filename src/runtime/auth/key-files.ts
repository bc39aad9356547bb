/**
 * The folder of stored keys: a file for each key, named for its variable. So two processes that store keys of two
 * vendors at the same time never write the same file, and if they store the same key, one of both versions remains,
 * whole.
 *
 * A file that others may read, or that belongs to another user, is refused and not read.
 */

import { constants } from "node:fs";
import { chmod, type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { writePrivateFile } from "../private-file.ts";

/** Where the secret itself is. */
export type KeyPlace = "file" | "keyring";

export interface StoredEntry {
  /** The variable that the key is for. */
  readonly variable: string;
  /** The vendor it was stored for. */
  readonly vendor: string;
  readonly place: KeyPlace;
  /** Undefined if it is in the keyring. */
  readonly key: string | undefined;
  /** When it was stored, as ISO text. */
  readonly stored: string;
}

export interface KeyFiles {
  readonly entries: readonly StoredEntry[];
  /** Refused files and why, a line each with what to do. */
  readonly problems: readonly string[];
}

const EXTENSION = ".json";

/** The names that environment variables have; with such a name a file cannot be outside the folder. */
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** No key is longer. */
const MAX_FILE_BYTES = 64 * 1024;

/** `uid` is that of this process; undefined on systems without owners and modes. */
export async function readKeyFiles(folder: string, uid: number | undefined): Promise<KeyFiles> {
  const names = await listFiles(folder);
  if (names.length === 0) return { entries: [], problems: [] };
  const problem = await checkFolder(folder, uid);
  if (problem !== undefined) return { entries: [], problems: [problem] };
  const read = await Promise.all(names.map((name) => readKeyFile(join(folder, name), uid)));
  return {
    entries: read.flatMap((one) => (typeof one === "string" || one === undefined ? [] : [one])),
    problems: read.flatMap((one) => (typeof one === "string" ? [one] : [])),
  };
}

export async function writeKeyFile(folder: string, entry: StoredEntry): Promise<string> {
  const file = toFile(folder, entry.variable);
  try {
    makeFolder(folder);
    await chmod(folder, 0o700);
    // A file that others could read is replaced, not refused: it gets the mode of a new one.
    await chmod(file, 0o600).catch(() => {});
    await writePrivateFile(file, `${JSON.stringify(entry)}\n`);
    return file;
  } catch (cause) {
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    const message = `${file} cannot be written (${code}). Name another folder with \`OFFSHOOT_DATA\`, or put the key in \`${entry.variable}\`.`;
    throw new Failure("invalid_request", message);
  }
}

/** False if there was none. */
export async function removeKeyFile(folder: string, variable: string): Promise<boolean> {
  const file = toFile(folder, variable);
  try {
    await rm(file);
    return true;
  } catch (thrown) {
    const { code = "unknown" } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new Failure("invalid_request", `${file} cannot be removed (${code}).`);
  }
}

function toFile(folder: string, variable: string): string {
  return join(folder, `${variable}${EXTENSION}`);
}

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const ours = names.filter(
    (name) => name.endsWith(EXTENSION) && VARIABLE_NAME.test(name.slice(0, -EXTENSION.length)),
  );
  return ours.sort();
}

async function checkFolder(folder: string, uid: number | undefined): Promise<string | undefined> {
  if (uid === undefined) return undefined;
  const { mode, uid: owner } = await stat(folder);
  return findFault(folder, { mode, owner, uid, wanted: "700" });
}

interface Standing {
  readonly mode: number;
  readonly owner: number;
  readonly uid: number;
  readonly wanted: "600" | "700";
}

function findFault(path: string, { mode, owner, uid, wanted }: Standing): string | undefined {
  if (owner !== uid) {
    return `Stored keys are not read: ${path} belongs to another user. Run \`chown ${uid} ${quote(path)}\`, or remove it.`;
  }
  if ((mode & 0o077) === 0) return undefined;
  const octal = (mode & 0o777).toString(8);
  return `Stored keys are not read: ${path} is open to others (mode ${octal}). Run \`chmod ${wanted} ${quote(path)}\`.`;
}

function quote(path: string): string {
  return /^[\w./@%+=:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Undefined for a file that was removed meanwhile; a text says what is wrong with it. */
async function readKeyFile(
  file: string,
  uid: number | undefined,
): Promise<StoredEntry | string | undefined> {
  // Opening a pipe would wait for a writer; a link may lead to a file that another user chose.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  let handle: FileHandle;
  try {
    handle = await open(file, flags);
  } catch (thrown) {
    const { code = "unknown" } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    const why = code === "ELOOP" ? "is a link" : `cannot be read (${code})`;
    return `Stored keys are not read: ${file} ${why}. Remove it, then store the key again.`;
  }
  try {
    return await readOpen(handle, file, uid);
  } finally {
    await handle.close();
  }
}

async function readOpen(
  handle: FileHandle,
  file: string,
  uid: number | undefined,
): Promise<StoredEntry | string> {
  const stats = await handle.stat();
  const { mode, uid: owner, size } = stats;
  const fault =
    uid === undefined ? undefined : findFault(file, { mode, owner, uid, wanted: "600" });
  if (fault !== undefined) return fault;
  const isSmall = stats.isFile() && size <= MAX_FILE_BYTES;
  const entry = isSmall ? toEntry(await handle.readFile("utf8")) : undefined;
  if (entry && toFile("", entry.variable) === file.slice(file.lastIndexOf("/") + 1)) return entry;
  return `Stored keys are not read: ${file} is damaged. Remove it, then store the key again.`;
}

function toEntry(text: string): StoredEntry | undefined {
  const parsed = tryParseJson(text);
  if (!isJsonObject(parsed)) return undefined;
  const { variable, vendor, place, key, stored } = parsed;
  if (typeof variable !== "string" || typeof vendor !== "string") return undefined;
  const since = typeof stored === "string" ? stored : "";
  if (place === "keyring") return { variable, vendor, place, key: undefined, stored: since };
  if (place !== "file" || typeof key !== "string" || key === "") return undefined;
  return { variable, vendor, place, key, stored: since };
}
