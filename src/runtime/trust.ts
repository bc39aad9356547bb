/**
 * Which project files may set guarded settings. A file is trusted by its real path and its content
 * together, so that exactly what the user has looked at is used: after a change it must be trusted
 * again.
 */

import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { Failure } from "../base/failure.ts";
import { isJsonObject, tryParseJson } from "../base/json.ts";
import { writePrivateFile } from "./private-file.ts";

export type Standing = "trusted" | "changed" | "unknown";

interface ReadFile {
  readonly path: string;
  /** The exact bytes that were parsed. */
  readonly bytes: Buffer;
}

export async function standingOf(trustFile: string, file: ReadFile): Promise<Standing> {
  const known = (await readTrusted(trustFile)).get(await realpath(file.path));
  if (known === undefined) return "unknown";
  return known === hashOf(file.bytes) ? "trusted" : "changed";
}

export async function trust(trustFile: string, file: ReadFile): Promise<void> {
  const trusted = await readTrusted(trustFile);
  trusted.set(await realpath(file.path), hashOf(file.bytes));
  await writeTrusted(trustFile, trusted);
}

/** False when it was not trusted. Works for a file that is gone. */
export async function untrust(trustFile: string, path: string): Promise<boolean> {
  const trusted = await readTrusted(trustFile);
  const real = await realpath(path).catch(() => resolve(path));
  if (!trusted.delete(real)) return false;
  await writeTrusted(trustFile, trusted);
  return true;
}

type Trusted = Map<string, string>;

async function readTrusted(trustFile: string): Promise<Trusted> {
  const text = await readFile(trustFile, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT" || thrown.code === "ENOTDIR") return undefined;
    throw unreadable(trustFile, thrown);
  });
  if (text === undefined) return new Map();
  const parsed = tryParseJson(text);
  const files = isJsonObject(parsed) ? parsed["files"] : undefined;
  if (!isJsonObject(files)) throw unreadable(trustFile, undefined);
  return new Map(
    Object.entries(files).flatMap(([path, hash]) =>
      typeof hash === "string" ? [[path, hash]] : [],
    ),
  );
}

async function writeTrusted(trustFile: string, trusted: Trusted): Promise<void> {
  const files = Object.fromEntries([...trusted].sort(([a], [b]) => (a < b ? -1 : 1)));
  await writePrivateFile(trustFile, `${JSON.stringify({ files }, null, 2)}\n`);
}

function hashOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function unreadable(trustFile: string, cause: unknown): Failure {
  return new Failure(
    "invalid_request",
    `${trustFile}: The list of trusted files cannot be read. Remove it, and trust your files again with \`offshoot config trust\`.`,
    { cause },
  );
}
