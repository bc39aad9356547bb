/** The key that grants are signed with: one for each user and machine, created when it is first needed. */

import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isNoRoom } from "../../base/disk-full.ts";
import { Failure } from "../../base/failure.ts";
import { makeFolder } from "../../base/make-folder.ts";

const KEY_BYTES = 32;

export async function openGrantKey(file: string): Promise<Buffer> {
  return (await readKey(file)) ?? (await makeKey(file));
}

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT" || thrown.code === "ENOTDIR") return undefined;
    throw unreadable(file, thrown);
  });
  if (text === undefined) return undefined;
  const key = Buffer.from(text.trim(), "hex");
  if (key.length !== KEY_BYTES) throw unusable(file);
  return key;
}

/** Written to a draft and then linked, so that of two processes one creates it, whole, and both have the same. */
async function makeKey(file: string): Promise<Buffer> {
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    makeFolder(dirname(file));
    const text = `${randomBytes(KEY_BYTES).toString("hex")}\n`;
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await link(draft, file).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EEXIST") throw thrown;
    });
  } catch (cause) {
    throw unwritable(file, cause);
  } finally {
    // If nothing could be written there is nothing to remove.
    await rm(draft, { force: true }).catch(() => {});
  }
  const key = await readKey(file);
  if (!key) throw unusable(file);
  return key;
}

const ELSEWHERE = "Set OFFSHOOT_DATA to a folder that this user can write.";

function unreadable(file: string, cause: unknown): Failure {
  const message = `${file} cannot be read (${codeOf(cause)}). ${ELSEWHERE}`;
  return new Failure("invalid_request", message, { cause });
}

function unwritable(file: string, cause: unknown): Failure {
  if (isNoRoom(cause)) {
    const full = `${file} could not be written. Free some space on its disk.`;
    return new Failure("store_full", full, { cause });
  }
  const message = `${dirname(file)} cannot be written (${codeOf(cause)}), and a key has to be kept there. ${ELSEWHERE}`;
  return new Failure("invalid_request", message, { cause });
}

function unusable(file: string): Failure {
  const message = `${file}: It has no key. Remove the file, and a new one is made.`;
  return new Failure("invalid_request", message);
}

function codeOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException).code ?? "unknown";
}
