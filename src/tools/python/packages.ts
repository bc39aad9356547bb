/**
 * Finds Pyodide's packages: in a folder of wheels, or in a copy of its distribution (wheels beside
 * `pyodide-lock.json`, which has their modules, requirements and hashes). They are read here and sent to
 * the interpreter, which reaches neither files nor the network.
 */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { throwIfAborted } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, tryParseJson } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Wheel } from "./messages.ts";

export interface Packages {
  /** The wheel of a module or a distribution; undefined if there is none. */
  find(name: string, signal: AbortSignal): Promise<Wheel | undefined>;
}

/** Reads a URL of the index. */
export type FetchPackage = (url: string, signal: AbortSignal) => Promise<Uint8Array>;

interface PackageParts {
  readonly wheels: string | undefined;
  readonly index: string | undefined;
  readonly fetchPackage?: FetchPackage | undefined;
  /** The folder of the `pyodide` package, whose lock file has the names of modules. */
  readonly pyodide: string;
}

/** Four times the largest package of Pyodide's distribution. */
const MAX_BYTES = 200_000_000;

export async function openPackages(parts: PackageParts, signal: AbortSignal): Promise<Packages> {
  const { wheels } = parts;
  const index = openIndex(parts);
  const lock = parseLock(await (index?.read("pyodide-lock.json", signal) ?? readOwnLock(parts)));
  const files = wheels === undefined ? [] : await listWheels(wheels);

  async function fromFolder(name: string): Promise<Wheel | undefined> {
    const file = files.find((one) => toDistribution(one) === normalise(name));
    if (wheels === undefined || file === undefined) return undefined;
    const bytes = await readFile(join(wheels, file));
    checkSize(file, bytes);
    return toWheel(name, bytes);
  }

  async function fromIndex(
    entry: LockEntry | undefined,
    limit: AbortSignal,
  ): Promise<Wheel | undefined> {
    if (index === undefined || entry === undefined) return undefined;
    const bytes = await index.readIfThere(basename(entry.file), limit);
    if (bytes === undefined) return undefined;
    checkSize(entry.file, bytes);
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (hash === entry.sha256) return toWheel(entry.name, bytes);
    const message = `\`${entry.file}\` is not the file that the lock file of \`python_index\` names.`;
    throw new Failure("tool_failed", message);
  }

  return {
    async find(name, limit) {
      const entry = lock.find((one) => one.modules.includes(name) || one.name === normalise(name));
      return (await fromFolder(entry?.name ?? name)) ?? (await fromIndex(entry, limit));
    },
  };
}

interface Index {
  read(file: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Undefined for a file that a folder does not have: a copy may have only some packages. */
  readIfThere(file: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

function openIndex({ index, fetchPackage }: PackageParts): Index | undefined {
  if (index === undefined) return undefined;
  if (!/^https?:\/\//i.test(index)) return openFolder(index);
  if (!fetchPackage) {
    // The address may contain a password.
    throw new Failure("tool_failed", "`python_index` must be a folder here, not a URL.");
  }
  const base = index.endsWith("/") ? index : `${index}/`;
  const read = (file: string, signal: AbortSignal): Promise<Uint8Array> =>
    fetchPackage(new URL(encodeURIComponent(file), base).href, signal);
  return { read, readIfThere: read };
}

function openFolder(folder: string): Index {
  const readIfThere = async (
    file: string,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> => {
    try {
      return await readFile(join(folder, file), { signal });
    } catch {
      throwIfAborted(signal);
      return undefined;
    }
  };
  return {
    readIfThere,
    async read(file, signal) {
      const bytes = await readIfThere(file, signal);
      if (bytes) return bytes;
      const message = `There is no \`${file}\` in \`python_index\` (\`${clip(folder, 80)}\`).`;
      throw new Failure("tool_failed", message);
    },
  };
}

function readOwnLock({ pyodide }: PackageParts): Promise<Uint8Array> {
  return readFile(join(pyodide, "pyodide-lock.json"));
}

interface LockEntry {
  readonly name: string;
  readonly file: string;
  readonly sha256: string;
  readonly modules: readonly Json[];
}

function parseLock(bytes: Uint8Array): LockEntry[] {
  const lock = tryParseJson(Buffer.from(bytes).toString("utf8"));
  const packages = isJsonObject(lock) ? lock["packages"] : undefined;
  if (!isJsonObject(packages)) {
    throw new Failure(
      "tool_failed",
      "The `pyodide-lock.json` of `python_index` has no `packages`.",
    );
  }
  return Object.values(packages).flatMap((entry) => {
    if (!isJsonObject(entry)) return [];
    const { name, file_name: file, sha256, imports } = entry as Record<string, Json>;
    if (typeof name !== "string" || typeof file !== "string" || typeof sha256 !== "string")
      return [];
    return [
      { name: normalise(name), file, sha256, modules: Array.isArray(imports) ? imports : [] },
    ];
  });
}

/** The wheels of a folder that Pyodide can run: pure Python, or built for WebAssembly. */
async function listWheels(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => /(-none-any|_wasm32)\.whl$/.test(name))
      .sort()
      .reverse();
  } catch (cause) {
    const message = `\`python_wheels\` cannot be read: \`${clip(folder, 80)}\`.`;
    throw new Failure("tool_failed", message, { cause });
  }
}

function toDistribution(file: string): string {
  return normalise(file.split("-", 1)[0] ?? "");
}

/** Names of distributions are equal whatever their case and separators. */
function normalise(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

function checkSize(file: string, { length }: Uint8Array): void {
  if (length <= MAX_BYTES) return;
  throw new Failure("tool_failed", `\`${clip(file, 80)}\` is larger than any package.`);
}

function toWheel(name: string, bytes: Uint8Array): Wheel {
  return { name, data: Buffer.from(bytes).toString("base64") };
}
